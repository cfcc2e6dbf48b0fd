// Any text is a spec or an error; and so with manifests and signatures.
#include "codegen/Manifest.h"
#include "tests/codegen/SpecText.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  kiln::test::ReadSpec read = kiln::test::read(text);
  if (read.spec.has_value() == read.hasErrors)
    __builtin_trap();
  llvm::Expected<kiln::LibrarySummary> library = kiln::inspectLibrary(text);
  llvm::consumeError(library.takeError());
  kiln::TextError error;
  kiln::parseSignatureList(text, error);
  return 0;
}
