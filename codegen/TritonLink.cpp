//===- TritonLink.cpp - what link.py writes -------------------------------===//
//
// A function for each kernel takes the number of an algorithm (values of constants, warps, stages),
// one for each algorithm chooses among the specialisations by what the arguments are, those that
// promise most first. The choice of an algorithm is the program's, as it is with link.py.
//
//===----------------------------------------------------------------------===//
#include "codegen/TritonInterface.h"
#include "codegen/TritonVendors.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;

namespace kiln {
namespace {

/// A function of compile.py's, as its header describes it.
struct Specialization {
  std::string kernel, symbol, algorithm;
  std::vector<std::pair<std::string, std::string>> parameters; // types and names
  std::vector<unsigned> hints;                                 // 0, 1 or 16 for each

  long numHints() const {
    return count_if(hints, [](unsigned hint) { return hint != 0; });
  }

  /// "int32_t n, float x", "n, x": with what is promised to be 1, or without.
  std::string list(bool withTypes, bool withOnes) const {
    std::string text;
    for (auto [parameter, hint] : zip(parameters, hints))
      if (withOnes || hint != 1)
        text += ", " + (withTypes ? parameter.first + " " : "") + parameter.second;
    return text;
  }

  /// What has to hold for the arguments.
  std::string condition() const {
    std::vector<std::string> all;
    for (auto [parameter, hint] : zip(parameters, hints))
      if (hint == 1)
        all.push_back("(" + parameter.second + " == 1)");
      else if (hint == 16)
        all.push_back("((uintptr_t)" + parameter.second + " % 16 == 0)");
    return all.empty() ? "1" : join(all, " && ");
  }
};

using Algorithms =
    MapVector<std::string, std::vector<Specialization>, std::map<std::string, unsigned>>;

class HeaderReader {
public:
  /// By kernel, and by the names of its algorithms, in the order of the headers.
  MapVector<std::string, Algorithms, std::map<std::string, unsigned>> kernels;
  const TritonVendor *vendor = nullptr;

  Error read(const OutputFile &header) {
    if (field(header.bytes, "// tt-linker: ").empty())
      return Error::success();
    StringRef backend = field(header.bytes, "// tt-linker-backend: ");
    const TritonVendor *found = findTritonVendor(backend);
    auto [symbol, rest] = field(header.bytes, "// tt-linker: ").split(':');
    auto [signature, algorithm] = rest.rsplit(':');
    Specialization made;
    if (!found || algorithm.empty() || !readNames(symbol, algorithm, made) ||
        !readParameters(signature, field(header.bytes, "// kiln-hints:"), made))
      return createStringError(header.name + ": expected a header that kiln compile "
                                             "--triton-compat has written");
    if (vendor && vendor != found)
      return createStringError(header.name + ": it is for " + backend.str() +
                               ", those before it for " + vendor->backend.str());
    vendor = found;
    std::string name = made.kernel + "_" + made.algorithm;
    if (!kernels[made.kernel].empty()) {
      const Specialization &first = kernels[made.kernel].front().second.front();
      if (first.list(true, true) != made.list(true, true))
        return createStringError(header.name + ": its arguments are (" +
                                 made.list(true, true).substr(2) + "), those of " + first.symbol +
                                 " (" + first.list(true, true).substr(2) + ")");
    }
    kernels[made.kernel][name].push_back(std::move(made));
    return Error::success();
  }

private:
  /// The rest of the line that begins so.
  static StringRef field(StringRef text, StringRef begin) {
    size_t at = text.find(begin);
    return at == StringRef::npos ? "" : text.substr(at + begin.size()).split('\n').first;
  }

  static bool readNames(StringRef symbol, StringRef algorithm, Specialization &made) {
    StringRef kernel = symbol.rsplit('_').first.rsplit('_').first;
    made.kernel = kernel.str();
    made.symbol = symbol.str(), made.algorithm = algorithm.str();
    return !kernel.empty() && kernel != symbol;
  }

  static bool readParameters(StringRef signature, StringRef hints, Specialization &made) {
    SmallVector<StringRef> parts, numbers;
    signature.split(parts, ',', -1, /*KeepEmpty=*/false);
    hints.trim().split(numbers, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
      auto [type, name] = part.trim().split(' ');
      made.parameters.push_back({type.str(), name.str()});
    }
    for (StringRef number : numbers)
      if (number.getAsInteger(10, made.hints.emplace_back()))
        return false;
    return made.hints.size() == made.parameters.size();
  }
};

/// The two files, kernel by kernel.
class LinkWriter {
public:
  explicit LinkWriter(const TritonVendor &vendor) : vendor(vendor) {}

  std::string prelude() const {
    return formatv("#ifndef TT_LINK_INCLUDES\n#define TT_LINK_INCLUDES\n\n"
                   "#include <stdint.h>\n\n{0}\ntypedef {1} TT_StreamTy;\ntypedef {2} "
                   "TT_ResultTy;\n\n#define TT_ERROR_INVALID_VALUE {3}\n\n#endif\n\n",
                   vendor.include, vendor.stream, vendor.result, vendor.invalidValue)
        .str();
  }

