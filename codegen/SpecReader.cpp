//===- SpecReader.cpp - from JSON text to a Spec --------------------------===//
//
// Three layers: checked access to JSON values (SpecValues.cpp), the objects of the format (here,
// and "dispatch" in DispatchReader.cpp), and checks across objects (SpecChecks.cpp).
//
//===----------------------------------------------------------------------===//
#include "codegen/SpecReader.h"
#include "codegen/CNames.h"
#include "codegen/DispatchReader.h"
#include "codegen/SpecChecks.h"
#include "codegen/SpecOptions.h"
#include "codegen/SpecValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

namespace {

class SpecReader : SpecValues {
public:
  SpecReader(const SourceFile &file, DiagnosticEngine &diagnostics, const SpecReadOptions &options)
      : SpecValues(file, diagnostics), options(options) {}

  std::optional<Spec> read();

private:
  const SpecReadOptions &options;

  void readHeader(const SpecItem &root, Spec &spec);
  void readTargets(const SpecItem &root, Spec &spec);
  void addTarget(Spec &spec, StringRef name, DiagPlace where, StringRef path);
  std::optional<SpecKernel> readKernel(const SpecItem &item);
  void readSignatures(const SpecItem &item, SpecKernel &kernel);
  std::vector<SpecBinding> readParameters(const SpecItem &item);
  SpecConfigs readConfigs(const SpecItem &configs);
  void readKernelConfigs(const SpecItem &item, SpecKernel &kernel);
  bool refuseType(const SpecItem &item);
  SpecConfig readConfig(const SpecItem &item);
  void readConfigTargets(const SpecItem &list, SpecConfig &config);
  bool readOption(const SpecItem &item, StringRef key, SpecOptions &out);
  void readLibraries(const SpecItem &item, SpecConfig &config);
  void readExpressions(const SpecItem &list, std::vector<SpecExpression> &out);
  void readLaunch(const SpecItem &item, SpecKernel &kernel);
  void readGrid(const SpecItem &item, SpecKernel &kernel);
  void readConditions(const SpecItem &item, SpecKernel &kernel);
  /// A boolean; `flag` keeps its value where the key is absent.
  void readFlag(const SpecItem &item, StringRef key, bool &flag);
  void readTruth(const SpecItem &item, bool &flag);
  std::vector<SpecBinding> readLiterals(const SpecItem &item);
};

std::optional<Spec> SpecReader::read() {
  unsigned errorsBefore = diagnostics.getNumErrors();
  std::optional<JsonValue> json = parseDocument();
  if (!json)
    return std::nullopt;
  SpecItem root{&*json, ""};
  if (!checkObject(root, ObjectKind::Library, "an object"))
    return std::nullopt;
  Spec spec;
  spec.place = place(root);
  readHeader(root, spec);
  readTargets(root, spec);
  SpecItem kernels = child(root, "kernels");
  if (kernels && checkList(kernels, "a list of kernels", 1, 100000))
    for (size_t i = 0; i < kernels.value->elements.size() && !diagnostics.isFull(); ++i)
      if (std::optional<SpecKernel> kernel = readKernel(kernels.at(i)))
        spec.kernels.push_back(std::move(*kernel));
  if (diagnostics.getNumErrors() == errorsBefore)
    checkNames(spec, diagnostics);
  if (diagnostics.getNumErrors() == errorsBefore)
    checkTargets(spec, diagnostics);
  if (diagnostics.getNumErrors() != errorsBefore)
    return std::nullopt;
  return spec;
}

void SpecReader::readHeader(const SpecItem &root, Spec &spec) {
  if (SpecItem version = child(root, "kiln")) {
    if (!version.value->is(JsonValue::Kind::Integer))
      expected(version, "the integer 1");
    else if (version.value->integer != 1)
      report(DiagKind::SpecVersion, version, version.value->integer);
  }
  if (SpecItem schema = child(root, "$schema"))
    string(schema, "a string");
  if (SpecItem budget = child(root, "size_budget"))
    spec.sizeBudget = static_cast<uint64_t>(integer(budget, 1, int64_t(1) << 50).value_or(0));
  if (SpecItem compress = child(root, "compress"))
    if (std::optional<std::string> how = string(compress, "\"none\" or \"zstd\"")) {
      spec.isCompressed = *how == "zstd";
      if (!spec.isCompressed && *how != "none")
        expected(compress, "\"none\" or \"zstd\"");
    }
  SpecItem library = child(root, "library");
  if (library)
    spec.library = name(library, "the library's name");
  else if (options.library.empty())
    report(DiagKind::SpecMissingKey, root, "library");
  if (!options.library.empty())
    spec.library = options.library;
  spec.prefix = options.prefix;
}

void SpecReader::addTarget(Spec &spec, StringRef name, DiagPlace where, StringRef path) {
  Expected<TargetInfo> target = parseTarget(name);
  if (!target) {
    diagnostics.report(DiagKind::SpecTarget, where, path, toString(target.takeError()));
    return;
  }
  for (const TargetInfo &earlier : spec.targets)
    if (earlier.name == target->name) {
      diagnostics.report(DiagKind::SpecRepeated, where, path, name);
      return;
    }
  spec.targets.push_back(std::move(*target));
  spec.targetNames.push_back(name.str());
}

void SpecReader::readTargets(const SpecItem &root, Spec &spec) {
  SpecItem targets = child(root, "targets");
  for (const std::string &name : options.targets)
    addTarget(spec, name, DiagPlace("command line"), "--target");
  if (!targets) {
    if (options.targets.empty())
      report(DiagKind::SpecMissingKey, root, "targets");
    return;
  }
  if (!checkList(targets, "a list of targets", 1, 64))
    return;
  for (size_t i = 0; i < targets.value->elements.size(); ++i)
    if (std::optional<std::string> name = string(targets.at(i), "a target's name"))
      if (options.targets.empty())
        addTarget(spec, *name, place(targets.at(i)).range, targets.at(i).path);
}

std::optional<SpecKernel> SpecReader::readKernel(const SpecItem &item) {
  if (!checkObject(item, ObjectKind::Kernel, "an object that describes a kernel"))
    return std::nullopt;
  SpecKernel kernel;
  kernel.place = place(item);
  if (SpecItem value = child(item, "name")) {
    kernel.name = name(value, "the C name of the entry point");
    kernel.namePlace = place(value);
  }
  if (SpecItem value = child(item, "source")) {
    kernel.source = path(value, "the path of a Python file");
    kernel.sourcePlace = place(value);
  }
  if (SpecItem value = child(item, "kernel")) {
    kernel.kernel = string(value, "the name of a @triton.jit function").value_or("");
    kernel.kernelPlace = place(value);
    bool isPath = llvm::all_of(llvm::split(kernel.kernel, '.'), isIdentifier);
    if (value.value->is(JsonValue::Kind::String) && !isPath)
      expected(value, "the name of a @triton.jit function");
  }
  readSignatures(item, kernel);
  readKernelConfigs(item, kernel);
  readLaunch(item, kernel);
  readGrid(item, kernel);
  readConditions(item, kernel);
  if (SpecItem arguments = child(item, "arguments")) {
    kernel.arguments = argumentRanges(arguments);
    kernel.argumentsPlace = place(arguments);
  }
  readFlag(item, "total", kernel.isTotal);
  if (SpecItem dispatch = child(item, "dispatch"))
    readDispatch(file, diagnostics, dispatch, kernel);
  if (SpecItem constants = child(item, "constants"))
    kernel.constants = readLiterals(constants);
  readFlag(item, "debug", kernel.debug);
  readFlag(item, "portable", kernel.portable);
  readFlag(item, "device_memory", kernel.deviceMemory);
  readFlag(item, "small_arrays", kernel.smallArrays);
  checkKernel(kernel, diagnostics);
  return kernel;
}

void SpecReader::readFlag(const SpecItem &item, StringRef key, bool &flag) {
  if (SpecItem given = child(item, key))
    readTruth(given, flag);
}

void SpecReader::readTruth(const SpecItem &item, bool &flag) {
  flag = item.value->boolean;
  if (!item.value->is(JsonValue::Kind::Bool))
    expected(item, "true or false");
}

void SpecReader::readSignatures(const SpecItem &item, SpecKernel &kernel) {
  SpecItem one = child(item, "signature"), many = child(item, "signatures");
  if (one && many) {
    report(DiagKind::SpecExclusiveKeys, item, "signature", "signatures");
    return;
  }
  if (!one && !many) {
    report(DiagKind::SpecMissingKey, item, "signature");
    return;
  }
  if (one) {
    kernel.signatures.push_back({kernel.name, readParameters(one), std::nullopt, place(one)});
    return;
  }
  if (!checkList(many, "a list of signatures", 1, 10000))
    return;
  for (size_t i = 0; i < many.value->elements.size() && !diagnostics.isFull(); ++i) {
    SpecItem element = many.at(i);
    if (!checkObject(element, ObjectKind::Signature,
                     R"(an object such as {"name": ..., "signature": {...}})"))
      continue;
    SpecSignature signature;
    signature.place = place(element);
    SpecItem own = child(element, "name");
    signature.entry = own ? name(own, "the C name of the entry point") : kernel.name;
    if (SpecItem parameters = child(element, "signature"))
      signature.parameters = readParameters(parameters);
    if (SpecItem configs = child(element, "configs"))
      signature.configs = readConfigs(configs);
    kernel.signatures.push_back(std::move(signature));
  }
}

std::vector<SpecBinding> SpecReader::readParameters(const SpecItem &item) {
  std::vector<SpecBinding> parameters;
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from parameter names to types and literals");
    return parameters;
  }
  for (const JsonMember &member : item.value->members) {
    SpecItem value = item.key(member);
    if (!isCIdentifier(member.key))
      report(DiagKind::SpecName, value, StringRef(member.key).take_front(60));
    else if (std::optional<SignatureValue> parsed = signatureValue(value))
      parameters.push_back({member.key, std::move(*parsed), place(value)});
  }
  return parameters;
}

