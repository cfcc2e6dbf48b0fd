//===- SpecChecks.cpp - rules across the objects of a spec ----------------===//
#include "codegen/SpecChecks.h"
#include "codegen/CNames.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace kiln {

const SpecBinding *SpecSignature::find(StringRef name) const {
  for (const SpecBinding &binding : parameters)
    if (binding.name == name)
      return &binding;
  return nullptr;
}

std::vector<std::string> SpecKernel::entryNames() const {
  std::vector<std::string> names;
  for (const SpecSignature &signature : signatures)
    if (!is_contained(names, signature.entry))
      names.push_back(signature.entry);
  return names;
}

std::vector<const SpecConfigs *> SpecKernel::configLists() const {
  std::vector<const SpecConfigs *> lists;
  for (const SpecSignature &signature : signatures)
    if (!is_contained(lists, &configsOf(signature)))
      lists.push_back(&configsOf(signature));
  return lists;
}

bool SpecConfig::isFor(const TargetInfo &target) const {
  std::string name = target.hardwareName();
  return targets.empty() || any_of(targets, [&](StringRef beginning) {
           return StringRef(name).starts_with(beginning);
         });
}

/// What a binding says, as comparable text.
static std::string valueText(const SignatureValue &value) {
  if (value.isTuple()) {
    std::string text = "(";
    for (size_t i = 0; i < value.elements.size(); ++i)
      text +=
          (value.fields.empty() ? "" : value.fields[i] + "=") + valueText(value.elements[i]) + ",";
    return text + ")";
  }
  return value.asType ? value.asType->spelling() : value.asLiteral ? value.asLiteral->str() : "?";
}

static std::string bindingsText(ArrayRef<SpecBinding> bindings) {
  std::vector<std::string> parts;
  for (const SpecBinding &binding : bindings)
    parts.push_back(binding.name + "=" + valueText(binding.value));
  sort(parts);
  return join(parts, ";");
}

static std::string configText(const SpecConfig &config) {
  const SpecOptions &options = config.options;
  std::string text = bindingsText(config.values);
  for (const std::optional<int64_t> &option :
       {options.numWarps, options.numStages, options.numCtas, options.maxRegisters,
        options.wavesPerEu, options.matrixInstrNonKDim, options.kpack})
    text += "|" + (option ? std::to_string(*option) : "");
  text +=
      formatv("|{0}|{1}|{2}", options.launchesEarly, options.isCooperative, options.fusesProducts);
  return text + "|" + join(config.targets, ",");
}

static void checkRepeats(const SpecKernel &kernel, DiagnosticEngine &diagnostics) {
  StringMap<const SpecPlace *> known;
  auto check = [&](const std::string &text, const SpecPlace &place) {
    auto [entry, isNew] = known.try_emplace(text, &place);
    if (!isNew)
      diagnostics.report(DiagKind::SpecUnreachable, place.range, place.path, entry->second->path)
          .note(DiagKind::SpecFirstHere, entry->second->range);
  };
  for (const SpecConfigs *configs : kernel.configLists())
    for (const SpecConfig &config : configs->list)
      check("config of " + configs->place.path + " " + configText(config), config.place);
  for (const SpecSignature &signature : kernel.signatures)
    check("signature " + signature.entry + " " + bindingsText(signature.parameters),
          signature.place);
}

static void checkAgreement(const SpecSignature &earlier, const SpecSignature &later,
                           DiagnosticEngine &diagnostics) {
  for (const SpecBinding &binding : later.parameters) {
    const SpecBinding *other = earlier.find(binding.name);
    if (!other || !other->value.asType || !binding.value.asType ||
        binding.value.asType->sameCType(*other->value.asType))
      continue;
    diagnostics
        .report(DiagKind::SpecDisagreement, binding.place.range, binding.place.path, binding.name,
                binding.value.asType->spelling(), other->value.asType->spelling())
        .note(DiagKind::SpecFirstHere, other->place.range);
  }
}

/// A parameter has a value in the signature or in its configs.
static void checkBoundOnce(const SpecKernel &kernel, const SpecConfigs &configs,
                           DiagnosticEngine &diagnostics) {
  for (const SpecConfig &config : configs.list)
    for (const SpecBinding &value : config.values)
      for (const SpecSignature &signature : kernel.signatures) {
        const SpecBinding *other =
            &kernel.configsOf(signature) == &configs ? signature.find(value.name) : nullptr;
        if (!other)
          continue;
        diagnostics
            .report(DiagKind::SpecBoundTwice, value.place.range, value.place.path, value.name,
                    other->place.path)
            .note(DiagKind::SpecFirstHere, other->place.range);
        break;
      }
}

void checkKernel(const SpecKernel &kernel, DiagnosticEngine &diagnostics) {
  checkRepeats(kernel, diagnostics);
  for (size_t later = 1; later < kernel.signatures.size(); ++later)
    for (size_t earlier = 0; earlier < later && !diagnostics.isFull(); ++earlier)
      if (kernel.signatures[earlier].entry == kernel.signatures[later].entry) {
        checkAgreement(kernel.signatures[earlier], kernel.signatures[later], diagnostics);
        break; // agreement with the first implies agreement among all
      }
  for (const SpecConfigs *configs : kernel.configLists())
    checkBoundOnce(kernel, *configs, diagnostics);
}

