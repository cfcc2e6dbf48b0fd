//===- SpecReader.cpp - from JSON text to a Spec --------------------------===//
//
// Three layers: checked access to JSON values (this file's first half), the objects of the format
// (its second half), and checks across objects (SpecChecks.cpp).
//
//===----------------------------------------------------------------------===//
#include "codegen/SpecReader.h"
#include "codegen/CNames.h"
#include "codegen/JsonText.h"
#include "codegen/SpecChecks.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln {

namespace {

enum class ObjectKind { Library, Kernel, Signature, Dispatch };

struct SpecKey {
  ObjectKind object;
  StringRef name;
  bool isRequired;
};

constexpr SpecKey kKeys[] = {
#define KILN_SPEC_KEY(Object, Name, Required) {ObjectKind::Object, Name, Required},
#include "codegen/SpecKeys.def"
};

/// A JSON value and its path.
struct Item {
  const JsonValue *value = nullptr;
  std::string path;

  Item at(size_t i) const { return {&value->elements[i], path + "[" + std::to_string(i) + "]"}; }
  Item key(const JsonMember &member) const {
    return {&member.value, (path.empty() ? "" : path + ".") + member.key};
  }
  explicit operator bool() const { return value; }
};

class SpecReader {
public:
  SpecReader(const SourceFile &file, DiagnosticEngine &diagnostics, const SpecReadOptions &options)
      : file(file), text(file.getContents()), diagnostics(diagnostics), options(options) {}

  std::optional<Spec> read();

private:
  const SourceFile &file;
  StringRef text;
  DiagnosticEngine &diagnostics;
  const SpecReadOptions &options;

