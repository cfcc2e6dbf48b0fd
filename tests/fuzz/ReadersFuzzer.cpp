// Any bytes are a binary of one of the formats that Kiln reads back, or an error.
#include "compiler/Target/AMD/HsacoReader.h"
#include "compiler/Target/CPU/HostObjectReader.h"
#include "compiler/Target/NVIDIA/CubinReader.h"
#include "compiler/Target/NVIDIA/PtxReader.h"

template <typename Info> static void consume(llvm::Expected<Info> info) {
  if (!info && llvm::toString(info.takeError()).empty())
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  consume(kiln::readCubin(bytes));
  consume(kiln::readPtx(bytes));
  consume(kiln::readHsaco(bytes));
  consume(kiln::readHostObject(bytes));
  return 0;
}
