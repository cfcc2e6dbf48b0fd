#!/bin/bash
# Runs suite/ through the pytest plug-in on several targets, and looks at the outcome of every test:
#   tests/python/run_pytest.sh PYTHON     a Python that has torch, triton, pytest and pytest-xdist
# The kiln is KILN_TOOL or this checkout's. Not one of Bazel's tests: the installer brings no PyTorch.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${1:?expected a Python with torch and triton}
export KILN_TOOL=${KILN_TOOL:-$root/bazel-bin/kiln} PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
cache=${KILN_PYTEST_CACHE:-$(mktemp -d)}
cd "$root/tests/python"
run() { "$python" -m pytest -p kiln -p no:cacheprovider --kiln-cache "$cache" -rA -q suite "$@" 2>&1 || true; }
# expect TEXT OUTCOMES: what pytest says of tests, by their names
expect() {
  local log=$1 outcome=$2 text=$3
  shift 3
  for test in "$@"; do
    grep -q "^$outcome suite/test_planted.py::$test" <<<"$log" || { echo "$log"; echo "expected $outcome: $test"; exit 1; }
  done
  [ -z "$text" ] || grep -q -- "$text" <<<"$log" || { echo "$log"; echo "expected: $text"; exit 1; }
}
# expect_all TARGET LOG: what is in the files without planted mistakes passes
expect_all() {
  ! grep -E "^(FAILED|ERROR) suite/test_(places|jit).py" <<<"$2" && grep -q "^PASSED suite/test_jit.py" <<<"$2" || { echo "$2"; echo "$1: expected no failure"; exit 1; }
}
right=("test_add\[1\]" "test_add\[100\]" "test_add\[1000\]" test_autotuner test_tables_of_pointers test_references_in_fp64
  test_beyond_triton test_for_both test_marks_that_contradict_each_other)
for target in emu:sm_90a emu:gfx942; do
  log=$(run --kiln-target $target --kiln-check -n 2)
  expect "$log" PASSED "" "${right[@]}"
  expect_all $target "$log"
  here=suite/test_planted.py
  expect "$log" FAILED "$here:19:5: first_half_kernel, .*race on global memory" test_finds_a_race
  expect "$log" FAILED "$here:13:5: add_kernel, .*store to no registered allocation" test_finds_a_store_out_of_bounds
  expect "$log" FAILED "$here:13:23: add_kernel, .*load from no registered allocation" test_finds_a_load_outside_of_a_view
  expect "$log" FAILED "$here:25:5: sum_kernel, .*read of global memory that was never written" test_finds_a_read_of_what_nobody_wrote
  expect "$log" FAILED "" test_finds_what_a_backward_pass_does
  expect "$log" FAILED "" test_finds_it_though_the_test_swallows_errors
  expect "$log" FAILED "error: module 'triton.language' has no attribute 'no_such_function'" test_finds_a_refusal
  echo "$target: as expected"
done
log=$(run --kiln-target cpu -k "not finds")
expect "$log" PASSED "" "${right[@]}"
expect_all cpu "$log"
log=$(run --kiln-target emu:sm_90a --kiln-check --kiln-bounds storage -k view)
expect "$log" PASSED "" test_finds_a_load_outside_of_a_view
log=$(run --kiln-target emu:sm_90a --kiln-fp64 never -k fp64)
expect "$log" FAILED "" test_references_in_fp64
log=$(run --kiln-target cpu --kiln-portable -k "triton or both")
expect "$log" FAILED "Cannot access global variable 'EXTENT', which is int 48 and no tl.constexpr" test_beyond_triton
expect "$log" PASSED "" test_for_both
log=$(run --kiln-target emu:sm_90a --kiln-sample 1 -k test_add)
expect "$log" PASSED "1 passed, [0-9]* deselected"
log=$(run --kiln-target cuda:sm_90a)
grep -q "'cuda:sm_90a': expected cpu or one of emu:sm_80" <<<"$log"
log=$(run --kiln-check)
grep -q -- "--kiln-check: expected --kiln-target, too" <<<"$log"
echo "all outcomes as expected"
