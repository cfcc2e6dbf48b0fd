# use_package.sh CHECKOUT INPUTS: uses each part of an installed package that docs/getting-started.md does not.
set -euo pipefail
checkout=$1 inputs=$2

quietly() { "$@" >log 2>&1 || { cat log; echo "failed: $*"; exit 1; }; }

# Versions agree: the command's, CMake's, pkg-config's, Python's, and the ABI's in the shared library's name.
version=$(kiln --version)
version=${version#kiln }
[ "$(pkg-config --modversion kiln)" = "$version" ]
grep -q "PACKAGE_VERSION \"$version\"" "$PREFIX/lib/cmake/kiln/kilnConfigVersion.cmake"
grep -q "__version__ = \"$version\"" "$checkout/python/kiln/__init__.py"
[ "$(cat "$PREFIX/share/kiln/VERSION")" = "$version" ]
abi=$(sed -n 's/#define KILN_ABI_VERSION \([0-9]*\)u/\1/p' "$PREFIX/include/kiln/kiln.h")
for name in libkiln libkiln_emulated; do
  [ "$(readlink "$PREFIX/lib/$name.so")" = "$name.so.$abi" ]
  readelf -d "$PREFIX/lib/$name.so" | grep -q "soname: \[$name.so.$abi\]"
  # Nothing but Kiln's own functions, which stay clear of another C++ library in the program.
  ! readelf --dyn-syms -W "$PREFIX/lib/$name.so" | awk '$5 != "LOCAL" && $7 != "UND" && $8 != "" && NR > 3 { print $8 }' |
    grep -v '^kiln_' | grep .
done
grep -q "libkiln.so.$abi" "$PREFIX/share/doc/kiln/docs/versions.md"
grep -q "ABI_VERSION: u32 = $abi;" "$PREFIX/share/kiln/samples/rust/src/ffi.rs"

# The sample for CMake, with compressed binaries, and for make, with the runtime's sources.
cp -r "$PREFIX/share/kiln/samples/pieces" cmake
quietly cmake -S cmake -B cmake/out -DKILN_COMPRESS=zstd
quietly cmake --build cmake/out
cmake/out/main
cp -r "$PREFIX/share/kiln/samples/pieces" make
quietly make -C make KILN_ROOT="$PREFIX/share/kiln"
make/out/main

# Emulated targets, by CMake and by pkg-config. An edit of the kernel compiles it again, and only then.
cp -r "$inputs/project" project
cp "$checkout/kernels/vector_add/vector_add.py" project
quietly cmake -S project -B project/out
quietly cmake --build project/out
project/out/main
quietly cmake --build project/out
! grep -q Compiling log
sleep 1
sed -i 's/x + y/x - y/' project/vector_add.py
quietly cmake --build project/out
grep -q "Compiling add_f32@cpu" log
! project/out/main 2>/dev/null
sed -i 's/x - y/x + y/' project/vector_add.py
cd project
kiln build add.json -o built
cc main.c built/add.c built/libadd.a -I built $(pkg-config --cflags --libs kiln-emulator) -o main
./main

# The same as a shared object, over the shared runtime that emulates.
cc -fPIC -shared built/add.c built/libadd.a -I built $(pkg-config --cflags kiln) -o libadd.so
cc main.c -I built $(pkg-config --cflags kiln) -L. -ladd -L"$PREFIX/lib" -lkiln_emulated -Wl,-rpath,.:"$PREFIX/lib" -o shared_main
./shared_main

# A program of kiln tune.
kiln tune add.json -t cpu -o tune
cc tune/add.c tune/add_tuner.c tune/libadd.a -I tune $(pkg-config --cflags --libs kiln-tuner) -o tuner
./tuner -o times.json --time 1
grep -q '"add_f32"' times.json

# A manual page for each command, and no other.
commands=$(kiln --help | sed -n '/^SUBCOMMANDS/,/^$/d; s/^  \([a-z]*\) .*- .*/\1/p' | sort)
pages=$(cd "$PREFIX/share/man/man1" && ls kiln-*.1 | sed 's/kiln-//; s/\.1//' | sort)
[ -n "$commands" ] && [ "$commands" = "$pages" ]

# The page from which they are made, and with it the page of the site, has each option.
options=$(kiln completion bash | sed -n 's/^ *[a-z]*) words="\(-.*\)" ;;/\1/p' | tr ' ' '\n' | sort -u)
[ -n "$options" ]
for option in $options; do
  [ "$option" = -h ] || grep -qE -- "[\`/ ]-{1,2}${option#"${option%%[!-]*}"}\b" "$PREFIX/share/doc/kiln/docs/cli.md" ||
    { echo "docs/cli.md has no $option"; exit 1; }
done
