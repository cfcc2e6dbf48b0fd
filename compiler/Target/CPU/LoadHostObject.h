//===- LoadHostObject.h - Run a host object in this process ---------*- C++ -*-===//
//
// For `kiln run`: what a program's own linker does with the members of a generated library, done
// now. Refused: LLVM's in-process linker, which would be a second way of loading the same bytes,
// with relocations, stack unwinding and debuggers' support of its own.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_CPU_LOADHOSTOBJECT_H
#define KILN_COMPILER_TARGET_CPU_LOADHOSTOBJECT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// Links `object`, a relocatable ELF object for this machine, into a shared object, loads it for
/// the life of the process, and gives the address of `symbol`. What the object does not define
/// (libm's functions, the emulator's) is taken from this process. The calling process should have
/// no other threads, as lld runs in a forked child.
llvm::Expected<void *> loadHostObject(llvm::StringRef object, llvm::StringRef symbol);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CPU_LOADHOSTOBJECT_H
