// Any text is a compiled variant, as workers and the cache hand them on, or none; behind the hash
// of its bytes it is a file of pieces or an error, and what was read is written as it was.
#include "compiler/Driver/Library/PieceFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace kiln;
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (std::optional<VariantResult> result = deserialize(text)) {
    std::string written = serialize(*result);
    std::optional<VariantResult> again = deserialize(written);
    if (!again || serialize(*again) != written)
      __builtin_trap();
  }
  llvm::consumeError(readPieceFile(text).takeError());
  auto file = readPieceFile("kiln pieces 1 " + sha256Of(text) + "\n" + text.str());
  if (!file) {
    if (llvm::toString(file.takeError()).empty())
      __builtin_trap();
    return 0;
  }
  std::string written = writePieceFile(*file);
  auto again = readPieceFile(written);
  if (!again || writePieceFile(*again) != written)
    __builtin_trap();
  return 0;
}