  void declare(raw_ostream &os, StringRef kernel, const Algorithms &algorithms) const {
    std::string parameters = algorithms.front().second.front().list(true, true);
    for (const auto &[name, specializations] : algorithms)
      os << formatv("TT_ResultTy {0}(TT_StreamTy stream{1});\nvoid load_{0}(void);\n"
                    "void unload_{0}(void);\n",
                    name, parameters);
    os << formatv("int {0}_get_num_algos(void);\n"
                  "TT_ResultTy {0}_default(TT_StreamTy stream{1});\n"
                  "TT_ResultTy {0}(TT_StreamTy stream{1}, int algo_id);\n"
                  "void load_{0}(void);\nvoid unload_{0}(void);\n\n",
                  kernel, parameters);
  }

  void define(raw_ostream &os, StringRef kernel, const Algorithms &algorithms) const {
    for (const auto &[name, specializations] : algorithms)
      defineAlgorithm(os, name, specializations);
    const Specialization &first = algorithms.front().second.front();
    std::string parameters = first.list(true, true);
    os << formatv("typedef TT_ResultTy (*{0}_function)(TT_StreamTy stream{1});\n"
                  "static const {0}_function {0}_kernels[] = {{\n",
                  kernel, parameters);
    for (const auto &[name, specializations] : algorithms)
      os << "  " << name << ",\n";
    os << "};\n\n"
       << formatv("int {0}_get_num_algos(void) {{ return {1}; }\n\n", kernel, algorithms.size())
       << formatv("TT_ResultTy {0}(TT_StreamTy stream{1}, int algo_id) {{\n"
                  "  if (algo_id < 0 || algo_id >= {2})\n    return TT_ERROR_INVALID_VALUE;\n"
                  "  return {0}_kernels[algo_id](stream{3});\n}\n\n",
                  kernel, parameters, algorithms.size(), first.list(false, true))
       << formatv("TT_ResultTy {0}_default(TT_StreamTy stream{1}) {{\n"
                  "  return {0}(stream{2}, 0);\n}\n\n",
                  kernel, parameters, first.list(false, true));
    std::vector<std::string> names;
    for (const auto &[name, specializations] : algorithms)
      names.push_back(name);
    defineLoads(os, kernel, names);
  }

private:
  void defineAlgorithm(raw_ostream &os, StringRef name,
                       const std::vector<Specialization> &specializations) const {
    std::vector<const Specialization *> sorted;
    for (const Specialization &each : specializations)
      sorted.push_back(&each);
    llvm::sort(sorted, [](const Specialization *a, const Specialization *b) {
      return a->numHints() != b->numHints() ? a->numHints() > b->numHints() : a < b;
    });
    std::vector<std::string> symbols;
    for (const Specialization *each : sorted) {
      symbols.push_back(each->symbol);
      os << formatv("TT_ResultTy {0}(TT_StreamTy stream{1});\nvoid load_{0}(void);\n"
                    "void unload_{0}(void);\n",
                    each->symbol, each->list(true, false));
    }
    os << formatv("\nTT_ResultTy {0}(TT_StreamTy stream{1}) {{\n", name,
                  specializations.front().list(true, true));
    for (const Specialization *each : sorted)
      os << formatv("  if ({0})\n    return {1}(stream{2});\n", each->condition(), each->symbol,
                    each->list(false, false));
    os << "  return TT_ERROR_INVALID_VALUE;\n}\n\n";
    defineLoads(os, name, symbols);
  }

  static void defineLoads(raw_ostream &os, StringRef name, ArrayRef<std::string> called) {
    for (StringRef mode : {"load", "unload"}) {
      os << formatv("void {0}_{1}(void) {{\n", mode, name);
      for (StringRef each : called)
        os << formatv("  {0}_{1}();\n", mode, each);
      os << "}\n\n";
    }
  }

  const TritonVendor &vendor;
};

} // namespace

Expected<std::vector<OutputFile>> linkTritonHeaders(ArrayRef<OutputFile> headers, StringRef stem) {
  HeaderReader reader;
  for (const OutputFile &header : headers)
    if (Error error = reader.read(header))
      return std::move(error);
  if (!reader.vendor)
    return createStringError("expected headers that kiln compile --triton-compat has written");
  LinkWriter writer(*reader.vendor);
  std::string declared, defined;
  raw_string_ostream declarations(declared), definitions(defined);
  for (const auto &[kernel, algorithms] : reader.kernels) {
    writer.declare(declarations, kernel, algorithms);
    writer.define(definitions, kernel, algorithms);
  }
  std::string header = writer.prelude() + "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" +
                       declared + "#ifdef __cplusplus\n}\n#endif\n";
  return std::vector<OutputFile>{
      {(stem + ".h").str(), std::move(header)},
      {(stem + ".c").str(), "#include \"" + stem.str() + ".h\"\n\n" + defined}};
}

} // namespace kiln
