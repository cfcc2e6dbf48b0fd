//===- GenerateLibrary.cpp - from a model to the files of a library -------===//
#include "codegen/GenerateLibrary.h"
#include "codegen/Archive.h"
#include "codegen/CNames.h"
#include "codegen/CWriter.h"
#include "codegen/HostObject.h"
#include "codegen/Manifest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <tuple>

using namespace llvm;

namespace kiln {

namespace {

StringRef bytesOf(const DeviceBinary &binary) { return {binary.bytes.data(), binary.bytes.size()}; }

HostArch archOf(const TargetInfo &target) {
  return StringRef(target.llvmTriple).starts_with("x86_64") ? HostArch::X86_64 : HostArch::AArch64;
}

/// Argument names that are legal C, differ from each other and from what the functions use.
std::vector<std::string> argumentNames(const EntryModel &entry) {
  std::vector<std::string> names;
  for (const EntryArgument &argument : entry.arguments) {
    std::string name = parameterCName(argument.name);
    while (is_contained(names, name))
      name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

const DeviceBinary *findBinary(const VariantModel &variant, const TargetRow &row) {
  for (const VariantBinary &binary : variant.binaries)
    if (binary.target == row.target && binary.binary.format == row.format)
      return &binary.binary;
  return nullptr;
}

/// "kiln_lib_matmul_v3_cuda_sm_90a_cubin", behind the library's prefix.
std::string imageSymbol(const LibraryModel &model, const EntryModel &entry, size_t variant,
                        const TargetRow &row) {
  return formatv("{0}kiln_{1}_{2}_v{3}_{4}_{5}", model.prefix, model.name, entry.name, variant,
                 mangle(model.targets[row.target].name), formatName(row.format))
      .str();
}

EntryText textOf(const LibraryModel &model, const EntryModel &entry) {
  EntryText text;
  text.entry = &entry;
  text.name = model.prefix + entry.name;
  text.tables = buildDispatchTables(model, entry);
  text.argumentNames = argumentNames(entry);
  std::map<StringRef, std::string> known;
  auto named = [&](const DeviceBinary *binary, const std::string &symbol) -> NamedBinary {
    if (!binary)
      return {};
    if (binary->format == BinaryFormat::HostObject)
      return {binary, symbol, true};
    auto [image, isFirst] = known.try_emplace(bytesOf(*binary), symbol);
    return {binary, image->second, isFirst};
  };
  for (size_t v = 0; v < entry.variants.size(); ++v) {
    text.binaries.emplace_back();
    text.fallbacks.emplace_back();
    for (const TargetRow &row : text.tables.targets) {
      const DeviceBinary *binary = findBinary(entry.variants[v], row);
      std::string symbol = imageSymbol(model, entry, v, row);
      text.binaries.back().push_back(named(binary, symbol));
      text.fallbacks.back().push_back(
          named(binary ? binary->fallback.get() : nullptr, symbol + "_fallback"));
    }
  }
  return text;
}

std::vector<HostArch> hostArchs(const LibraryModel &model) {
  std::vector<HostArch> archs = model.hostArchs;
  if (archs.empty())
    for (const TargetInfo &target : model.targets)
      if ((target.backend == Backend::CPU || target.emulated) &&
          !is_contained(archs, archOf(target)))
        archs.push_back(archOf(target));
  if (archs.empty())
    archs.push_back(thisHostArch());
  sort(archs);
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  return archs;
}

/// "libNAME.a" holds the host objects of the first architecture; each further one has its own.
std::string archiveName(const LibraryModel &model, const std::vector<HostArch> &archs, size_t i) {
  return "lib" + model.name + (i ? "-" + hostArchName(archs[i]).str() : "") + ".a";
}

/// One object per entry point and target, so that a linker drops what a program does not call.
Error addMembers(const LibraryModel &model, const EntryText &text, HostArch arch,
                 std::vector<ArchiveMember> &members) {
  for (size_t t = 0; t < text.tables.targets.size(); ++t) {
    const TargetRow &row = text.tables.targets[t];
    const TargetInfo &target = model.targets[row.target];
    std::string stem = text.entry->name + "." + mangle(target.name);
    std::vector<Image> images;
    auto add = [&](const NamedBinary &named, const std::string &memberName) -> Error {
      if (!named.binary || !named.isFirstOfItsSymbol)
        return Error::success();
      if (row.format != BinaryFormat::HostObject) {
        images.push_back({named.symbol, bytesOf(*named.binary)});
        return Error::success();
      }
      if (archOf(target) != arch)
        return Error::success();
      Expected<std::string> object = prepareHostObject(bytesOf(*named.binary), named.binary->symbol,
                                                       named.symbol, model.prefix);
      if (!object)
        return createStringError(text.entry->name + ": " + toString(object.takeError()));
      members.push_back({memberName, std::move(*object)});
      return Error::success();
    };
    for (size_t v = 0; v < text.binaries.size(); ++v) {
      std::string name = stem + ".v" + std::to_string(v);
      if (Error error = add(text.binaries[v][t], name + ".o"))
        return error;
      if (Error error = add(text.fallbacks[v][t], name + ".fallback.o"))
        return error;
    }
    if (!images.empty())
      members.push_back(
          {stem + "." + formatName(row.format).str() + ".o", writeImageObject(arch, images)});
  }
  return Error::success();
}

std::vector<EntryText> textsOf(const LibraryModel &model) {
  std::vector<EntryText> texts;
  for (const EntryModel &entry : model.entries)
    texts.push_back(textOf(model, entry));
  return texts;
}

void addSizes(const LibraryModel &model, const EntryModel &entry, GeneratedLibrary &library) {
  for (size_t t = 0; t < model.targets.size(); ++t) {
    SizeRow row{entry.name, model.targets[t].name, 0};
    for (const VariantModel &variant : entry.variants)
      for (const VariantBinary &binary : variant.binaries)
        row.bytes += binary.target == t ? shippedBytes(binary.binary) : 0;
    library.totalBytes += row.bytes;
    library.sizes.push_back(std::move(row));
  }
}

Error checkBudget(const LibraryModel &model, const GeneratedLibrary &library) {
  if (!model.sizeBudget || library.totalBytes <= model.sizeBudget)
    return Error::success();
  std::vector<SizeRow> largest = library.sizes;
  sort(largest, [](const SizeRow &a, const SizeRow &b) {
    return std::tie(b.bytes, a.entry, a.target) < std::tie(a.bytes, b.entry, b.target);
  });
  std::string message = formatv("the images of '{0}' have {1} bytes, more than the size_budget of "
                                "{2}; the largest are",
                                model.name, library.totalBytes, model.sizeBudget)
                            .str();
  for (size_t i = 0; i < std::min<size_t>(3, largest.size()); ++i)
    message += formatv("{0} {1} for {2} ({3})", i ? "," : "", largest[i].entry, largest[i].target,
                       largest[i].bytes)
                   .str();
  return createStringError(message);
}

} // namespace

std::vector<std::string> libraryFileNames(const LibraryModel &model) {
  std::vector<std::string> names = {model.name + ".h", model.name + ".c", model.name + ".json"};
  std::vector<HostArch> archs = hostArchs(model);
  for (size_t i = 0; i < archs.size(); ++i)
    names.push_back(archiveName(model, archs, i));
  return names;
}

std::string generateHeader(const LibraryModel &model) { return writeHeader(model, textsOf(model)); }

Expected<GeneratedLibrary> generateLibrary(const LibraryModel &model) {
  if (Error error = checkModel(model))
    return std::move(error);
  GeneratedLibrary library;
  for (const EntryModel &entry : model.entries)
    addSizes(model, entry, library);
  if (Error error = checkBudget(model, library))
    return std::move(error);

  std::vector<EntryText> texts = textsOf(model);
  std::string manifest = writeManifest(model);
  library.files.push_back({model.name + ".h", writeHeader(model, texts)});
  library.files.push_back({model.name + ".c", writeSource(model, texts)});
  library.files.push_back({model.name + ".json", manifest});
  std::vector<HostArch> archs = hostArchs(model);
  for (size_t i = 0; i < archs.size(); ++i) {
    std::vector<ArchiveMember> members;
    members.push_back({model.name + ".manifest.o", writeImageObject(archs[i], {}, manifest)});
    for (const EntryText &text : texts)
      if (Error error = addMembers(model, text, archs[i], members))
        return std::move(error);
    Expected<std::string> archive = writeArchive(members);
    if (!archive)
      return archive.takeError();
    library.files.push_back({archiveName(model, archs, i), std::move(*archive)});
  }
  return library;
}

} // namespace kiln
