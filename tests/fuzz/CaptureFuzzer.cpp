// Any text is the index of a capture or an error; and what its launches say is bound to a kernel's
// arguments, replayed and compared, or refused.
#include "compiler/Driver/Run/Npy.h"
#include "compiler/Driver/Verify/LibraryDescription.h"
#include "compiler/Driver/Verify/Replay.h"

namespace kiln {
namespace {

constexpr size_t mostBytes = 1 << 16;

/// Functions with arguments of several kinds; launches are bound to those of their names.
constexpr llvm::StringLiteral functions = R"({"entries": [
  {"name": "f", "targets": [], "variants": [{"name": "BLOCK=64", "constants": {"BLOCK": 64}}], "arguments": [
    {"name": "x", "type": "*kfp32"}, {"name": "y", "type": "*fp32"}, {"name": "n", "type": "i32"},
    {"name": "eps", "type": "fp32"}]},
  {"name": "g", "targets": [], "variants": [{"name": "default"}], "arguments": [
    {"name": "grid_x", "type": "u32"}, {"name": "grid_y", "type": "u32"},
    {"name": "grid_z", "type": "u32"}, {"name": "t", "type": "fp16 tensor of rank 2"},
    {"name": "table", "type": "**fp32"}, {"name": "flag", "type": "i1"}]}]})";

/// What the launch's storages held, without its files: a byte before it, another one after it.
/// False where it is too much.
bool makeMemory(const CapturedLaunch &launch, ReplayMemory &memory) {
  static const std::string before(mostBytes, '\x3c'), after(mostBytes, '\x3d');
  if (launch.storages.size() > 16)
    return false;
  for (const CapturedStorage &storage : launch.storages) {
    if (storage.bytes > mostBytes)
      return false;
    memory.before.push_back(llvm::StringRef(before).take_front(storage.bytes));
    memory.after.push_back(llvm::StringRef(after).take_front(storage.bytes));
  }
  return true;
}

void compare(const CapturedLaunch &launch, unsigned storage, const ReplayMemory &memory,
             llvm::StringRef got, const ReplayArguments &arguments, const EntryModel &entry) {
  std::vector<ElementView> views = viewsOf(launch, storage, arguments, entry);
  llvm::StringRef before = memory.before[storage], after = memory.after[storage];
  Comparison result = compareStorage(before, after, got, views, defaultTolerances());
  elementNameAt(storage, result.place, result.view, arguments);
  if (compareStorage(before, after, after, views, defaultTolerances()).differing)
    __builtin_trap();
}

/// With a kernel that writes nothing.
void replay(const CapturedLaunch &launch, const EntryModel &entry,
            const ReplayArguments &arguments) {
  ReplayMemory memory;
  if (!makeMemory(launch, memory))
    return;
  auto device = llvm::cantFail(
      RunDevice::open(llvm::cantFail(parseTarget("cpu")), /*check=*/false, /*count=*/false));
  auto arrays = replayLaunch(launch, memory, arguments, *device,
                             [](std::vector<RunValue> &) { return llvm::Error::success(); });
  if (!arrays)
    return llvm::consumeError(arrays.takeError());
  for (unsigned storage = 0; storage < arrays->size(); ++storage) {
    llvm::StringRef got((*arrays)[storage].data.get(), (*arrays)[storage].bytes);
    if (got != memory.before[storage])
      __builtin_trap();
    compare(launch, storage, memory, got, arguments, entry);
  }
}

} // namespace
} // namespace kiln

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace kiln;
  static const LibraryDescription known = llvm::cantFail(readLibraryDescription(functions));
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::consumeError(readNpy(text).takeError());
  llvm::consumeError(readLibraryDescription(text).takeError());
  llvm::Expected<std::vector<CapturedLaunch>> launches = readCaptureIndex(text);
  if (!launches) {
    llvm::consumeError(launches.takeError());
    return 0;
  }
  for (const CapturedLaunch &launch : *launches)
    for (const EntryModel &entry : known.entries) {
      if (entry.name != launch.function)
        continue;
      if (llvm::Expected<ReplayArguments> arguments = bindReplay(launch, entry))
        replay(launch, entry, *arguments);
      else
        llvm::consumeError(arguments.takeError());
    }
  return 0;
}
