# external.sh FOLDER COMMAND ARGUMENT...: a Bazel of its own on the copy of samples/pieces in FOLDER, with the Kiln in
# FOLDER/prebuilt. It sandboxes nothing, as it runs in a sandbox itself, which ends its server; a virtual machine that lives for
# seconds is not worth its better compiler.
cd "$1/samples/pieces" && HOME=$1 exec bazel --output_base="$1/base" --host_jvm_args=-XX:TieredStopAtLevel=1 --max_idle_secs=15 "$2" \
  --spawn_strategy=local --extra_toolchains=@kiln_prebuilt//:kiln "${@:3}"
