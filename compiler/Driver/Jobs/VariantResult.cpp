// JSON with the binary in base64: a few microseconds beside the milliseconds of a compilation, and
// nothing to get wrong.

#include "compiler/Driver/Jobs/VariantResult.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace kiln {
namespace {

std::string encode(llvm::StringRef bytes) { return llvm::encodeBase64(bytes); }

std::string bytes(JsonMembers &in, llvm::StringRef key) {
  std::string text;
  std::vector<char> decoded;
  in.read(key, text);
  if (llvm::errorToBool(llvm::decodeBase64(text, decoded)))
    in.refuse(key, "expected base64");
  return std::string(decoded.begin(), decoded.end());
}

int64_t integer(JsonMembers &in, llvm::StringRef key) {
  int64_t value = 0;
  in.read(key, value);
  return value;
}

uint32_t number(JsonMembers &in, llvm::StringRef key) { return uint32_t(integer(in, key)); }

/// One of an enumeration, of which `last` is the last.
template <typename Enum> Enum oneOf(JsonMembers &in, llvm::StringRef key, Enum last) {
  int64_t value = integer(in, key);
  if (value < 0 || value > int64_t(last))
    in.refuse(key, "expected a number that has a meaning");
  return Enum(value);
}

constexpr size_t numElements = std::size({
#define KILN_TENSOR_ELEMENT(NAME, ...) TensorMapElement::NAME,
#include "runtime/tensor_elements.def"
});
constexpr size_t numKinds = std::size({
#define KILN_DIAG(NAME, SEVERITY, FORMAT, HINT) DiagKind::NAME,
#include "compiler/Basic/Diagnostics/All.def"
});

double real(JsonMembers &in, llvm::StringRef key) {
  double value = 0;
  in.read(key, value);
  return value;
}

json::Array toJson(const std::vector<LaunchNumber> &numbers) {
  json::Array list;
  auto indexOf = [](std::optional<uint32_t> parameter) {
    return parameter ? int64_t(*parameter) : -1;
  };
  for (const LaunchNumber &number : numbers)
    list.push_back(json::Object{{"parameter", indexOf(number.parameter)},
                                {"constant", number.constant},
                                {"factor", indexOf(number.factor)}});
  return list;
}

json::Object toJson(const TensorMapFacts &map) {
  json::Array box;
  for (uint32_t extent : map.box)
    box.push_back(json::Object{{"extent", extent}});
  return json::Object{{"name", encode(map.name)},
                      {"base", map.base},
                      {"element", unsigned(map.element)},
                      {"extents", toJson(map.extents)},
                      {"strides", toJson(map.strides)},
                      {"box", std::move(box)},
                      {"swizzleBytes", map.swizzleBytes},
                      {"fillsWithNaN", unsigned(map.fillsWithNaN)},
                      {"isWritten", unsigned(map.isWritten)}};
}

json::Object toJson(const MainLoop &loop) {
  return json::Object{{"isMachineCode", unsigned(loop.isMachineCode)},
                      {"instructions", loop.instructions},
                      {"matrix", loop.matrix},
                      {"shared", loop.shared},
                      {"global", loop.global},
                      {"waits", loop.waits}};
}

json::Object toJson(const DeviceBinary &binary) {
  json::Array parameters, warnings, tensorMaps, mainLoop, fallback;
  for (const KernelParameter &parameter : binary.parameters)
    parameters.push_back(json::Object{
        {"name", encode(parameter.name)}, {"offset", parameter.offset}, {"size", parameter.size}});
  for (const std::string &warning : binary.warnings)
    warnings.push_back(json::Object{{"text", encode(warning)}});
  for (const TensorMapFacts &map : binary.launch.tensorMaps)
    tensorMaps.push_back(toJson(map));
  if (binary.mainLoop)
    mainLoop.push_back(toJson(*binary.mainLoop));
  if (binary.fallback)
    fallback.push_back(toJson(*binary.fallback));
  const ResourceUsage &used = binary.resources;
  const LaunchFacts &launch = binary.launch;
  return json::Object{
      {"target", encode(binary.target)},
      {"format", unsigned(binary.format)},
      {"symbol", encode(binary.symbol)},
      {"bytes", encode({binary.bytes.data(), binary.bytes.size()})},
      {"llvm", encode(binary.llvmIR)},
      {"ptx", encode(binary.ptx)},
      {"assembly", encode(binary.assembly)},
      {"warnings", std::move(warnings)},
      {"registers", used.registers},
      {"scalarRegisters", used.scalarRegisters},
      {"spillStoreBytes", used.spillStoreBytes},
      {"spillLoadBytes", used.spillLoadBytes},
      {"stackBytes", used.stackBytes},
      {"staticSharedBytes", used.staticSharedBytes},
      {"ptxasLevel", binary.ptxasLevel},
      {"registerLimit", binary.registerLimit},
      {"mainLoop", std::move(mainLoop)},
      {"threadsPerBlock", launch.threadsPerBlock},
      {"warpSize", launch.warpSize},
      {"clusterX", launch.clusterDims[0]},
      {"clusterY", launch.clusterDims[1]},
      {"clusterZ", launch.clusterDims[2]},
      {"dynamicSharedBytes", launch.dynamicSharedBytes},
      {"scratchBytes", launch.scratchBytes},
      {"scratchAlign", launch.scratchAlign},
      {"arenaBytes", launch.arenaBytes},
      {"waitsForEarlier", int(launch.waitsForEarlier)},
      {"isCooperative", int(launch.isCooperative)},
      {"tensorMaps", std::move(tensorMaps)},
      {"parameters", std::move(parameters)},
      {"parameterBytes", binary.parameterBytes},
      {"fallback", std::move(fallback)},
  };
}

std::vector<LaunchNumber> numbersFrom(JsonMembers &in, llvm::StringRef key) {
  std::vector<LaunchNumber> numbers;
  auto parameterAt = [](int64_t index) {
    return index < 0 ? std::nullopt : std::optional(uint32_t(index));
  };
  in.elements(key, [&](JsonMembers &number) {
    numbers.push_back({parameterAt(integer(number, "parameter")), integer(number, "constant"),
                       parameterAt(integer(number, "factor"))});
  });
  return numbers;
}

TensorMapFacts tensorMapFrom(JsonMembers &in) {
  TensorMapFacts map;
  map.name = bytes(in, "name");
  map.base = number(in, "base");
  map.element = oneOf(in, "element", TensorMapElement(numElements - 1));
  map.extents = numbersFrom(in, "extents");
  map.strides = numbersFrom(in, "strides");
  in.elements("box", [&](JsonMembers &extent) { map.box.push_back(number(extent, "extent")); });
  map.swizzleBytes = number(in, "swizzleBytes");
  map.fillsWithNaN = number(in, "fillsWithNaN");
  map.isWritten = number(in, "isWritten");
  return map;
}

DeviceBinary binaryFrom(JsonMembers &in) {
  DeviceBinary binary;
  binary.target = bytes(in, "target");
  binary.format = oneOf(in, "format", BinaryFormat::HostObject);
  binary.symbol = bytes(in, "symbol");
  std::string code = bytes(in, "bytes");
  binary.bytes.assign(code.begin(), code.end());
  binary.llvmIR = bytes(in, "llvm");
  binary.ptx = bytes(in, "ptx");
  binary.assembly = bytes(in, "assembly");
  in.elements("warnings",
              [&](JsonMembers &warning) { binary.warnings.push_back(bytes(warning, "text")); });
  binary.resources = {number(in, "registers"),       number(in, "scalarRegisters"),
                      number(in, "spillStoreBytes"), number(in, "spillLoadBytes"),
                      number(in, "stackBytes"),      number(in, "staticSharedBytes")};
  binary.ptxasLevel = number(in, "ptxasLevel");
  binary.registerLimit = number(in, "registerLimit");
  in.elements("mainLoop", [&](JsonMembers &loop) {
    binary.mainLoop = {number(loop, "isMachineCode") != 0,
                       number(loop, "instructions"),
                       number(loop, "matrix"),
                       number(loop, "shared"),
                       number(loop, "global"),
                       number(loop, "waits")};
  });
  binary.launch = {number(in, "threadsPerBlock"),
                   number(in, "warpSize"),
                   {number(in, "clusterX"), number(in, "clusterY"), number(in, "clusterZ")},
                   number(in, "dynamicSharedBytes"),
                   number(in, "scratchBytes"),
                   number(in, "scratchAlign"),
                   number(in, "arenaBytes"),
                   {},
                   number(in, "waitsForEarlier") != 0,
                   number(in, "isCooperative") != 0};
  in.elements("tensorMaps",
              [&](JsonMembers &map) { binary.launch.tensorMaps.push_back(tensorMapFrom(map)); });
  in.elements("parameters", [&](JsonMembers &parameter) {
    binary.parameters.push_back(
        {bytes(parameter, "name"), number(parameter, "offset"), number(parameter, "size")});
  });
  binary.parameterBytes = number(in, "parameterBytes");
  in.elements("fallback", [&](JsonMembers &fallback) {
    binary.fallback = std::make_shared<const DeviceBinary>(binaryFrom(fallback));
  });
  return binary;
}

/// What reports take an element of --diagnostics=json for.
bool isObject(llvm::StringRef text) {
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return !llvm::errorToBool(value.takeError());
  return value->getAsObject() != nullptr;
}

} // namespace

