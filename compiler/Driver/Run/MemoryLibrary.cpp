#include "compiler/Driver/Run/MemoryLibrary.h"
#include "codegen/RuntimeRecords.h"
#include "compiler/Target/CPU/LoadHostObject.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {
namespace {

kiln_driver driverOf(const TargetInfo &target) {
  if (target.emulated)
    return KILN_DRIVER_EMULATOR;
  return target.backend == Backend::CUDA  ? KILN_DRIVER_CUDA
         : target.backend == Backend::HIP ? KILN_DRIVER_HIP
                                          : KILN_DRIVER_CPU;
}

kiln_form formOf(BinaryFormat format) {
  switch (format) {
  case BinaryFormat::Cubin:
    return KILN_FORM_CUBIN;
  case BinaryFormat::PTX:
    return KILN_FORM_PTX;
  case BinaryFormat::HSACO:
    return KILN_FORM_HSACO;
  case BinaryFormat::HostObject:
    return KILN_FORM_HOST;
  }
  llvm_unreachable("closed enumeration");
}

/// Natural alignment, in order, nothing hidden.
std::vector<kiln_param> parameterBlock(const EntryModel &entry,
                                       llvm::ArrayRef<unsigned> arguments) {
  std::vector<kiln_param> block;
  uint32_t offset = 0;
  for (unsigned index : arguments) {
    const EntryArgument &argument = entry.arguments[index];
    unsigned bytes = argument.type.bytes();
    offset = llvm::alignTo(offset, bytes);
    block.push_back(
        {argument.name.c_str(), uint16_t(parameterKind(argument.type)), uint16_t(bytes), offset});
    offset += bytes;
  }
  return block;
}

llvm::Expected<kiln_binary> loadBinary(const DeviceBinary &device, const TargetInfo &target) {
  kiln_binary record = {};
  record.symbol = device.symbol.c_str();
  record.threads = device.launch.threadsPerBlock;
  record.shared_bytes = device.launch.dynamicSharedBytes;
  record.scratch_bytes = device.launch.scratchBytes;
  record.flags = (device.launch.isCooperative ? KILN_LAUNCH_COOPERATIVE : 0) |
                 (device.launch.waitsForEarlier ? KILN_LAUNCH_PDL : 0);
  const auto &cluster = device.launch.clusterDims;
  // A cluster of one block is no cluster.
  if (cluster[0] * cluster[1] * cluster[2] > 1)
    llvm::copy(cluster, record.cluster);
  if (device.format != BinaryFormat::HostObject) {
    record.data = device.bytes.data();
    record.size = device.bytes.size();
    return record;
  }
  auto address = loadHostObject({device.bytes.data(), device.bytes.size()}, device.symbol);
  if (!address)
    return address.takeError();
  record.host = reinterpret_cast<kiln_host_function>(*address);
  record.arena_bytes = device.launch.arenaBytes;
  if (!target.emulated)
    record.threads = 0;
  return record;
}

} // namespace

/// With its tensor maps and its fallback.
llvm::Expected<kiln_binary> MemoryLibrary::loadWhole(Entry &entry, const DeviceBinary &device,
                                                     const TargetInfo &target) {
  llvm::Expected<kiln_binary> record = loadBinary(device, target);
  if (!record)
    return record;
  std::vector<kiln_tensor_map> &maps = entry.tensorMaps.emplace_back();
  llvm::transform(device.launch.tensorMaps, std::back_inserter(maps), tensorMapRecord);
  record->num_tensor_maps = uint32_t(maps.size());
  record->tensor_maps = maps.data();
  if (!device.fallback)
    return record;
  llvm::Expected<kiln_binary> fallback = loadWhole(entry, *device.fallback, target);
  if (!fallback)
    return fallback;
  record->fallback = &entry.fallbacks.emplace_back(*fallback);
  return record;
}

llvm::Error MemoryLibrary::fill(Entry &entry, const LibraryModel &model, const EntryModel &source) {
  entry.tables = buildDispatchTables(model, source);
  for (const std::vector<unsigned> &arguments : entry.tables.parameterLists)
    entry.parameters.push_back(parameterBlock(source, arguments));
  for (const TargetRow &row : entry.tables.targets)
    entry.targets.push_back({uint32_t(driverOf(model.targets[row.target])),
                             uint32_t(formOf(row.format)), row.arch.c_str(),
                             row.features.empty() ? nullptr : row.features.c_str()});
  for (const VariantModel &variant : source.variants) {
    entry.names.push_back(variantName(source, variant));
    entry.ids.push_back(variantId(source, variant));
  }
  for (auto [index, variant] : llvm::enumerate(source.variants)) {
    const std::vector<kiln_param> &block = entry.parameters[entry.tables.parameterList[index]];
    entry.variants.push_back({entry.names[index].c_str(), block.data(), uint32_t(block.size()), 0,
                              entry.ids[index].c_str()});
    for (const TargetRow &row : entry.tables.targets) {
      kiln_binary &record = entry.binaries.emplace_back();
      for (const VariantBinary &binary : variant.binaries) {
        if (binary.target != row.target || binary.binary.format != row.format)
          continue;
        auto loaded = loadWhole(entry, binary.binary, model.targets[row.target]);
        if (!loaded)
          return loaded.takeError();
        record = *loaded;
      }
    }
  }
  entry.record = {&library,
                  source.name.c_str(),
                  entry.variants.data(),
                  entry.targets.data(),
                  entry.binaries.data(),
                  &entry.state,
                  uint32_t(entry.variants.size()),
                  uint32_t(entry.targets.size()),
                  /*key=*/nullptr,
                  /*signature=*/nullptr,
                  /*comparison=*/nullptr,
                  /*num_choice_words=*/0};
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<MemoryLibrary>> MemoryLibrary::load(const LibraryModel &model) {
  if (llvm::Error error = checkModel(model))
    return std::move(error);
  auto result = std::make_unique<MemoryLibrary>();
  for (const EntryModel &source : model.entries) {
    Entry &entry = *result->entries.emplace_back(std::make_unique<Entry>());
    if (llvm::Error error = result->fill(entry, model, source))
      return std::move(error);
    result->records.push_back(&entry.record);
  }
  result->library = {KILN_ABI_VERSION,          uint32_t(result->records.size()),
                     model.name.c_str(),        result->records.data(),
                     /*dispatch_hash=*/nullptr,
                     /*packs=*/nullptr,         0};
  return result;
}

} // namespace kiln
