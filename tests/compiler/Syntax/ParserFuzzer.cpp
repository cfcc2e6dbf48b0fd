// libFuzzer's entry. Not part of `bazel test //...`:
//   bazel build //tests/compiler/Syntax:ParserFuzzer
//   bazel-bin/tests/compiler/Syntax/ParserFuzzer -max_total_time=300 -timeout=5 CORPUS \
//     tests/compiler/Syntax/golden
// What it finds becomes a test in ParserTest.cpp.
#include "tests/compiler/Syntax/CheckParse.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kiln::checkParse(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