std::vector<SpecBinding> SpecReader::readLiterals(const SpecItem &item) {
  std::vector<SpecBinding> bindings;
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from names to literals");
    return bindings;
  }
  for (const JsonMember &member : item.value->members) {
    SpecItem at = item.key(member);
    if (!isCIdentifier(member.key)) {
      report(DiagKind::SpecName, at, StringRef(member.key).take_front(60));
      continue;
    }
    if (std::optional<Literal> parsed = literal(at)) {
      SignatureValue value;
      value.asLiteral = std::move(*parsed);
      bindings.push_back({member.key, std::move(value), place(at)});
    }
  }
  return bindings;
}

void SpecReader::readKernelConfigs(const SpecItem &item, SpecKernel &kernel) {
  SpecItem configs = child(item, "configs");
  bool allHaveTheirOwn =
      !kernel.signatures.empty() && all_of(kernel.signatures, [](const SpecSignature &signature) {
        return signature.configs.has_value();
      });
  if (configs) {
    kernel.configs = readConfigs(configs);
    if (allHaveTheirOwn)
      report(DiagKind::SpecConfigsUnused, configs);
    return;
  }
  kernel.configs.place = kernel.place;
  kernel.configs.list.emplace_back();
  kernel.configs.list.back().place = kernel.place;
}

