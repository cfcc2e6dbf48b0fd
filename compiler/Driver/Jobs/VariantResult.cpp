// JSON with the binary in base64: a few microseconds beside the milliseconds of a compilation, and
// nothing to get wrong.

#include "compiler/Driver/Jobs/VariantResult.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace kiln {
namespace {

std::string encode(llvm::StringRef bytes) { return llvm::encodeBase64(bytes); }

/// Reads typed members and remembers whether all were there.
class Reader {
public:
  explicit Reader(const json::Object &object, bool &ok) : object(object), ok(ok) {}

  std::string bytes(llvm::StringRef key) {
    std::vector<char> decoded;
    auto text = object.getString(key);
    if (!text || llvm::errorToBool(llvm::decodeBase64(*text, decoded)))
      ok = false;
    return std::string(decoded.begin(), decoded.end());
  }
  int64_t integer(llvm::StringRef key) {
    auto value = object.getInteger(key);
    ok &= value.has_value();
    return value.value_or(0);
  }
  uint32_t number(llvm::StringRef key) { return uint32_t(integer(key)); }
  double real(llvm::StringRef key) {
    auto value = object.getNumber(key);
    ok &= value.has_value();
    return value.value_or(0);
  }
  /// Calls `each` with a reader of every element of an array of objects.
  template <typename Each> void objects(llvm::StringRef key, Each each) {
    const json::Array *array = object.getArray(key);
    ok &= array != nullptr;
    for (const json::Value &element : array ? *array : json::Array()) {
      const json::Object *child = element.getAsObject();
      ok &= child != nullptr;
      if (child)
        each(Reader(*child, ok));
    }
  }

private:
  const json::Object &object;
  bool &ok;
};

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

std::vector<LaunchNumber> numbersFrom(Reader in, llvm::StringRef key) {
  std::vector<LaunchNumber> numbers;
  auto parameterAt = [](int64_t index) {
    return index < 0 ? std::nullopt : std::optional(uint32_t(index));
  };
  in.objects(key, [&](Reader number) {
    numbers.push_back({parameterAt(number.integer("parameter")), number.integer("constant"),
                       parameterAt(number.integer("factor"))});
  });
  return numbers;
}

TensorMapFacts tensorMapFrom(Reader in) {
  TensorMapFacts map;
  map.name = in.bytes("name");
  map.base = in.number("base");
  map.element = TensorMapElement(in.number("element"));
  map.extents = numbersFrom(in, "extents");
  map.strides = numbersFrom(in, "strides");
  in.objects("box", [&](Reader extent) { map.box.push_back(extent.number("extent")); });
  map.swizzleBytes = in.number("swizzleBytes");
  map.fillsWithNaN = in.number("fillsWithNaN");
  map.isWritten = in.number("isWritten");
  return map;
}

DeviceBinary binaryFrom(Reader in) {
  DeviceBinary binary;
  binary.target = in.bytes("target");
  binary.format = BinaryFormat(in.number("format"));
  binary.symbol = in.bytes("symbol");
  std::string bytes = in.bytes("bytes");
  binary.bytes.assign(bytes.begin(), bytes.end());
  binary.llvmIR = in.bytes("llvm");
  binary.ptx = in.bytes("ptx");
  binary.assembly = in.bytes("assembly");
  in.objects("warnings", [&](Reader warning) { binary.warnings.push_back(warning.bytes("text")); });
  binary.resources = {in.number("registers"),       in.number("scalarRegisters"),
                      in.number("spillStoreBytes"), in.number("spillLoadBytes"),
                      in.number("stackBytes"),      in.number("staticSharedBytes")};
  binary.ptxasLevel = in.number("ptxasLevel");
  binary.registerLimit = in.number("registerLimit");
  in.objects("mainLoop", [&](Reader loop) {
    binary.mainLoop = {loop.number("isMachineCode") != 0,
                       loop.number("instructions"),
                       loop.number("matrix"),
                       loop.number("shared"),
                       loop.number("global"),
                       loop.number("waits")};
  });
  binary.launch = {in.number("threadsPerBlock"),
                   in.number("warpSize"),
                   {in.number("clusterX"), in.number("clusterY"), in.number("clusterZ")},
                   in.number("dynamicSharedBytes"),
                   in.number("scratchBytes"),
                   in.number("scratchAlign"),
                   in.number("arenaBytes"),
                   {},
                   in.number("waitsForEarlier") != 0,
                   in.number("isCooperative") != 0};
  in.objects("tensorMaps",
             [&](Reader map) { binary.launch.tensorMaps.push_back(tensorMapFrom(map)); });
  in.objects("parameters", [&](Reader parameter) {
    binary.parameters.push_back(
        {parameter.bytes("name"), parameter.number("offset"), parameter.number("size")});
  });
  binary.parameterBytes = in.number("parameterBytes");
  in.objects("fallback", [&](Reader fallback) {
    binary.fallback = std::make_shared<const DeviceBinary>(binaryFrom(fallback));
  });
  return binary;
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

std::optional<VariantResult> variantResultFrom(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  bool ok = true;
  Reader in(*object, ok);
  VariantResult result;
  in.objects("binary", [&](Reader binary) { result.binary = binaryFrom(binary); });
  in.objects("diagnostics", [&](Reader d) {
    result.diagnostics.push_back(
        {Severity(d.number("severity")), d.bytes("text"), d.bytes("json"), d.bytes("key")});
  });
  in.objects("times", [&](Reader time) {
    result.times.push_back({time.bytes("stage"), time.real("wall"), time.real("cpu")});
  });
  in.objects("files", [&](Reader file) {
    result.filesRead.push_back({file.bytes("path"), file.bytes("sha256")});
  });
  result.emitted = in.bytes("emitted");
  result.doesNotFit = in.bytes("doesNotFit");
  in.objects("doesNotFitNotes", [&](Reader note) {
    result.doesNotFitNotes.push_back({DiagKind(note.number("kind")), note.bytes("text"),
                                      note.bytes("path"), note.number("begin"),
                                      note.number("end")});
  });
  return ok ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<VariantResult> deserialize(llvm::StringRef bytes) {
  llvm::Expected<json::Value> value = json::parse(bytes);
  if (value)
    return variantResultFrom(*value);
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

} // namespace kiln
