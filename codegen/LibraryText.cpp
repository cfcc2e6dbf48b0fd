//===- LibraryText.cpp - what the writers know of a library ---------------===//
#include "codegen/LibraryText.h"
#include "codegen/CNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <tuple>

using namespace llvm;

namespace kiln {

namespace {

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

/// "kiln_LIBRARY_matmul_v3_cuda_sm_90a_cubin", behind the library's prefix.
std::string imageSymbol(const LibraryModel &model, const EntryModel &entry, size_t variant,
                        const TargetRow &row) {
  return formatv("{0}kiln_{1}_{2}_v{3}_{4}_{5}", model.prefix, model.name, entry.name, variant,
                 mangle(model.targets[row.target].name), formatName(row.format))
      .str();
}

/// Names images and host functions. What is equal in every byte, wherever in the library, is stored
/// once, under the name of the first. (The kernel's own name is in the image: it is the Python
/// function's, the same for all variants and signatures.)
class BinaryNames {
public:
  explicit BinaryNames(const LibraryModel &model) : model(model) {}

  EntryText textOf(const EntryModel &entry) {
    EntryText text;
    text.entry = &entry;
    text.name = model.prefix + entry.name;
    text.tables = buildDispatchTables(model, entry);
    text.choice = planChoice(entry, text.tables);
    text.argumentNames = argumentNames(entry);
    for (size_t v = 0; v < entry.variants.size(); ++v) {
      text.binaries.emplace_back();
      text.fallbacks.emplace_back();
      for (const TargetRow &row : text.tables.targets) {
        const DeviceBinary *binary = findBinary(entry.variants[v], row);
        std::string symbol = imageSymbol(model, entry, v, row);
        text.binaries.back().push_back(named(entry, binary, symbol));
        text.fallbacks.back().push_back(
            named(entry, binary ? binary->fallback.get() : nullptr, symbol + "_fallback"));
      }
    }
    return text;
  }

  /// Symbols that several entry points use.
  std::set<std::string> shared;

private:
  struct First {
    std::string symbol;
    const EntryModel *entry;
  };
  const LibraryModel &model;
  /// By format, bytes and, of host objects, which may hold several functions, the function's name.
  std::map<std::tuple<BinaryFormat, StringRef, StringRef>, First> known;

  NamedBinary named(const EntryModel &entry, const DeviceBinary *binary,
                    const std::string &symbol) {
    if (!binary)
      return {};
    bool isHost = binary->format == BinaryFormat::HostObject;
    auto [place, isFirst] = known.try_emplace(
        {binary->format, bytesOf(*binary), isHost ? StringRef(binary->symbol) : StringRef()},
        First{symbol, &entry});
    const First &first = place->second;
    if (first.entry != &entry)
      shared.insert(first.symbol);
    return {binary, first.symbol, isFirst, "", 0};
  }
};

LibraryText namesOf(const LibraryModel &model) {
  BinaryNames names(model);
  LibraryText text;
  for (const EntryModel &entry : model.entries)
    text.entries.push_back(names.textOf(entry));
  text.sharedImages = std::move(names.shared);
  return text;
}

/// Puts the images into frames, and these, perhaps compressed, into packs.
class ImagePacker {
public:
  ImagePacker(const LibraryModel &model, LibraryText &text) : model(model), text(text) {}

  Error pack() {
    for (const EntryText &entry : text.entries)
      forEachStored(entry, [&](const TargetRow &row, const NamedBinary &named) {
        if (row.format != BinaryFormat::HostObject)
          places[named.symbol] = framesOf(row).add(bytesOf(*named.binary));
      });
    for (EntryText &entry : text.entries)
      for (auto *table : {&entry.binaries, &entry.fallbacks})
        for (std::vector<NamedBinary> &row : *table)
          for (NamedBinary &named : row)
            place(named);
    for (TargetFrames &frames : text.frames)
      if (Error error = frames.builder.store(model.isCompressed))
        return error;
    for (unsigned target : packedTargets(model))
      addPack(target);
    return Error::success();
  }

private:
  const LibraryModel &model;
  LibraryText &text;
  std::map<std::string, FrameBuilder::Place> places;

  FrameBuilder &framesOf(const TargetRow &row) {
    for (TargetFrames &frames : text.frames)
      if (frames.target == row.target && frames.format == row.format)
        return frames.builder;
    std::string stem = formatv("{0}kiln_{1}_{2}_{3}_frame", model.prefix, model.name,
                               mangle(model.targets[row.target].name), formatName(row.format));
    text.frames.push_back({row.target, row.format, FrameBuilder(std::move(stem))});
    return text.frames.back().builder;
  }

  void addPack(unsigned target) {
    Pack &pack = text.packs.emplace_back();
    const std::string &name = model.targets[target].name;
    pack.target = target;
    pack.symbol = formatv("{0}kiln_{1}_{2}_pack", model.prefix, model.name, mangle(name));
    pack.fileName = packFileName(model.name, name);
    std::vector<ImageFrame *> frames;
    for (TargetFrames &one : text.frames)
      if (one.target == target)
        for (ImageFrame &frame : one.builder.frames)
          frames.push_back(&frame);
    writePack(pack, frames);
  }

  void place(NamedBinary &named) {
    auto known = places.find(named.symbol);
    if (!named.binary || known == places.end())
      return;
    named.frame = known->second.frame;
    named.frameOffset = known->second.offset;
  }
};

} // namespace

/// Calls `take` for each binary that is stored, once.
void forEachStored(const EntryText &text,
                   function_ref<void(const TargetRow &, const NamedBinary &)> take) {
  for (size_t v = 0; v < text.binaries.size(); ++v)
    for (const auto &[t, row] : enumerate(text.tables.targets))
      for (const NamedBinary *named : {&text.binaries[v][t], &text.fallbacks[v][t]})
        if (named->binary && named->isFirstOfItsSymbol)
          take(row, *named);
}

std::vector<EntryText> makeEntryTexts(const LibraryModel &model) { return namesOf(model).entries; }

Expected<LibraryText> makeLibraryText(const LibraryModel &model) {
  LibraryText text = namesOf(model);
  if (model.isCompressed || model.hasPacks)
    if (Error error = ImagePacker(model, text).pack())
      return std::move(error);
  return text;
}

LibrarySizes sizesOf(const LibraryModel &model, const LibraryText &text) {
  LibrarySizes sizes;
  for (const TargetInfo &target : model.targets)
    sizes.targets.push_back({target.name});
  for (const EntryText &entry : text.entries) {
    sizes.tables.push_back(tableBytes(entry));
    forEachStored(entry, [&](const TargetRow &row, const NamedBinary &named) {
      TargetSize &size = sizes.targets[row.target];
      size.code += named.binary->bytes.size();
      size.stored += named.frame.empty() ? named.binary->bytes.size() : 0;
    });
  }
  for (const TargetFrames &frames : text.frames)
    for (const ImageFrame &frame : frames.builder.frames)
      sizes.targets[frames.target].stored += frame.stored.size();
  for (const Pack &pack : text.packs) {
    sizes.targets[pack.target].pack = pack.fileName;
    sizes.targets[pack.target].stored = pack.contents.size();
  }
  return sizes;
}

} // namespace kiln
