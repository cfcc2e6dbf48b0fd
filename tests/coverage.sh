#!/usr/bin/env bash
# How much of the compiler, the generator and the runtime tests reach: a line for each file, and the total.
#   tests/coverage.sh [labels]      all tests without; a build of its own, so it takes an hour from nothing
# Processes that are killed, and the libraries that tests compile with the system's compiler, are not counted.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/bazel/install.sh"
[ $# -gt 0 ] || set -- //...
tools=/usr/lib/llvm-22/bin
profiles=$(mktemp -d)
trap 'rm -rf "$profiles"' EXIT

cd "$root"
kiln_bazel test --config=coverage_counts --keep_going --nocache_test_results --noshow_progress --sandbox_writable_path="$profiles" \
  --test_env=LLVM_PROFILE_FILE="$profiles/%p-%m.profraw" -- "$@" >&2 || echo "tests/coverage.sh: some tests failed" >&2
find "$profiles" -name '*.profraw' > "$profiles/list"
"$tools/llvm-profdata" merge -sparse -f "$profiles/list" -o "$profiles/all.profdata"

# Every program that the tests may have run has counters of its own.
programs=()
while read -r label; do
  program=bazel-bin/$(sed -e 's#^//##' -e 's#^:##' -e 's#:#/#' <<<"$label")
  [ ! -x "$program" ] || programs+=(-object "$program")
done < <(bazel query --noshow_progress "kind('cc_(test|binary)', deps(set($*)))" 2>/dev/null)
"$tools/llvm-cov" report "${programs[@]}" -instr-profile="$profiles/all.profdata" -show-region-summary=false -show-branch-summary=false \
  -ignore-filename-regex='(^|/)(external|usr|tests|samples)/'
