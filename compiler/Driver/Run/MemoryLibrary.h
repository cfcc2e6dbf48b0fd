// A kernel library in memory: the records that generated C holds (runtime/kiln_records.h), filled
// from the same model, so that `kiln run` launches as programs do, by the runtime. Binaries for
// GPUs are used as they are; host objects are linked and loaded.

#ifndef KILN_COMPILER_DRIVER_RUN_MEMORYLIBRARY_H
#define KILN_COMPILER_DRIVER_RUN_MEMORYLIBRARY_H

#include "codegen/DispatchTables.h"
#include "codegen/LibraryModel.h"
#include "runtime/kiln.h"
#include <deque>
#include <memory>

namespace kiln {

class MemoryLibrary {
public:
  /// The model must outlive the library, and satisfy checkModel. Links host objects in forked
  /// children: call it before threads exist.
  static llvm::Expected<std::unique_ptr<MemoryLibrary>> load(const LibraryModel &model);

  /// The record of the model's entry at `index`.
  const kiln_entry &entry(unsigned index) const { return entries[index]->record; }

private:
  struct Entry {
    kiln_entry record = {};
    kiln_entry_state state = {};
    DispatchTables tables;
    std::vector<std::vector<kiln_param>> parameters;
    std::vector<std::string> names, ids;
    std::vector<kiln_variant> variants;
    std::vector<kiln_target> targets;
    /// Of each binary; they stay where they are.
    std::deque<std::vector<kiln_tensor_map>> tensorMaps;
    /// Of those binaries that have one; they stay as well.
    std::deque<kiln_binary> fallbacks;
    std::vector<kiln_binary> binaries;
  };

  static llvm::Expected<kiln_binary> loadWhole(Entry &entry, const DeviceBinary &device,
                                               const TargetInfo &target);
  llvm::Error fill(Entry &entry, const LibraryModel &model, const EntryModel &source);

  kiln_library library = {};
  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<const kiln_entry *> records;
};

} // namespace kiln

#endif
