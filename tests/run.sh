#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests. Ends with "N passed, N failed".
#   tests/run.sh [Bazel options or labels]
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../bazel/install.sh"
kiln_install || { echo "tests/run.sh: cannot install what the build needs" >&2; exit 1; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ $# -gt 0 ] || set -- //...
kiln_bazel test --keep_going --test_summary=short --noshow_progress "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

count() { grep -cE "^//[^ ]+ +(\(cached\) )?$1" "$log"; }
passed=$(count "(PASSED|FLAKY)")
failed=$(count "(FAILED|TIMEOUT|NO STATUS|NO_STATUS|INCOMPLETE)")
# A build that broke before any test counts as a failure of its own.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
exit "$status"
