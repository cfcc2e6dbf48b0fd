# make_program.sh ROOT FOLDER MAIN PROGRAM: a program over the library "tune".
r=$1
cc -std=gnu11 -O1 -w -I "$2" -I "$r/runtime" -I "$r" "$3" "$2/tune.c" "$2/libtune.a" "$r/tests/compiler/Driver/libruntime.a" -ldl -pthread -lm -o "$4"
