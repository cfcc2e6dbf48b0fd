//===- CSource.cpp - the source of a generated library --------------------===//
#include "codegen/CNames.h"
#include "codegen/CWriter.h"
#include "codegen/TuningTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

/// Macros around functions that exist in one host architecture's archive only.
static const StringRef kHostMacros =
    R"(/* CPU kernels exist where their architecture is compiled for. */
#if defined(__x86_64__) || defined(_M_X64)
#define ON_X86_64(function) function
#else
#define ON_X86_64(function) NULL
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define ON_AARCH64(function) function
#else
#define ON_AARCH64(function) NULL
#endif

)";

static void writeImages(raw_ostream &out, const std::vector<EntryText> &entries,
                        bool hasHostKernels) {
  out << "/* Device binaries and CPU kernels, in the archive. */\n";
  if (hasHostKernels)
    out << "typedef void host_kernel(void *const *params, const uint32_t program_id[3],\n"
           "    const uint32_t num_programs[3], void *arena);\n";
  for (const EntryText &text : entries)
    for (const auto *table : {&text.binaries, &text.fallbacks})
      for (const std::vector<NamedBinary> &row : *table)
        for (const NamedBinary &named : row) {
          if (!named.binary || !named.isFirstOfItsSymbol)
            continue;
          if (named.binary->format == BinaryFormat::HostObject)
            out << "HIDDEN host_kernel " << named.symbol << ";\n";
          else if (named.frame.empty())
            out << "extern HIDDEN const unsigned char " << named.symbol << "[];\n";
        }
  out << "\n";
}

static void writeFrames(raw_ostream &out, const std::vector<ImageFrame> &frames,
                        bool isCompressed) {
  if (frames.empty())
    return;
  out << "/* Images that are stored together"
      << (isCompressed ? ": runtime/zstd/ and libzstd unpack them" : "") << ". */\n";
  for (const ImageFrame &frame : frames) {
    bool isPacked = !frame.pack.empty();
    if (!isPacked)
      out << formatv("extern HIDDEN const unsigned char {0}_data[];\n", frame.symbol);
    std::string data = isPacked ? "NULL" : frame.symbol + "_data";
    out << formatv("static const kiln_frame {0} = {{\n    {1}, {2}, {3}, {4}, {5}, {6}, "
                   "UINT64_C({7:x})};\n",
                   frame.symbol, data, frame.stored.size(), frame.unpacked.size(),
                   isCompressed ? "kiln_unpack_zstd" : "NULL", isPacked ? "&" + frame.pack : "NULL",
                   frame.packOffset, frame.checksum);
  }
  out << "\n";
}

static void writePacks(raw_ostream &out, const std::vector<Pack> &packs) {
  if (packs.empty())
    return;
  out << "/* The files that hold the images, one for each architecture. */\n";
  for (const Pack &pack : packs)
    out << formatv("static kiln_pack_state {0}_state;\nstatic const kiln_pack {0} = {{\n"
                   "    {1}, {2}, {3}, &{0}_state};\n",
                   pack.symbol, cString(pack.fileName), cString(pack.identity),
                   pack.contents.size());
  out << "static const kiln_pack *const library_packs[] = {\n";
  for (const Pack &pack : packs)
    out << "    &" << pack.symbol << ",\n";
  out << "};\n\n";
}

static void writeLibrary(raw_ostream &out, const LibraryModel &model,
                         const std::vector<EntryText> &entries, size_t numPacks) {
  std::string name = model.cName();
  out << "static const kiln_entry *const library_entries[] = {\n";
  for (const EntryText &text : entries)
    out << "    &" << text.name << "_entry,\n";
  out << "};\n"
      << formatv("const kiln_library {0}_library = {{KILN_ABI_VERSION, {1}, {2}, "
                 "library_entries, {3}, {4}, {5}};\n\n",
                 name, model.entries.size(), cString(model.name), cString(dispatchHash(model)),
                 numPacks ? "library_packs" : "NULL", numPacks);
  if (hasLibraryPrepare(model))
    out << formatv("kiln_status {0}_prepare(kiln_device device) {{\n  return "
                   "kiln_prepare_library(&{0}_library, device);\n}\n\n",
                   name);
  out << formatv("kiln_status {0}_unload(void) {{ return kiln_unload(&{0}_library); }\n\n"
                 "uint32_t {0}_abi_version(void) {{ return {0}_library.abi_version; }\n",
                 name);
  if (numPacks)
    out << formatv("\nkiln_status {0}_load_pack(const char *path) {{\n  return "
                   "kiln_load_pack(&{0}_library, path);\n}\n",
                   name);
}

static bool hasBinary(const std::vector<EntryText> &entries,
                      function_ref<bool(const DeviceBinary *)> isWanted) {
  return any_of(entries, [&](const EntryText &text) {
    return any_of(text.binaries, [&](const auto &row) {
      return any_of(row, [&](const NamedBinary &named) { return isWanted(named.binary); });
    });
  });
}

std::string writeSource(const LibraryModel &model, const std::vector<EntryText> &entries,
                        const std::vector<ImageFrame> &frames, const std::vector<Pack> &packs) {
  std::set<std::string> helpers;
  std::vector<std::string> bodies;
  size_t numFactors = 1;
  for (const EntryText &text : entries)
    numFactors = std::max(numFactors, text.choice.numVarying() + text.choice.hasCommon());
  for (const EntryText &text : entries)
    bodies.push_back("/* --- " + text.name + " --- */\n\n" + writeTables(model, text) +
                     writeFunctions(model, text, helpers));
  std::string result;
  raw_string_ostream out(result);
  out << "/* " << model.name
      << ": dispatch tables and entry points, written by Kiln. Do not edit.\n"
      << " * Compile this file and link it with lib" << model.name << ".a and Kiln's runtime"
      << (model.isCompressed && !frames.empty() ? ", runtime/zstd/ and libzstd" : "") << ". */\n"
      << "#include \"" << model.name << ".h\"\n\n#include <stddef.h>\n\n"
      << "#if defined(__GNUC__) && !defined(_WIN32)\n#define HIDDEN "
         "__attribute__((visibility(\"hidden\")))\n#else\n#define HIDDEN\n#endif\n\n";
  if (hasBinary(entries, [](const DeviceBinary *binary) { return !binary; }))
    out << "/* The variant does not exist for the target. */\n#define NO_BINARY                    "
           "                                                                \\\n  {NULL, 0, NULL, "
           "0, 0, NULL,"
           "  NULL, 0, 0, {0, 0, 0}, 0, 0, 0, NULL, NULL}\n\n";
  bool hasHostKernels = hasBinary(entries, [](const DeviceBinary *binary) {
    return binary && binary->format == BinaryFormat::HostObject;
  });
  if (hasHostKernels)
    out << kHostMacros;
  out << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  writeImages(out, entries, hasHostKernels);
  writePacks(out, packs);
  writeFrames(out, frames, model.isCompressed);
  out << sharedFunctions(helpers, numFactors);
  for (const std::string &body : bodies)
    out << body;
  out << "/* --- the library --- */\n\n";
  writeLibrary(out, model, entries, packs.size());
  out << "\n#ifdef __cplusplus\n}\n#endif\n";
  return result;
}

} // namespace kiln
