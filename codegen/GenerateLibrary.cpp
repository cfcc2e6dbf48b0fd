//===- GenerateLibrary.cpp - from a model to the files of a library -------===//
#include "codegen/GenerateLibrary.h"
#include "codegen/Archive.h"
#include "codegen/CNames.h"
#include "codegen/CxxHeader.h"
#include "codegen/HostObject.h"
#include "codegen/LibraryText.h"
#include "codegen/Manifest.h"
#include "codegen/TorchSource.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <set>
#include <tuple>

using namespace llvm;

namespace kiln {

namespace {

HostArch archOf(const TargetInfo &target) {
  return StringRef(target.llvmTriple).starts_with("x86_64") ? HostArch::X86_64 : HostArch::AArch64;
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

/// One object per entry point and target, so that a linker drops what a program does not call. What
/// several entry points use has one of its own.
Error addMembers(const LibraryModel &model, const EntryText &text,
                 const std::set<std::string> &sharedImages, HostArch arch,
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
        if (!named.frame.empty())
          return Error::success();
        Image image{named.symbol, bytesOf(*named.binary)};
        if (sharedImages.count(named.symbol))
          members.push_back({memberName, writeImageObject(arch, image)});
        else
          images.push_back(std::move(image));
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

void addFrames(const LibraryText &text, HostArch arch, std::vector<ArchiveMember> &members) {
  for (const ImageFrame &frame : text.allFrames())
    if (frame.pack.empty())
      members.push_back({frame.symbol + ".o",
                         writeImageObject(arch, Image{frame.symbol + "_data", frame.stored})});
}

/// Bytes of one entry point's binaries for one target, without those that an earlier one has.
struct SizeRow {
  std::string entry, target;
  uint64_t bytes = 0;
};

std::vector<SizeRow> largestRows(const LibraryModel &model, const LibraryText &text) {
  std::map<std::pair<std::string, std::string>, uint64_t> bytes;
  for (const EntryText &entry : text.entries)
    forEachStored(entry, [&](const TargetRow &row, const NamedBinary &named) {
      bytes[{entry.entry->name, model.targets[row.target].name}] += named.binary->bytes.size();
    });
  std::vector<SizeRow> rows;
  for (const auto &[key, size] : bytes)
    rows.push_back({key.first, key.second, size});
  sort(rows, [](const SizeRow &a, const SizeRow &b) {
    return std::tie(b.bytes, a.entry, a.target) < std::tie(a.bytes, b.entry, b.target);
  });
  rows.resize(std::min<size_t>(3, rows.size()));
  return rows;
}

Error checkBudget(const LibraryModel &model, const LibraryText &text, const LibrarySizes &sizes) {
  if (!model.sizeBudget || sizes.stored() <= model.sizeBudget)
    return Error::success();
  std::string message =
      formatv("the images of '{0}' have {1} bytes{2}, more than the size_budget of {3}; the "
              "largest are{4}",
              model.name, sizes.stored(), model.isCompressed ? " when compressed" : "",
              model.sizeBudget, model.isCompressed ? ", before they are," : "")
          .str();
  for (const auto &[i, row] : enumerate(largestRows(model, text)))
    message += formatv("{0} {1} for {2} ({3})", i ? "," : "", row.entry, row.target, row.bytes);
  return createStringError(message);
}

} // namespace

std::vector<std::string> libraryFileNames(const LibraryModel &model) {
  std::vector<std::string> names = {model.name + ".h", model.name + ".c", model.name + ".json"};
  std::vector<HostArch> archs = hostArchs(model);
  for (size_t i = 0; i < archs.size(); ++i)
    names.push_back(archiveName(model, archs, i));
  if (model.hasTorchSource)
    names.push_back(torchSourceName(model));
  if (model.hasCxxHeader)
    names.push_back(cxxHeaderName(model));
  for (unsigned target : packedTargets(model))
    names.push_back(packFileName(model.name, model.targets[target].name));
  return names;
}

std::string generateHeader(const LibraryModel &model) {
  return writeHeader(model, makeEntryTexts(model));
}

std::string generateCxxHeader(const LibraryModel &model) {
  return writeCxxHeader(model, makeEntryTexts(model));
}

Expected<GeneratedLibrary> generateLibrary(const LibraryModel &model) {
  if (Error error = checkModel(model))
    return std::move(error);
  GeneratedLibrary library;
  Expected<LibraryText> named = makeLibraryText(model);
  if (!named)
    return named.takeError();
  const LibraryText &text = *named;
  library.sizes = sizesOf(model, text);
  if (Error error = checkBudget(model, text, library.sizes))
    return std::move(error);

  std::string manifest = writeManifest(model, library.sizes);
  library.files.push_back({model.name + ".h", writeHeader(model, text.entries)});
  library.files.push_back(
      {model.name + ".c", writeSource(model, text.entries, text.allFrames(), text.packs)});
  library.files.push_back({model.name + ".json", manifest});
  std::vector<HostArch> archs = hostArchs(model);
  for (size_t i = 0; i < archs.size(); ++i) {
    std::vector<ArchiveMember> members;
    members.push_back({model.name + ".manifest.o", writeImageObject(archs[i], {}, manifest)});
    for (const EntryText &entry : text.entries)
      if (Error error = addMembers(model, entry, text.sharedImages, archs[i], members))
        return std::move(error);
    addFrames(text, archs[i], members);
    Expected<std::string> archive = writeArchive(members);
    if (!archive)
      return archive.takeError();
    library.files.push_back({archiveName(model, archs, i), std::move(*archive)});
  }
  if (model.hasTorchSource) {
    Expected<std::string> source = writeTorchSource(model, text.entries);
    if (!source)
      return source.takeError();
    library.files.push_back({torchSourceName(model), std::move(*source)});
  }
  if (model.hasCxxHeader)
    library.files.push_back({cxxHeaderName(model), writeCxxHeader(model, text.entries)});
  for (const Pack &pack : text.packs)
    library.files.push_back({pack.fileName, pack.contents});
  return library;
}

} // namespace kiln
