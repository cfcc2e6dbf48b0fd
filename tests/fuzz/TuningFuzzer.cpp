// Any text is a file of times, a table of what others chose, one of Triton's times, or a table that
// a running library takes, or an error; and files of times are written as they were read.
#include "codegen/ChoiceTable.h"
#include "codegen/TuningFile.h"
#include "tests/codegen/test_kernels.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace kiln;

/// An error is reported exactly where there is no result.
template <typename Read> auto readWhole(llvm::StringRef text, Read read) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  auto result = read(sources.add("file.json", text), diagnostics);
  if (result.has_value() == diagnostics.hasErrors())
    __builtin_trap();
  return result;
}

void loadTable(llvm::StringRef text) {
  int file = memfd_create("table", MFD_CLOEXEC);
  if (file < 0 || write(file, text.data(), text.size()) != ssize_t(text.size()))
    abort();
  std::string path = "/proc/self/fd/" + std::to_string(file);
  kiln_status status = kiln_load_tuning(&test_kernels_library, path.c_str());
  close(file);
  if (status != KILN_SUCCESS) {
    if (!*kiln_last_error())
      __builtin_trap();
    return;
  }
  static float x[16], y[16];
  for (int32_t n : {1, 1000, 1 << 20}) {
    by_tree_plan plan;
    by_tree_plan_init(&plan, kiln_cpu_stream(nullptr), x, y, n, 1, uint64_t(n));
  }
  if (kiln_unload(&test_kernels_library) != KILN_SUCCESS)
    __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  readWhole(text, readChoiceTable);
  readWhole(text, readTritonTimes);
  if (std::optional<TuningFile> times = readWhole(text, readTuningFile)) {
    std::string written = writeTuningFile(*times);
    std::optional<TuningFile> again = readWhole(written, readTuningFile);
    if (!again || writeTuningFile(*again) != written)
      __builtin_trap();
  }
  loadTable(text);
  return 0;
}