SpecConfigs SpecReader::readConfigs(const SpecItem &configs) {
  SpecConfigs read;
  read.place = place(configs);
  read.fromSource = configs.value->is(JsonValue::Kind::String) && configs.value->text == "source";
  if (read.fromSource || !checkList(configs, R"(a list of configs or "source")", 1, 10000))
    return read;
  for (size_t i = 0; i < configs.value->elements.size() && !diagnostics.isFull(); ++i)
    read.list.push_back(readConfig(configs.at(i)));
  return read;
}

/// What begins no target's name may be another spelling of one: "cuda:90:32", "emu:sm_90a".
void SpecReader::readConfigTargets(const SpecItem &list, SpecConfig &config) {
  if (!checkList(list, "a list of targets, or of how their names begin", 1, 64))
    return;
  for (size_t i = 0; i < list.value->elements.size(); ++i) {
    SpecItem at = list.at(i);
    std::optional<std::string> name = string(at, "a target's name, or how it begins");
    if (!name)
      continue;
    if (none_of(allTargets(), [&](const TargetInfo &target) {
          return StringRef(target.name).starts_with(*name);
        })) {
      Expected<TargetInfo> target = parseTarget(*name);
      if (!target) {
        report(DiagKind::SpecTarget, at, toString(target.takeError()));
        continue;
      }
      name = target->hardwareName();
    }
    if (is_contained(config.targets, *name))
      report(DiagKind::SpecRepeated, at, *name);
    config.targets.push_back(std::move(*name));
  }
}

/// A config gives values: the text of a type in it is a mistake, and is reported. False then.
bool SpecReader::refuseType(const SpecItem &item) {
  if (!item.value->is(JsonValue::Kind::String))
    return true;
  StringRef written = item.value->text;
  SignatureValue value = parseSignatureValue(written);
  if (!value.asType && !isSurelyType(written))
    return true;
  std::string hint = "types stand in the signature";
  if (value.asType && value.asType->spelling() == elementName(value.asType->element))
    hint +=
        formatv("; {{\"dtype\": \"{0}\"} is the dtype, {{\"string\": \"{0}\"} the text", written);
  report(DiagKind::SpecLiteral, item,
         formatv("expected a value, got the type '{0}'", written.take_front(60)).str())
      .withHint(hint);
  return false;
}

