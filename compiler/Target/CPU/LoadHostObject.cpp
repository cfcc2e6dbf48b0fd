//===- LoadHostObject.cpp - Run a host object in this process -----------------===//
#include "compiler/Target/CPU/LoadHostObject.h"
#include "compiler/Target/Process.h"
#include "compiler/Target/TargetError.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>

LLD_HAS_DRIVER(elf)

namespace kiln {

static int runLld() {
  const char *arguments[] = {"ld.lld",          "-shared",  "-Bsymbolic", "--threads=1",
                             "--build-id=none", "kernel.o", "-o",         "kernel.so"};
  llvm::raw_fd_ostream messages(2, /*shouldClose=*/false, /*unbuffered=*/true);
  return lld::lldMain(arguments, messages, messages, {{lld::Gnu, &lld::elf::link}}).retCode;
}

llvm::Expected<void *> loadHostObject(llvm::StringRef object, llvm::StringRef symbol) {
  auto folder = TemporaryFolder::create("");
  if (!folder)
    return folder.takeError();
  if (llvm::Error error = folder->write("kernel.o", object))
    return std::move(error);
  auto process = runForked(folder->path(), runLld);
  if (!process)
    return process.takeError();
  if (process->status != 0)
    return targetError("lld failed (status ", process->status, "):\n",
                       llvm::StringRef(process->output).trim());
  // The mapping outlives the file.
  void *library = dlopen((folder->path() + "/kernel.so").str().c_str(), RTLD_NOW | RTLD_LOCAL);
  void *address = library ? dlsym(library, symbol.str().c_str()) : nullptr;
  if (!address)
    return targetError("cannot load the kernel's code: ", dlerror());
  return address;
}

} // namespace kiln
