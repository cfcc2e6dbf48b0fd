//===- LinkShared.cpp - A relocatable object to a shared one ------------------===//
//
// lld is linked in, so that no linker has to be installed, but runs in a forked
// child: it parses -mllvm options with llvm::cl, which resets every option of the
// process, and two calls at a time crash. A fork costs about a millisecond.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/LinkShared.h"
#include "compiler/Target/TargetError.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace kiln {

llvm::Expected<TemporaryFolder> linkShared(llvm::StringRef object, const char *option,
                                           llvm::StringRef temporaryRoot) {
  auto folder = TemporaryFolder::create(temporaryRoot);
  if (!folder)
    return folder.takeError();
  if (llvm::Error error = folder->write("kernel.o", object))
    return std::move(error);
  auto process = runForked(folder->path(), [option] {
    // One thread: the pools of the parent do not exist in a forked child. A build id or the
    // linker's working files would differ from run to run.
    const char *arguments[] = {"ld.lld",          "-shared",  option, "--threads=1",
                               "--build-id=none", "kernel.o", "-o",   linkedName};
    llvm::raw_fd_ostream messages(2, /*shouldClose=*/false, /*unbuffered=*/true);
    return lld::lldMain(arguments, messages, messages, {{lld::Gnu, &lld::elf::link}}).retCode;
  });
  if (!process)
    return process.takeError();
  if (process->status != 0)
    return targetError("lld failed (status ", process->status, "):\n",
                       llvm::StringRef(process->output).trim());
  return folder;
}

} // namespace kiln