bool VariantResult::hasErrors() const {
  return llvm::any_of(diagnostics,
                      [](const RenderedDiagnostic &d) { return d.severity == Severity::Error; });
}

json::Value toJson(const VariantResult &result) {
  json::Array diagnostics, times, files, binaries, notes;
  for (const RenderedDiagnostic &diagnostic : result.diagnostics)
    diagnostics.push_back(json::Object{{"severity", unsigned(diagnostic.severity)},
                                       {"text", encode(diagnostic.text)},
                                       {"json", encode(diagnostic.json)},
                                       {"key", encode(diagnostic.key)}});
  for (const StageTime &time : result.times)
    times.push_back(json::Object{
        {"stage", encode(time.stage)}, {"wall", time.wallSeconds}, {"cpu", time.cpuSeconds}});
  for (const InputFile &file : result.filesRead)
    files.push_back(json::Object{{"path", encode(file.path)}, {"sha256", encode(file.sha256)}});
  if (result.binary)
    binaries.push_back(toJson(*result.binary));
  for (const PlacedNote &note : result.doesNotFitNotes)
    notes.push_back(json::Object{{"kind", unsigned(note.kind)},
                                 {"text", encode(note.text)},
                                 {"path", encode(note.path)},
                                 {"begin", note.begin},
                                 {"end", note.end}});
  return json::Object{
      {"binary", std::move(binaries)},      {"diagnostics", std::move(diagnostics)},
      {"times", std::move(times)},          {"files", std::move(files)},
      {"emitted", encode(result.emitted)},  {"doesNotFit", encode(result.doesNotFit)},
      {"doesNotFitNotes", std::move(notes)}};
}

