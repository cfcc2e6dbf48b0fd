// Captures: folders in which `python -m kiln record --capture` keeps launches. docs/record.md
// describes their files.

#ifndef KILN_COMPILER_DRIVER_VERIFY_CAPTURE_H
#define KILN_COMPILER_DRIVER_VERIFY_CAPTURE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

constexpr int64_t kCaptureVersion = 1;
constexpr llvm::StringLiteral captureIndexName = "capture.json";

/// Eight bytes of a storage that are the address of a byte of a storage.
struct CapturedPointer {
  uint64_t place = 0, storage = 0, offset = 0;
};

/// Memory that a launch may touch.
struct CapturedStorage {
  uint64_t bytes = 0;
  /// Of its elements, as signatures spell it, where no argument sees it.
  std::string type;
  /// Files, relative to the folder: what it held before the launch and after it. `after` is empty
  /// where the launch changed nothing.
  std::string before, after;
  std::vector<CapturedPointer> pointers;
};

struct CapturedArgument {
  std::string name;
  /// As signatures spell it, without promises: "i32", "*fp16", "tensordesc<fp16[64, 32]>".
  std::string type;
  /// A scalar's bytes, the lowest first; an integer is extended to 64 bits by its sign.
  uint64_t bits = 0;
  /// Of an address: index into CapturedLaunch::storages, and a byte there. Empty for scalars and
  /// null.
  std::optional<uint64_t> storage;
  uint64_t offset = 0;
  /// Of a tensor, in elements.
  std::vector<int64_t> shape, strides;
};

struct CapturedLaunch {
  /// The C function.
  std::string function;
  std::array<int64_t, 3> grid = {1, 1, 1};
  /// Integers that were compiled in, those of the config that was launched among them.
  std::vector<std::pair<std::string, int64_t>> constants;
  std::vector<CapturedArgument> arguments;
  std::vector<CapturedStorage> storages;
};

/// The launches of an index file. Survives any text; errors say what is wrong with it, without the
/// path.
llvm::Expected<std::vector<CapturedLaunch>> readCaptureIndex(llvm::StringRef text);

} // namespace kiln

#endif
