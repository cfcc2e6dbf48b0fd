#!/usr/bin/env bash
# Installs one of the packages below a new folder, and runs a command where nothing else of Kiln is to be found.
#   in_package.sh tarball|deb|wheel FOLDER_OF_THE_PACKAGE SCRATCH COMMAND...
# The command finds the place in $PREFIX, and begins in SCRATCH/work.
set -euo pipefail
kind=$1 packages=$(realpath "$2") scratch=$3
shift 3
rm -rf "$scratch"
mkdir -p "$scratch/work"
scratch=$(realpath "$scratch")
case $kind in
tarball)
  tar -xzf "$packages"/kiln-*-linux-x86_64.tar.gz -C "$scratch"
  # Unpacked anywhere, and moved.
  mv "$scratch"/kiln-* "$scratch/moved"
  prefix="$scratch/moved"
  ;;
deb)
  # A system without any package, so the dependencies are not looked at.
  mkdir -p "$scratch"/system/var/lib/dpkg/{info,updates}
  touch "$scratch"/system/var/lib/dpkg/status
  PATH=$PATH:/usr/sbin:/sbin dpkg --root="$scratch/system" --force-depends --force-not-root --no-triggers --log=/dev/null \
    -i "$packages"/kiln_*_amd64.deb >"$scratch/dpkg.log" 2>&1 || { cat "$scratch/dpkg.log"; exit 1; }
  dpkg --root="$scratch/system" --verify kiln
  prefix=$scratch/system/usr
  ;;
wheel)
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" --disable-pip-version-check install -q --no-index "$packages"/kiln_compiler-*.whl
  prefix=$scratch/venv
  ;;
esac
cd "$scratch/work"
exec env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$scratch" LANG=C.UTF-8 PREFIX="$prefix" \
  PKG_CONFIG_PATH="$prefix/lib/pkgconfig" "$@"
