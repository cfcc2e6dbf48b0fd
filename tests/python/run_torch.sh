#!/bin/bash
# Compiles torch.ops of a small library against PyTorch and tests it, and kiln.load with PyTorch's and NumPy's arrays:
#   tests/python/run_torch.sh PYTHON     a Python that has torch and numpy
# The kiln is KILN_TOOL or this checkout's. Not one of Bazel's tests: the installer brings no PyTorch.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${1:?expected a Python with torch}
export KILN_TOOL=${KILN_TOOL:-$root/bazel-bin/kiln} PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
"$KILN_TOOL" build "$root/tests/python/Inputs/loaded.json" -t cpu --torch -o "$work"
mkdir "$work/objects" && cd "$work/objects"
cc -std=gnu11 -O1 -fPIC -I"$work" -I"$root/runtime" -I"$root" -c "$root"/runtime/*.c "$work/loaded.c"
c++ -shared ./*.o -Wl,--whole-archive "$work/libloaded.a" -Wl,--no-whole-archive -ldl -pthread -lm -o "$work/libloaded.so"
c++ -std=c++20 -O1 -Wall -Wextra -Werror -fPIC -I"$work" -I"$root/runtime" -isystem "$torch/include" \
  -isystem "$torch/include/torch/csrc/api/include" -c "$work/loaded_torch.cpp"
c++ -shared ./*.o -Wl,--whole-archive "$work/libloaded.a" -Wl,--no-whole-archive -L"$torch/lib" -Wl,-rpath,"$torch/lib" \
  -ltorch -ltorch_cpu -lc10 -ldl -pthread -lm -o "$work/loaded_torch.so"
cd "$work"
"$python" "$root/tests/python/Inputs/with_torch.py" "$work/loaded_torch.so" "$work/libloaded.so"
