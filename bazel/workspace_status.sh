#!/usr/bin/env bash
# What Bazel may stamp into packages (bazel build --stamp //:dist): the commit, where git knows it.
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || exit 0
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit=$commit.dirty
echo "STABLE_KILN_COMMIT $commit"
