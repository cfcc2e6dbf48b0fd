#!/usr/bin/env bash
# From nothing to a running program: installs what is missing, builds kiln, compiles a library of two Triton kernels for
# NVIDIA, AMD and the CPU, links it into a plain C program and runs that on the CPU.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/bazel/install.sh"
kiln_install

say() { printf '\n== %s\n' "$*"; }

say "building kiln"
kiln_bazel build //:kiln //:kiln-opt

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
say "compiling samples/llm_kernels.json"
"$root/bazel-bin/kiln" build "$root/samples/llm_kernels.json" -o "$out"
"$root/bazel-bin/kiln" inspect "$out/libllm_kernels.a"

say "linking it into a C program, without Python and without a GPU"
(cd "$out" && for source in "$root"/samples/c/main.c "$out"/llm_kernels.c "$root"/runtime/*.c; do
  cc -std=gnu11 -O2 -Wall -I "$out" -I "$root/runtime" -I "$root" -c "$source"
done)
cc "$out"/*.o -L "$out" -lllm_kernels -lm -ldl -pthread -o "$out/sample"

say "running it on the CPU"
"$out/sample"
