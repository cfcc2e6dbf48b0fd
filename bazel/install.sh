#!/usr/bin/env bash
# Installs what Kiln's build needs and the machine lacks; does nothing where all is there.
#
# Debian packages come through apt-get. ptxas, NVIDIA's assembler, is not in Debian: where neither PATH, CUDA_HOME nor
# /usr/local/cuda has one, it is taken from NVIDIA's own package on PyPI, checked by hash, into .tools/cuda.
# Source it: it exports CUDA_HOME when it has set up that folder.

kiln_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What a command or file of each package shows: "package proof".
kiln_packages="
bazel-bootstrap /usr/bin/bazel
clang-22 /usr/bin/clang-22
lld-22 /usr/bin/ld.lld-22
llvm-22 /usr/lib/llvm-22/bin/llvm-readelf
llvm-22-dev /usr/lib/llvm-22/bin/llvm-config
libmlir-22-dev /usr/lib/llvm-22/include/mlir/IR/MLIRContext.h
mlir-22-tools /usr/lib/llvm-22/bin/mlir-tblgen
llvm-22-tools /usr/lib/llvm-22/bin/FileCheck
liblld-22-dev /usr/lib/llvm-22/lib/liblldELF.a
libclang-rt-22-dev /usr/lib/llvm-22/lib/clang/22/lib
libgtest-dev /usr/include/gtest/gtest.h
libgmock-dev /usr/include/gmock/gmock.h
libbenchmark-dev /usr/include/benchmark/benchmark.h
libboost-context-dev /usr/include/boost/context/detail/fcontext.hpp
libopenblas-dev /usr/include/x86_64-linux-gnu/cblas.h
libzstd-dev /usr/include/zstd.h
zlib1g-dev /usr/include/zlib.h
gcc /usr/bin/gcc
g++ /usr/bin/g++
gdb /usr/bin/gdb
clang-format-14 /usr/bin/clang-format-14
cmake /usr/bin/cmake
ninja-build /usr/bin/ninja
make /usr/bin/make
pkg-config /usr/bin/pkg-config
python3 /usr/bin/python3
python3-venv /usr/share/doc/python3-venv
zsh /usr/bin/zsh
fish /usr/bin/fish
"

kiln_install_packages() {
  local missing=() package proof
  while read -r package proof; do
    [ -z "$package" ] || [ -e "$proof" ] || missing+=("$package")
  done <<<"$kiln_packages"
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  echo "installing ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq >&2 &&
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

kiln_find_ptxas() {
  local cuda
  command -v ptxas >/dev/null && return 0
  for cuda in "${CUDA_HOME:-}" /usr/local/cuda "$kiln_root/.tools/cuda"; do
    if [ -n "$cuda" ] && [ -x "$cuda/bin/ptxas" ]; then
      export CUDA_HOME=$cuda
      return 0
    fi
  done
  return 1
}

kiln_install_ptxas() {
  kiln_find_ptxas && return 0
  local as_root=() wheels=$kiln_root/.tools/wheels
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  if ! python3 -m pip --version >/dev/null 2>&1; then
    "${as_root[@]}" apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends python3-pip >&2
  fi
  echo "fetching ptxas" >&2
  mkdir -p "$wheels" &&
    python3 -m pip download -q --no-deps --only-binary=:all: --require-hashes -d "$wheels" \
      -r "$kiln_root/bazel/ptxas.txt" >&2 &&
    python3 - "$wheels" "$kiln_root/.tools/cuda" <<'PY' && kiln_find_ptxas
import os, pathlib, sys, zipfile
wheels, cuda = map(pathlib.Path, sys.argv[1:])
(cuda / "bin").mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(next(wheels.glob("nvidia_cuda_nvcc-*.whl"))) as wheel:
    partial = cuda / "bin" / ".ptxas"
    partial.write_bytes(wheel.read("nvidia/cu13/bin/ptxas"))
    partial.chmod(0o755)
    os.replace(partial, cuda / "bin" / "ptxas")
PY
}

kiln_install() { kiln_install_packages && kiln_install_ptxas; }

# One Bazel for all entry points: a disk cache outside the clone makes a second clone cheap.
kiln_bazel() {
  local command=$1
  shift
  (cd "$kiln_root" && bazel "$command" --disk_cache="${XDG_CACHE_HOME:-$HOME/.cache}/kiln/bazel" "$@")
}
