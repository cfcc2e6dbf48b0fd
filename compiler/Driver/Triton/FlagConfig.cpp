#include "compiler/Driver/Triton/FlagConfig.h"
#include "codegen/SpecOptions.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/Planning/TritonOptions.h"
#include "llvm/ADT/StringSwitch.h"

namespace kiln {
namespace {

/// A value as JSON has it, or as Python writes it; other text is a string.
JsonValue optionValue(llvm::StringRef text) {
  std::string json = llvm::StringSwitch<std::string>(text)
                         .Case("True", "true")
                         .Case("False", "false")
                         .Case("None", "null")
                         .Default(text.str());
  std::vector<JsonError> errors;
  std::optional<JsonValue> parsed = parseJson(json, errors);
  if (parsed && errors.empty())
    return std::move(*parsed);
  JsonValue string;
  string.kind = JsonValue::Kind::String;
  string.text = text.str();
  return string;
}

/// Of an option of Triton's, which only a kernel's parameter of that name would get.
Literal tritonValue(llvm::StringRef text) {
  JsonValue value = optionValue(text);
  bool isEmpty = value.is(JsonValue::Kind::Null) ||
                 (value.is(JsonValue::Kind::Object) && value.members.empty()) ||
                 (value.is(JsonValue::Kind::Array) && value.elements.empty());
  if (isEmpty)
    return Literal::none();
  if (value.is(JsonValue::Kind::Bool))
    return Literal::ofBool(value.boolean);
  return parseLiteral(text).value_or(Literal::ofString(text.str()));
}

std::string hintFor(llvm::StringRef name) {
  std::vector<llvm::StringRef> names = optionNames();
  for (const TritonOption &option : tritonOptions())
    names.push_back(option.name);
  std::string nearest = suggestName(name, names);
  return nearest.empty() ? "values of parameters stand in -s" : nearest;
}

} // namespace

bool FlagConfig::read(SpecConfig &config) {
  config.place.path = options.options.empty() ? "-w" : "--option";
  readLaunchFlag(config, "-w", "num_warps", options.numWarps);
  readLaunchFlag(config, "-ns", "num_stages", options.numStages);
  bool isGood = true;
  for (const auto &[name, text] : options.options)
    isGood &= readOption(config, name, text);
  // What compile.py does without -w.
  config.options.numWarps = config.options.numWarps.value_or(options.isTritonCompatible ? 1 : 4);
  config.options.numStages = config.options.numStages.value_or(3);
  return isGood;
}

void FlagConfig::readLaunchFlag(SpecConfig &config, llvm::StringRef flag, llvm::StringRef name,
                                std::optional<unsigned> given) {
  if (!given)
    return;
  JsonValue value;
  value.kind = JsonValue::Kind::Integer;
  value.integer = *given;
  setOption(config.options, name, value);
  config.keys.push_back({name.str(), {flag.str(), SourceRange()}});
}

bool FlagConfig::readOption(SpecConfig &config, llvm::StringRef name, llvm::StringRef text) {
  SpecPlace place{"--option " + name.str(), SourceRange()};
  bool isKilns = isOption(name);
  if (!isKilns && !findTritonOption(name)) {
    diagnostics
        .report(DiagKind::DriverBadFlag, DiagPlace(), "--option",
                "expected an option of configs before '=', got '" + name.str() + "'")
        .withHint(hintFor(name));
    return false;
  }
  for (const auto &[earlier, where] : config.keys)
    if (earlier == name) {
      diagnostics.report(DiagKind::DriverBadFlag, DiagPlace(), place.path,
                         (where.path == place.path ? "an earlier one" : where.path) +
                             " has given it a value");
      return false;
    }
  config.keys.push_back({name.str(), place});
  if (!isKilns) {
    SignatureValue value;
    value.asLiteral = tritonValue(text);
    config.values.push_back({name.str(), std::move(value), place});
    return true;
  }
  JsonValue value = optionValue(text);
  std::optional<std::string> what = setOption(config.options, name, value);
  if (what)
    diagnostics.report(DiagKind::SpecExpected, DiagPlace(), place.path, *what, value.describe());
  return !what;
}

} // namespace kiln
