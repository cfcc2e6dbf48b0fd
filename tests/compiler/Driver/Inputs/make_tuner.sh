# make_tuner.sh ROOT FOLDER LIBRARY PROGRAM: the program of a tuner that kiln tune wrote.
r=$1
cc -std=gnu11 -O1 -w -I "$2" -I "$r/runtime" -I "$r" "$2/$3.c" "$2/$3_tuner.c" "$r"/runtime/tuner/*.c "$2/lib$3.a" "$r/tests/compiler/Driver/libruntime.a" -ldl -pthread -lm -o "$4"