std::string serialize(const VariantResult &result) {
  std::string bytes;
  llvm::raw_string_ostream(bytes) << toJson(result);
  return bytes;
}

VariantResult variantResultFrom(JsonMembers &in) {
  VariantResult result;
  in.elements("binary", [&](JsonMembers &binary) { result.binary = binaryFrom(binary); });
  in.elements("diagnostics", [&](JsonMembers &d) {
    result.diagnostics.push_back({oneOf(d, "severity", Severity::Note), bytes(d, "text"),
                                  bytes(d, "json"), bytes(d, "key")});
    if (!isObject(result.diagnostics.back().json))
      d.refuse("json", "expected an object");
  });
  in.elements("times", [&](JsonMembers &time) {
    result.times.push_back({bytes(time, "stage"), real(time, "wall"), real(time, "cpu")});
  });
  in.elements("files", [&](JsonMembers &file) {
    result.filesRead.push_back({bytes(file, "path"), bytes(file, "sha256")});
  });
  result.emitted = bytes(in, "emitted");
  result.doesNotFit = bytes(in, "doesNotFit");
  in.elements("doesNotFitNotes", [&](JsonMembers &note) {
    result.doesNotFitNotes.push_back({oneOf(note, "kind", DiagKind(numKinds - 1)),
                                      bytes(note, "text"), bytes(note, "path"),
                                      number(note, "begin"), number(note, "end")});
  });
  return result;
}

std::optional<VariantResult> deserialize(llvm::StringRef bytes) {
  llvm::Expected<json::Value> value = parseJson(bytes);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  json::Path::Root root;
  JsonMembers in(*value, root);
  VariantResult result = variantResultFrom(in);
  return in.isGood() ? std::optional(std::move(result)) : std::nullopt;
}

} // namespace kiln
