#!/usr/bin/env bash
# Installs what is missing, builds, and runs tests. Says of each failure how to see it again; ends with "N passed, N failed".
#   tests/run.sh                                    everything
#   tests/run.sh //tests/compiler/Layout/... LABEL  these
#   tests/run.sh --config=asan LABEL                with options of Bazel's: .bazelrc has the configurations
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../bazel/install.sh"
kiln_install || { echo "tests/run.sh: cannot install what the build needs" >&2; exit 1; }

options=() labels=()
for argument in "$@"; do
  case $argument in
    -*) options+=("$argument") ;;
    *) labels+=("$argument") ;;
  esac
done
[ ${#labels[@]} -gt 0 ] || labels=(//...)

log=$(mktemp)
trap 'rm -f "$log"' EXIT
kiln_bazel test --keep_going --test_summary=short --noshow_progress "${options[@]}" -- "${labels[@]}" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

# Bazel's lines "//tests/x:Y  FAILED in 0.1s" that end so; "(cached)" or "(3/4 cached)" may stand before.
results() { grep -oE "^//[^ ]+ +(\([^)]*cached\) )?($1)" "$log"; }
passed=$(results "PASSED|FLAKY" | wc -l)
mapfile -t failures < <(results "FAILED|TIMEOUT|NO STATUS|NO_STATUS|INCOMPLETE" | cut -d' ' -f1 | sort -u)
failed=${#failures[@]}
[ "$failed" -eq 0 ] || printf '\nTo see a failure again:\n'
for label in "${failures[@]}"; do
  echo "  tests/run.sh${options[*]:+ ${options[*]}} --nocache_test_results $label"
done
# A build that broke before any test counts as a failure of its own.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
exit "$status"