SpecConfig SpecReader::readConfig(const SpecItem &item) {
  SpecConfig config;
  config.place = place(item);
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from parameter and option names to values");
    return config;
  }
  for (const JsonMember &member : item.value->members) {
    SpecItem at = item.key(member);
    config.keys.push_back({member.key, {at.path, range(member.keyBegin, member.value.end)}});
    if (readOption(at, member.key, config.options))
      continue;
    if (member.key == "targets") {
      readConfigTargets(at, config);
      continue;
    }
    if (member.key == "extern_libs" && member.value.is(JsonValue::Kind::Object)) {
      readLibraries(at, config);
      continue;
    }
    if (!isCIdentifier(member.key)) {
      report(DiagKind::SpecName, at, StringRef(member.key).take_front(60));
    } else if (!refuseType(at)) {
      continue;
    } else if (std::optional<Literal> parsed = literal(at)) {
      SignatureValue value;
      value.asLiteral = std::move(*parsed);
      config.values.push_back({member.key, std::move(value), place(at)});
    }
  }
  return config;
}

/// True when `key` is an option, whatever becomes of its value.
bool SpecReader::readOption(const SpecItem &item, StringRef key, SpecOptions &out) {
  if (!isOption(key))
    return false;
  if (std::optional<std::string> what = setOption(out, key, *item.value))
    expected(item, *what);
  return true;
}

/// What Triton's "extern_libs" names: its pairs, as Triton keeps them.
void SpecReader::readLibraries(const SpecItem &item, SpecConfig &config) {
  std::vector<Literal> pairs;
  for (const JsonMember &member : item.value->members)
    if (std::optional<std::string> path = string(item.key(member), "the path of a file"))
      pairs.push_back(Literal::ofTuple({Literal::ofString(member.key), Literal::ofString(*path)}));
  SignatureValue value;
  value.asLiteral = Literal::ofTuple(std::move(pairs));
  config.values.push_back({"extern_libs", std::move(value), place(item)});
}

void SpecReader::readExpressions(const SpecItem &list, std::vector<SpecExpression> &out) {
  for (size_t i = 0; i < list.value->elements.size(); ++i)
    if (std::optional<SpecExpression> parsed = expression(list.at(i)))
      out.push_back(std::move(*parsed));
}

void SpecReader::readLaunch(const SpecItem &item, SpecKernel &kernel) {
  SpecItem launch = child(item, "launch");
  if (!launch)
    return;
  if (!launch.value->is(JsonValue::Kind::Object)) {
    expected(launch, "an object from names to integer types");
    return;
  }
  for (const JsonMember &member : launch.value->members) {
    SpecItem at = launch.key(member);
    std::optional<std::string> text = string(at, "an integer type, such as \"i32\"");
    TextError error;
    std::optional<ArgumentType> type = text ? parseArgumentType(*text, error) : std::nullopt;
    if (!isCIdentifier(member.key)) {
      report(DiagKind::SpecName, at, StringRef(member.key).take_front(60));
    } else if (text && (!type || !type->isInteger() || *text != elementName(type->element))) {
      report(DiagKind::SpecType, at,
             formatv("expected an integer type, got '{0}'", StringRef(*text).take_front(60)).str())
          .withHint("such as \"i32\"; \"when\" says what its values have to be");
    } else if (type) {
      SignatureValue value;
      value.asType = std::move(type);
      kernel.launch.push_back({member.key, std::move(value), place(at)});
    }
  }
}

void SpecReader::readGrid(const SpecItem &item, SpecKernel &kernel) {
  SpecItem grid = child(item, "grid");
  if (grid && checkList(grid, "a list of one to three expressions", 1, 3))
    readExpressions(grid, kernel.grid);
}

void SpecReader::readConditions(const SpecItem &item, SpecKernel &kernel) {
  SpecItem when = child(item, "when");
  if (when && checkList(when, "a list of one to eight conditions", 1, 8))
    readExpressions(when, kernel.conditions);
}

} // namespace

std::optional<Spec> readSpec(const SourceFile &file, DiagnosticEngine &diagnostics,
                             const SpecReadOptions &options) {
  return SpecReader(file, diagnostics, options).read();
}

} // namespace kiln
