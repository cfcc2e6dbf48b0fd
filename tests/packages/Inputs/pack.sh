# pack.sh SCRATCH PROGRAM NAME [KIND...]: a small tree with the program as bin/kiln, of a commit, in SCRATCH/NAME/tree, and
# packages of it in SCRATCH/NAME/out.
set -euo pipefail
scratch=$1/$3 program=$2
shift 3
mkdir -p "$scratch"
llvm=$(ls -d external/llvm/bin ../llvm/bin 2>/dev/null | head -1)
printf 'BUILD_HOST somewhere\nSTABLE_KILN_COMMIT 0123456789ab.dirty\n' >"$scratch/status"
cat >"$scratch/layout.json" <<JSON
{ "version": "1.2.3", "commit": "$scratch/status", "objcopy": "$llvm/llvm-objcopy",
  "files": [["bin/kiln", "$(realpath "$program")"], ["lib/libkiln.so", "$(realpath /usr/lib/x86_64-linux-gnu/libm.so.6)"],
            ["include/kiln/kiln.h", "$(dirname "$0")/abi.h"], ["share/doc/kiln/README.md", "docs/packages.md"]] }
JSON
python3 packages/stage.py "$scratch/layout.json" "$scratch/tree"
for kind in "$@"; do
  python3 packages/package.py $kind "$scratch/tree" "$scratch/out" "$llvm/llvm-readelf" python/kiln/__init__.py
done
