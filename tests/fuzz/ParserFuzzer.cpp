// Any text is a module or an error, and the tree keeps what checkParse() asks of it.
#include "tests/compiler/Syntax/CheckParse.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kiln::checkParse(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