  //--- Checked access ---
  SourceRange range(size_t begin, size_t end) const {
    return {file.getId(), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  /// A container is shown by its opening bracket alone.
  SourceRange range(const JsonValue &value) const {
    bool isContainer = value.is(JsonValue::Kind::Object) || value.is(JsonValue::Kind::Array);
    return range(value.begin, isContainer ? value.begin + 1 : value.end);
  }
  SpecPlace place(const Item &item) const {
    return {item.path.empty() ? "the spec" : item.path, range(*item.value)};
  }
  template <typename... Args>
  Diagnostic &report(DiagKind kind, const Item &item, const Args &...args) {
    SpecPlace at = place(item);
    return diagnostics.report(kind, at.range, at.path, args...);
  }
  void expected(const Item &item, const Twine &what) {
    report(DiagKind::SpecExpected, item, what.str(), item.value->describe());
  }
  void reportJson(const JsonError &error);
  void reportInString(DiagKind kind, const Item &item, const TextError &error);

  bool checkObject(const Item &item, ObjectKind kind, StringRef what);
  Item child(const Item &item, StringRef key) const {
    const JsonMember *member = item.value->find(key);
    return member ? item.key(*member) : Item();
  }
  bool checkList(const Item &item, StringRef what, size_t minSize, size_t maxSize);
  std::optional<std::string> string(const Item &item, StringRef what);
  std::optional<int64_t> integer(const Item &item, int64_t low, int64_t high);
  std::string name(const Item &item, StringRef what);
  std::string path(const Item &item, StringRef what);

  //--- Values ---
  std::optional<Literal> literal(const Item &item);
  std::optional<Literal> taggedLiteral(const Item &item);
  std::optional<SignatureValue> namedTuple(const Item &item);
  std::optional<SignatureValue> signatureValue(const Item &item);

  //--- Objects ---
  void readHeader(const Item &root, Spec &spec);
  void readTargets(const Item &root, Spec &spec);
  void addTarget(Spec &spec, StringRef name, DiagPlace where, StringRef path);
  std::optional<SpecKernel> readKernel(const Item &item);
  void readSignatures(const Item &item, SpecKernel &kernel);
  std::vector<SpecBinding> readParameters(const Item &item);
  void readConfigs(const Item &item, SpecKernel &kernel);
  bool refuseType(const Item &item);
  SpecConfig readConfig(const Item &item);
  bool readOption(const Item &item, StringRef key, SpecOptions &out);
  void readExpressions(const Item &list, std::vector<SpecExpression> &out);
  void readGrid(const Item &item, SpecKernel &kernel);
  void readConditions(const Item &item, SpecKernel &kernel);
  void readDispatch(const Item &item, SpecKernel &kernel);
  std::vector<SpecBinding> readLiterals(const Item &item);
};

//===----------------------------------------------------------------------===//
// Checked access
//===----------------------------------------------------------------------===//

void SpecReader::reportJson(const JsonError &error) {
  SourceRange at = range(error.begin, error.end);
  switch (error.kind) {
  case JsonError::Kind::Syntax:
    diagnostics.report(DiagKind::SpecSyntax, at, error.message);
    return;
  case JsonError::Kind::TooDeep:
    diagnostics.report(DiagKind::SpecTooDeep, at, error.message);
    return;
  case JsonError::Kind::BadNumber:
    diagnostics.report(DiagKind::SpecBadNumber, at, error.message);
    return;
  case JsonError::Kind::BadEncoding:
    diagnostics.report(DiagKind::SpecNotUtf8, at);
    return;
  case JsonError::Kind::DuplicateKey:
    diagnostics.report(DiagKind::SpecDuplicateKey, at, error.message)
        .note(DiagKind::SpecFirstHere, range(error.firstBegin, error.firstEnd));
    return;
  }
}

/// An error inside a JSON string, shown at the offending characters of the file.
void SpecReader::reportInString(DiagKind kind, const Item &item, const TextError &error) {
  size_t begin = offsetInJsonString(text, *item.value, error.begin);
  size_t end = offsetInJsonString(text, *item.value, error.end);
  Diagnostic &diagnostic =
      diagnostics.report(kind, range(begin, std::max(end, begin + 1)), item.path, error.message);
  if (!error.hint.empty())
    diagnostic.withHint(error.hint);
}

bool SpecReader::checkObject(const Item &item, ObjectKind kind, StringRef what) {
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, what);
    return false;
  }
  SmallVector<StringRef> known;
  for (const SpecKey &key : kKeys) {
    if (key.object != kind)
      continue;
    known.push_back(key.name);
    if (key.isRequired && !item.value->find(key.name))
      report(DiagKind::SpecMissingKey, item, key.name);
  }
  for (const JsonMember &member : item.value->members)
    if (!is_contained(known, member.key))
      diagnostics
          .report(DiagKind::SpecUnknownKey, range(member.keyBegin, member.keyEnd), place(item).path,
                  member.key)
          .withHint(member.key.size() < 60 ? suggestName(member.key, known) : "");
  return true;
}

bool SpecReader::checkList(const Item &item, StringRef what, size_t minSize, size_t maxSize) {
  bool isList = item.value->is(JsonValue::Kind::Array);
  size_t size = item.value->elements.size();
  if (isList && size >= minSize && size <= maxSize)
    return true;
  report(DiagKind::SpecExpected, item, what,
         isList && size > maxSize ? std::to_string(size) + " elements" : item.value->describe());
  return false;
}

std::optional<std::string> SpecReader::string(const Item &item, StringRef what) {
  if (item.value->is(JsonValue::Kind::String))
    return item.value->text;
  expected(item, what);
  return std::nullopt;
}

std::optional<int64_t> SpecReader::integer(const Item &item, int64_t low, int64_t high) {
  int64_t value = item.value->integer;
  if (item.value->is(JsonValue::Kind::Integer) && value >= low && value <= high)
    return value;
  expected(item, formatv("an integer from {0} to {1}", low, high).str());
  return std::nullopt;
}

/// A name that becomes C names at file scope; "" after an error.
std::string SpecReader::name(const Item &item, StringRef what) {
  std::optional<std::string> value = string(item, what);
  if (!value)
    return "";
  if (!isCIdentifier(*value)) {
    report(DiagKind::SpecName, item, StringRef(*value).take_front(60));
    return "";
  }
  if (std::string reason = reservedBecause(*value); !reason.empty()) {
    report(DiagKind::SpecReservedName, item, *value, reason);
    return "";
  }
  return *value;
}

std::string SpecReader::path(const Item &item, StringRef what) {
  std::optional<std::string> value = string(item, what);
  bool isUsable = value && !value->empty() && value->find('\0') == std::string::npos;
  if (value && !isUsable)
    report(DiagKind::SpecPath, item, what, StringRef(value->c_str()));
  return isUsable ? *value : "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<Literal> SpecReader::literal(const Item &item) {
  const JsonValue &value = *item.value;
  switch (value.kind) {
  case JsonValue::Kind::Null:
    return Literal::none();
  case JsonValue::Kind::Bool:
    return Literal::ofBool(value.boolean);
  case JsonValue::Kind::Integer:
    return Literal::ofInt(value.integer);
  case JsonValue::Kind::Real:
    return Literal::ofFloat(value.real);
  case JsonValue::Kind::String: {
    std::optional<Literal> parsed = parseLiteral(value.text);
    return parsed ? parsed : Literal::ofString(value.text);
  }
  case JsonValue::Kind::Object:
    return taggedLiteral(item);
  case JsonValue::Kind::Array:
    break;
  }
  std::vector<Literal> elements;
  for (size_t i = 0; i < value.elements.size(); ++i) {
    std::optional<Literal> element = literal(item.at(i));
    if (!element)
      return std::nullopt;
    elements.push_back(std::move(*element));
  }
  return Literal::ofTuple(std::move(elements));
}

/// {"dtype": "fp16"}, {"function": "name"} or {"string": "1024"}; {"namedtuple": {...}} only stands
/// where types may stand (signatureValue).
std::optional<Literal> SpecReader::taggedLiteral(const Item &item) {
  const std::vector<JsonMember> &members = item.value->members;
  bool isOne = members.size() == 1 && members[0].value.is(JsonValue::Kind::String);
  StringRef tag = isOne ? StringRef(members[0].key) : "";
  if (tag == "string")
    return Literal::ofString(members[0].value.text);
  if (tag == "function") {
    StringRef function = members[0].value.text;
    SmallVector<StringRef> parts;
    function.split(parts, '.');
    if (all_of(parts, isCIdentifier))
      return Literal::ofFunction(function.str());
    report(DiagKind::SpecLiteral, item.key(members[0]),
           formatv("expected the name of a function, got '{0}'", function.take_front(60)).str())
        .withHint("a name of the kernel's module: \"relu\", or of one it imports: "
                  "\"activations.relu\"");
    return std::nullopt;
  }
  if (tag != "dtype") {
    expected(item, R"({"dtype": ...}, {"function": ...} or {"string": ...})");
    return std::nullopt;
  }
  StringRef dtype = members[0].value.text;
  dtype.consume_front("tl.");
  if (std::optional<ElementType> element = parseElementType(dtype))
    return Literal::ofDType(elementName(*element).str());
  std::string nearest = nearestElementType(dtype);
  report(DiagKind::SpecLiteral, item.key(members[0]),
         formatv("unknown dtype '{0}'", dtype.take_front(40)).str())
      .withHint(nearest.empty() ? "" : "did you mean '" + nearest + "'?");
  return std::nullopt;
}

/// {"namedtuple": {"ptr": "*fp32", "n": "i32"}}: a tuple whose elements the kernel may name.
std::optional<SignatureValue> SpecReader::namedTuple(const Item &item) {
  if (!item.value->is(JsonValue::Kind::Object) || item.value->members.empty()) {
    expected(item, "an object from the names of a tuple's elements to types and literals");
    return std::nullopt;
  }
  std::vector<SignatureValue> elements;
  std::vector<std::string> fields;
  for (const JsonMember &member : item.value->members) {
    Item value = item.key(member);
    if (!isCIdentifier(member.key)) {
      report(DiagKind::SpecName, value, StringRef(member.key).take_front(60));
      return std::nullopt;
    }
    std::optional<SignatureValue> element = signatureValue(value);
    if (!element)
      return std::nullopt;
    elements.push_back(std::move(*element));
    fields.push_back(member.key);
  }
  return SignatureValue::ofTuple(std::move(elements), std::move(fields));
}

std::optional<SignatureValue> SpecReader::signatureValue(const Item &item) {
  SignatureValue result;
  if (item.value->is(JsonValue::Kind::String)) {
    result = parseSignatureValue(item.value->text);
    if (result.asType || !isSurelyType(item.value->text))
      return result;
    TextError error;
    parseArgumentType(item.value->text, error);
    reportInString(DiagKind::SpecType, item, error);
    return std::nullopt;
  }
  if (const JsonMember *fields =
          item.value->is(JsonValue::Kind::Object) ? item.value->find("namedtuple") : nullptr;
      fields && item.value->members.size() == 1)
    return namedTuple(item.key(*fields));
  if (!item.value->is(JsonValue::Kind::Array)) {
    result.asLiteral = literal(item);
    return result.asLiteral ? std::optional<SignatureValue>(result) : std::nullopt;
  }
  std::vector<SignatureValue> elements;
  for (size_t i = 0; i < item.value->elements.size(); ++i) {
    std::optional<SignatureValue> element = signatureValue(item.at(i));
    if (!element)
      return std::nullopt;
    elements.push_back(std::move(*element));
  }
  return SignatureValue::ofTuple(std::move(elements));
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

std::optional<Spec> SpecReader::read() {
  unsigned errorsBefore = diagnostics.getNumErrors();
  std::vector<JsonError> errors;
  std::optional<JsonValue> json = parseJson(text, errors);
  for (const JsonError &error : errors)
    reportJson(error);
  if (!json)
    return std::nullopt;
  Item root{&*json, ""};
  if (!checkObject(root, ObjectKind::Library, "an object"))
    return std::nullopt;
  Spec spec;
  spec.place = place(root);
  readHeader(root, spec);
  readTargets(root, spec);
  Item kernels = child(root, "kernels");
  if (kernels && checkList(kernels, "a list of kernels", 1, 100000))
    for (size_t i = 0; i < kernels.value->elements.size() && !diagnostics.isFull(); ++i)
      if (std::optional<SpecKernel> kernel = readKernel(kernels.at(i)))
        spec.kernels.push_back(std::move(*kernel));
  if (diagnostics.getNumErrors() == errorsBefore)
    checkNames(spec, diagnostics);
  if (diagnostics.getNumErrors() != errorsBefore)
    return std::nullopt;
  return spec;
}

void SpecReader::readHeader(const Item &root, Spec &spec) {
  if (Item version = child(root, "kiln")) {
    if (!version.value->is(JsonValue::Kind::Integer))
      expected(version, "the integer 1");
    else if (version.value->integer != 1)
      report(DiagKind::SpecVersion, version, version.value->integer);
  }
  if (Item schema = child(root, "$schema"))
    string(schema, "a string");
  if (Item budget = child(root, "size_budget"))
    spec.sizeBudget = static_cast<uint64_t>(integer(budget, 1, int64_t(1) << 50).value_or(0));
  Item library = child(root, "library");
  if (library)
    spec.library = name(library, "the library's name");
  else if (options.library.empty())
    report(DiagKind::SpecMissingKey, root, "library");
  if (!options.library.empty())
    spec.library = options.library;
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

void SpecReader::readTargets(const Item &root, Spec &spec) {
  Item targets = child(root, "targets");
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

std::optional<SpecKernel> SpecReader::readKernel(const Item &item) {
  if (!checkObject(item, ObjectKind::Kernel, "an object that describes a kernel"))
    return std::nullopt;
  SpecKernel kernel;
  kernel.place = place(item);
  if (Item value = child(item, "name")) {
    kernel.name = name(value, "the C name of the entry point");
    kernel.namePlace = place(value);
  }
  if (Item value = child(item, "source")) {
    kernel.source = path(value, "the path of a Python file");
    kernel.sourcePlace = place(value);
  }
  if (Item value = child(item, "kernel")) {
    kernel.kernel = string(value, "the name of a @triton.jit function").value_or("");
    kernel.kernelPlace = place(value);
    if (value.value->is(JsonValue::Kind::String) && !isCIdentifier(kernel.kernel))
      expected(value, "the name of a @triton.jit function");
  }
  readSignatures(item, kernel);
  readConfigs(item, kernel);
  readGrid(item, kernel);
  readConditions(item, kernel);
  readDispatch(item, kernel);
  if (Item constants = child(item, "constants"))
    kernel.constants = readLiterals(constants);
  if (Item debug = child(item, "debug")) {
    kernel.debug = debug.value->boolean;
    if (!debug.value->is(JsonValue::Kind::Bool))
      expected(debug, "true or false");
  }
  checkKernel(kernel, diagnostics);
  return kernel;
}

void SpecReader::readSignatures(const Item &item, SpecKernel &kernel) {
  Item one = child(item, "signature"), many = child(item, "signatures");
  if (one && many) {
    report(DiagKind::SpecExclusiveKeys, item, "signature", "signatures");
    return;
  }
  if (!one && !many) {
    report(DiagKind::SpecMissingKey, item, "signature");
    return;
  }
  if (one) {
    kernel.signatures.push_back({kernel.name, readParameters(one), place(one)});
    return;
  }
  if (!checkList(many, "a list of signatures", 1, 10000))
    return;
  for (size_t i = 0; i < many.value->elements.size() && !diagnostics.isFull(); ++i) {
    Item element = many.at(i);
    if (!checkObject(element, ObjectKind::Signature,
                     R"(an object such as {"name": ..., "signature": {...}})"))
      continue;
    SpecSignature signature;
    signature.place = place(element);
    Item own = child(element, "name");
    signature.entry = own ? name(own, "the C name of the entry point") : kernel.name;
    if (Item parameters = child(element, "signature"))
      signature.parameters = readParameters(parameters);
    kernel.signatures.push_back(std::move(signature));
  }
}

std::vector<SpecBinding> SpecReader::readParameters(const Item &item) {
  std::vector<SpecBinding> parameters;
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from parameter names to types and literals");
    return parameters;
  }
  for (const JsonMember &member : item.value->members) {
    Item value = item.key(member);
    if (!isCIdentifier(member.key))
      report(DiagKind::SpecName, value, StringRef(member.key).take_front(60));
    else if (std::optional<SignatureValue> parsed = signatureValue(value))
      parameters.push_back({member.key, std::move(*parsed), place(value)});
  }
  return parameters;
}

std::vector<SpecBinding> SpecReader::readLiterals(const Item &item) {
  std::vector<SpecBinding> bindings;
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from names to literals");
    return bindings;
  }
  for (const JsonMember &member : item.value->members) {
    Item at = item.key(member);
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

void SpecReader::readConfigs(const Item &item, SpecKernel &kernel) {
  Item configs = child(item, "configs");
  if (!configs) {
    kernel.configs.emplace_back();
    kernel.configs.back().place = kernel.place;
    return;
  }
  if (configs.value->is(JsonValue::Kind::String) && configs.value->text == "source") {
    kernel.configsFromSource = true;
    return;
  }
  if (!checkList(configs, R"(a list of configs or "source")", 1, 10000))
    return;
  for (size_t i = 0; i < configs.value->elements.size() && !diagnostics.isFull(); ++i)
    kernel.configs.push_back(readConfig(configs.at(i)));
}

/// A config gives values: the text of a type in it is a mistake, and is reported. False then.
bool SpecReader::refuseType(const Item &item) {
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

SpecConfig SpecReader::readConfig(const Item &item) {
  SpecConfig config;
  config.place = place(item);
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from parameter and option names to values");
    return config;
  }
  for (const JsonMember &member : item.value->members) {
    Item at = item.key(member);
    if (readOption(at, member.key, config.options))
      continue;
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
bool SpecReader::readOption(const Item &item, StringRef key, SpecOptions &out) {
  struct Option {
    StringRef key;
    std::optional<int64_t> SpecOptions::*field;
    int64_t low, high;
    bool isPowerOf2;
  };
  static const Option known[] = {
      {"num_warps", &SpecOptions::numWarps, 1, 32, true},
      {"num_stages", &SpecOptions::numStages, 0, 32, false},
      {"num_ctas", &SpecOptions::numCtas, 1, 16, true},
      {"maxnreg", &SpecOptions::maxRegisters, 8, 512, false},
      {"waves_per_eu", &SpecOptions::wavesPerEu, 0, 16, false},
      {"matrix_instr_nonkdim", &SpecOptions::matrixInstrNonKDim, 0, 32, false},
      {"kpack", &SpecOptions::kpack, 1, 2, false},
  };
  for (const Option &option : known) {
    if (option.key != key)
      continue;
    int64_t value = item.value->integer;
    bool isInteger = item.value->is(JsonValue::Kind::Integer);
    if (option.isPowerOf2 && !(isInteger && value >= option.low && value <= option.high &&
                               isPowerOf2_64(static_cast<uint64_t>(value))))
      expected(item, formatv("a power of two from {0} to {1}", option.low, option.high).str());
    else
      out.*option.field = integer(item, option.low, option.high);
    return true;
  }
  return false;
}

void SpecReader::readExpressions(const Item &list, std::vector<SpecExpression> &out) {
  for (size_t i = 0; i < list.value->elements.size(); ++i) {
    Item at = list.at(i);
    if (at.value->is(JsonValue::Kind::Integer)) {
      if (std::optional<int64_t> constant = integer(at, 0, INT32_MAX))
        out.push_back({Expression::ofConstant(*constant), place(at)});
      continue;
    }
    std::optional<std::string> source = string(at, "an expression");
    TextError error;
    if (!source)
      continue;
    if (std::optional<Expression> parsed = Expression::parse(*source, error))
      out.push_back({std::move(*parsed), place(at)});
    else
      reportInString(DiagKind::SpecExpression, at, error);
  }
}

void SpecReader::readGrid(const Item &item, SpecKernel &kernel) {
  Item grid = child(item, "grid");
  if (grid && checkList(grid, "a list of one to three expressions", 1, 3))
    readExpressions(grid, kernel.grid);
}

void SpecReader::readConditions(const Item &item, SpecKernel &kernel) {
  Item when = child(item, "when");
  if (when && checkList(when, "a list of one to eight conditions", 1, 8))
    readExpressions(when, kernel.conditions);
}

void SpecReader::readDispatch(const Item &item, SpecKernel &kernel) {
  Item dispatch = child(item, "dispatch");
  if (!dispatch ||
      !checkObject(dispatch, ObjectKind::Dispatch, R"(an object with "key" and "tuning")"))
    return;
  if (Item tuning = child(dispatch, "tuning")) {
    kernel.tuning = path(tuning, "the path of a tuning file");
    kernel.tuningPlace = place(tuning);
    if (!kernel.tuning.empty())
      report(DiagKind::SpecTuningUnused, tuning);
  }
  Item key = child(dispatch, "key");
  if (!key || !checkList(key, "a list of one to eight argument names", 1, 8))
    return;
  for (size_t i = 0; i < key.value->elements.size(); ++i) {
    Item at = key.at(i);
    std::optional<std::string> name = string(at, "an argument's name");
    if (!name)
      continue;
    if (is_contained(kernel.dispatchKey, *name))
      report(DiagKind::SpecRepeated, at, *name);
    else if (checkKey(kernel, *name, place(at), diagnostics))
      kernel.dispatchKey.push_back(*name);
  }
}

} // namespace

std::optional<Spec> readSpec(const SourceFile &file, DiagnosticEngine &diagnostics,
                             const SpecReadOptions &options) {
  return SpecReader(file, diagnostics, options).read();
}

} // namespace kiln
