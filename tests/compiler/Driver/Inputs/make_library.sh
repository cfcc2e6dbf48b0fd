# make_library.sh ROOT FOLDER NAME FILE [OPTION...]: a shared library of what kiln build wrote to FOLDER, and of the runtime, which is
# compiled into FOLDER/../runtime for the first one.
set -e
root=$(realpath "$1") folder=$(realpath "$2") name=$3 file=$(realpath -m "$4")
shift 4
cc="cc -std=gnu11 -O1 -w -fPIC -I $folder -I $root/runtime -I $root $*"
if mkdir "$folder/../runtime" 2> /dev/null; then
  (cd "$folder/../runtime" && $cc -c "$root"/runtime/*.c)
fi
$cc -shared "$folder/$name.c" "$folder"/../runtime/*.o -Wl,--whole-archive "$folder/lib$name.a" -Wl,--no-whole-archive \
  -ldl -pthread -lm -o "$file"