void checkTargets(const Spec &spec, DiagnosticEngine &diagnostics) {
  for (const SpecKernel &kernel : spec.kernels)
    for (const SpecConfigs *configs : kernel.configLists())
      for (const TargetInfo &target : spec.targets)
        if (!configs->fromSource &&
            none_of(configs->list, [&](const SpecConfig &config) { return config.isFor(target); }))
          diagnostics.report(DiagKind::SpecNoConfig, configs->place.range, configs->place.path,
                             target.name);
}

/// Calls `visit` for the argument or constant that a binding is, or for each that a tuple is made
/// of, by the names that expressions use: "x_0", "x_ptr".
static void forEachPart(const std::string &name, const SignatureValue &value,
                        function_ref<void(const std::string &, const SignatureValue &)> visit) {
  if (!value.isTuple())
    return visit(name, value);
  for (const auto &[index, element] : enumerate(value.elements))
    forEachPart(name + "_" + (value.fields.empty() ? std::to_string(index) : value.fields[index]),
                element, visit);
}

/// The names of what stays an argument: of a tensor descriptor also those of its parts.
static void addRunTimeNames(const std::string &name, const ArgumentType &type,
                            std::vector<std::string> &names) {
  names.push_back(name);
  size_t rank = type.isDescriptor() ? type.blockShape.size() : 0;
  for (size_t i = 0; i < rank; ++i)
    names.push_back(name + "_shape_" + std::to_string(i));
  for (size_t i = 0; i + 1 < rank; ++i)
    names.push_back(name + "_stride_" + std::to_string(i));
}

bool checkArgumentName(const SpecKernel &kernel, StringRef name, const SpecPlace &place,
                       DiagnosticEngine &diagnostics) {
  std::vector<std::string> runTime, ofTuple;
  bool isKnown = false;
  for (const SpecSignature &signature : kernel.signatures)
    for (const SpecBinding &binding : signature.parameters)
      forEachPart(binding.name, binding.value,
                  [&](const std::string &part, const SignatureValue &value) {
                    isKnown |= part == name;
                    if (value.asType)
                      addRunTimeNames(part, *value.asType, runTime);
                    if (value.asType && binding.name == name)
                      ofTuple.push_back(part);
                  });
  for (const SpecBinding &parameter : kernel.launch)
    runTime.push_back(parameter.name);
  if (is_contained(runTime, name))
    return true;
  DiagKind kind = isKnown ? DiagKind::SpecNotRunTime : DiagKind::SpecUnknownArgument;
  Diagnostic &diagnostic = diagnostics.report(kind, place.range, place.path, name.take_front(60));
  if (!ofTuple.empty())
    diagnostic.withHint("each element is an argument: " + join(ofTuple, ", "));
  else if (!isKnown && name.size() < 60)
    diagnostic.withHint(suggestName(name, SmallVector<StringRef>(runTime.begin(), runTime.end())));
  return false;
}

void checkNames(const Spec &spec, DiagnosticEngine &diagnostics) {
  struct Owner {
    std::string entry;
    SpecPlace place;
  };
  StringMap<Owner> owners;
  for (const std::string &name : libraryCNames(spec.library))
    owners[name] = {"", spec.place};
  auto claim = [&](const std::string &entry, const SpecPlace &place) {
    for (const std::string &name : entryCNames(entry)) {
      auto [known, isNew] = owners.try_emplace(name, Owner{entry, place});
      // An entry point named as the library keeps its `_prepare`; the library's is left out.
      bool isLibraryPrepare =
          known->second.entry.empty() && entry == spec.library && name == spec.library + "_prepare";
      if (isNew || isLibraryPrepare)
        continue;
      diagnostics.report(DiagKind::SpecNameTaken, place.range, place.path, name)
          .note(DiagKind::SpecFirstHere, known->second.place.range);
      return;
    }
  };
  for (const SpecKernel &kernel : spec.kernels)
    for (const std::string &entry : kernel.entryNames()) {
      auto signature =
          find_if(kernel.signatures, [&](const SpecSignature &s) { return s.entry == entry; });
      claim(entry, entry == kernel.name ? kernel.namePlace : signature->place);
    }
}

bool checkExpression(const SpecExpression &expression,
                     ArrayRef<std::pair<std::string, ArgumentType>> arguments,
                     ArrayRef<std::pair<std::string, Literal>> constants,
                     DiagnosticEngine &diagnostics) {
  const SpecPlace &place = expression.place;
  for (const std::string &name : expression.expression.names()) {
    auto isNamed = [&](const auto &candidate) { return candidate.first == name; };
    const auto *argument = find_if(arguments, isNamed);
    const auto *constant = find_if(constants, isNamed);
    if (argument != arguments.end()) {
      if (argument->second.isInteger())
        continue;
      diagnostics.report(DiagKind::SpecNotInteger, place.range, place.path, name,
                         argument->second.spelling());
    } else if (constant != constants.end()) {
      if (constant->second.asInteger())
        continue;
      diagnostics.report(DiagKind::SpecNotInteger, place.range, place.path, name,
                         constant->second.str());
    } else {
      SmallVector<StringRef> candidates;
      for (const auto &candidate : arguments)
        candidates.push_back(candidate.first);
      for (const auto &candidate : constants)
        candidates.push_back(candidate.first);
      diagnostics.report(DiagKind::SpecUnknownArgument, place.range, place.path, name)
          .withHint(suggestName(name, candidates));
    }
    return false;
  }
  return true;
}

} // namespace kiln
