#include "compiler/Driver/Planning/ArgumentBinding.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

/// One scalar, pointer, descriptor or constant of a parameter.
struct ArgumentBinder::Leaf {
  std::string name;
  SignatureValue value;
};

/// One parameter in one variant.
struct ArgumentBinder::Binding {
  const SpecPlace &place;
  const SpecSignature &signature;
  llvm::ArrayRef<NamedLiteral> config;
  const EntryModel &entry;
  VariantModel &variant;
};

static std::string elementOfTuple(const std::string &name, llvm::ArrayRef<std::string> fields,
                                  size_t index) {
  return name + "_" + (fields.empty() ? std::to_string(index) : fields[index]);
}

static SignatureValue valueOf(const Literal &literal) {
  SignatureValue value;
  value.asLiteral = literal;
  return value;
}

const KernelParameterInfo *ArgumentBinder::findParameter(llvm::StringRef name) const {
  auto it = llvm::find_if(summary.parameters,
                          [&](const auto &parameter) { return parameter.name == name; });
  return it == summary.parameters.end() ? nullptr : &*it;
}

//===----------------------------------------------------------------------===//
// The arguments of an entry point
//===----------------------------------------------------------------------===//

template <typename LeafType>
static void appendLeaves(const std::string &name, const SignatureValue &value,
                         std::vector<LeafType> &leaves) {
  for (size_t i = 0; i < value.elements.size(); ++i)
    appendLeaves(elementOfTuple(name, value.fields, i), value.elements[i], leaves);
  bool isLiteralTuple = value.asLiteral && value.asLiteral->kind == Literal::Kind::Tuple;
  for (size_t i = 0; isLiteralTuple && i < value.asLiteral->elements.size(); ++i)
    appendLeaves(elementOfTuple(name, {}, i), valueOf(value.asLiteral->elements[i]), leaves);
  if (!value.isTuple() && !isLiteralTuple)
    leaves.push_back({name, value});
}

/// What a signature says about a parameter; no leaves when it says nothing, empty after an error.
std::optional<std::vector<ArgumentBinder::Leaf>>
ArgumentBinder::leavesOf(const KernelParameterInfo &parameter, const SpecSignature &signature) {
  std::vector<Leaf> leaves;
  const SpecBinding *binding = signature.find(parameter.name);
  if (!binding)
    return leaves;
  llvm::Expected<SignatureValue> value = binding->value.resolve(parameter.isConstexpr);
  if (!value) {
    diagnostics
        .report(DiagKind::SpecType, binding->place.range, binding->place.path,
                llvm::toString(value.takeError()))
        .note(DiagKind::DriverParameterHere, parameter.range, parameter.name);
    return std::nullopt;
  }
  appendLeaves(parameter.name, *value, leaves);
  return leaves;
}

bool ArgumentBinder::add(const KernelParameterInfo &parameter, const Leaf &leaf,
                         EntryModel &entry) {
  const ArgumentType &type = *leaf.value.asType;
  std::vector<EntryArgument> parts = {{leaf.name, type}};
  if (type.isDescriptor()) {
    parts = descriptorParts(leaf.name, type);
    entry.descriptors.push_back(
        {unsigned(entry.arguments.size()), type.element, unsigned(type.blockShape.size())});
  }
  for (EntryArgument &part : parts) {
    bool isTaken =
        part.name != parameter.name && (findParameter(part.name) || findArgument(entry, part.name));
    if (isTaken) {
      const KernelParameterInfo *owner = findParameter(part.name);
      diagnostics
          .report(DiagKind::DriverArgumentName, parameter.range, kernel.kernel, parameter.name,
                  part.name)
          .note(DiagKind::DriverParameterHere, owner ? owner->range : parameter.range, part.name);
      return false;
    }
    entry.arguments.push_back(std::move(part));
  }
  return true;
}

/// Whether another signature's `other`, null where it has no such part, may share the argument that
/// `first` makes.
bool ArgumentBinder::agrees(const Leaf &first, const Leaf *other, const SpecBinding &binding) {
  if (other && !other->value.asType)
    return true; // A constant; bind() checks that it can be told at run time.
  if (other && other->value.asType->sameCType(*first.value.asType))
    return true;
  diagnostics.report(DiagKind::SpecDisagreement, binding.place.range, binding.place.path,
                     first.name, other ? other->value.asType->spelling() : "missing",
                     first.value.asType->spelling());
  return false;
}

bool ArgumentBinder::collect(const KernelParameterInfo &parameter, EntryModel &entry) {
  struct Said {
    const SpecBinding *binding;
    std::vector<Leaf> leaves;
  };
  std::vector<Said> signatures;
  // The most detailed signature says which parts there are.
  const Said *widest = nullptr;
  for (const SpecSignature &signature : kernel.signatures) {
    if (signature.entry != entry.name)
      continue;
    auto leaves = leavesOf(parameter, signature);
    if (!leaves)
      return false;
    if (!leaves->empty())
      signatures.push_back({signature.find(parameter.name), std::move(*leaves)});
  }
  for (const Said &said : signatures)
    if (!widest || said.leaves.size() > widest->leaves.size())
      widest = &said;
  for (size_t part = 0; widest && part < widest->leaves.size(); ++part) {
    const Leaf *first = nullptr;
    for (const Said &said : signatures) {
      auto leaf = llvm::find_if(
          said.leaves, [&](const Leaf &one) { return one.name == widest->leaves[part].name; });
      if (leaf != said.leaves.end() && leaf->value.asType && !first)
        first = &*leaf;
    }
    if (!first)
      continue;
    for (const Said &said : signatures) {
      auto leaf =
          llvm::find_if(said.leaves, [&](const Leaf &one) { return one.name == first->name; });
      if (!agrees(*first, leaf == said.leaves.end() ? nullptr : &*leaf, *said.binding))
        return false;
    }
    if (!add(parameter, *first, entry))
      return false;
  }
  return true;
}

bool ArgumentBinder::collect(EntryModel &entry) {
  for (const KernelParameterInfo &parameter : summary.parameters)
    if (!collect(parameter, entry))
      return false;
  for (const SpecBinding &parameter : kernel.launch) {
    if (findParameter(parameter.name) || findArgument(entry, parameter.name)) {
      reportLaunchName(parameter);
      return false;
    }
    entry.arguments.push_back({parameter.name, *parameter.value.asType, /*isForLaunch=*/true});
  }
  return true;
}

void ArgumentBinder::reportLaunchName(const SpecBinding &parameter) {
  diagnostics.report(DiagKind::DriverLaunchName, parameter.place.range, parameter.place.path,
                     parameter.name, kernel.kernel);
}

bool ArgumentBinder::checkLaunchNames(const VariantModel &variant) {
  for (const SpecBinding &parameter : kernel.launch)
    if (llvm::any_of(variant.constants, [&](const NamedLiteral &constant) {
          return constant.first == parameter.name;
        })) {
      reportLaunchName(parameter);
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// A parameter in a variant
//===----------------------------------------------------------------------===//

void ArgumentBinder::addConstant(VariantModel &variant, const std::string &name,
                                 const Literal &value) const {
  variant.constants.emplace_back(name, value);
  if (value.kind != Literal::Kind::Tuple)
    return;
  for (size_t i = 0; i < value.elements.size(); ++i)
    if (std::string element = elementOfTuple(name, {}, i); !findParameter(element))
      addConstant(variant, element, value.elements[i]);
}

/// Where other specialisations leave `name` to run time, this one is for calls with just this
/// value.
bool ArgumentBinder::bindLiteral(Binding &binding, const std::string &name, const Literal &value) {
  if (value.kind == Literal::Kind::Tuple) {
    for (size_t i = 0; i < value.elements.size(); ++i)
      if (!bindLiteral(binding, elementOfTuple(name, {}, i), value.elements[i]))
        return false;
  }
  std::optional<unsigned> argument = findArgument(binding.entry, name);
  if (!argument)
    return true;
  ArgumentFact fact;
  fact.argument = *argument;
  fact.equals = value.asInteger();
  if (!fact.equals || !binding.entry.arguments[*argument].type.isInteger()) {
    diagnostics.report(DiagKind::DriverNotDispatchable, binding.place.range, binding.place.path,
                       name, value.str());
    return false;
  }
  binding.variant.facts.push_back(fact);
  return true;
}

std::optional<ArgumentValue> ArgumentBinder::bindTuple(Binding &binding, const std::string &name,
                                                       const SignatureValue &value) {
  ArgumentValue tuple;
  tuple.kind = ArgumentValue::Kind::Tuple;
  tuple.fields = value.fields;
  for (size_t i = 0; i < value.elements.size(); ++i) {
    auto element = bindValue(binding, elementOfTuple(name, value.fields, i), value.elements[i]);
    if (!element)
      return std::nullopt;
    tuple.elements.push_back(std::move(*element));
  }
  return tuple;
}

/// A number, or the integer that the config, the signature or a default gives a parameter.
std::optional<int64_t> ArgumentBinder::blockExtent(Binding &binding, const BlockExtent &extent) {
  if (extent.name.empty())
    return extent.value;
  const KernelParameterInfo *parameter = findParameter(extent.name);
  const SpecBinding *given = binding.signature.find(extent.name);
  auto chosen = llvm::find_if(
      binding.config, [&](const NamedLiteral &value) { return value.first == extent.name; });
  const Literal *value = nullptr;
  if (chosen != binding.config.end())
    value = &chosen->second;
  else if (given && given->value.asLiteral)
    value = &*given->value.asLiteral;
  else if (!given && parameter && parameter->defaultValue)
    value = &*parameter->defaultValue;
  std::optional<int64_t> integer = value ? value->asInteger() : std::nullopt;
  if (integer && *integer >= 1)
    return integer;
  const SpecPlace &place = binding.place;
  if (value) {
    diagnostics.report(DiagKind::DriverBlockExtent, place.range, place.path, extent.name,
                       value->str());
    return std::nullopt;
  }
  std::vector<llvm::StringRef> known;
  for (const KernelParameterInfo &one : summary.parameters)
    known.push_back(one.name);
  diagnostics.report(DiagKind::DriverBlockExtent, place.range, place.path, extent.name, "unknown")
      .withHint(parameter ? "give '" + extent.name + "' a value in the signature or the config"
                          : suggestName(extent.name, known));
  return std::nullopt;
}

std::optional<ArgumentValue> ArgumentBinder::bindDescriptor(Binding &binding,
                                                            const std::string &name,
                                                            const ArgumentType &type) {
  ArgumentValue descriptor;
  descriptor.kind = ArgumentValue::Kind::Descriptor;
  descriptor.dtype = elementName(type.element).str();
  descriptor.padsWithNan = type.padsWithNan;
  unsigned first = *findArgument(binding.entry, name);
  for (unsigned part = 0; part < descriptorAt(binding.entry, first)->size(); ++part)
    binding.variant.parameters->push_back(first + part);
  for (const BlockExtent &written : type.blockShape) {
    auto extent = blockExtent(binding, written);
    if (!extent)
      return std::nullopt;
    // A grid may read it, and it tells variants apart.
    binding.variant.constants.emplace_back(
        name + "_block_" + std::to_string(descriptor.blockShape.size()), Literal::ofInt(*extent));
    descriptor.blockShape.push_back(*extent);
  }
  return descriptor;
}

std::optional<ArgumentValue> ArgumentBinder::bindValue(Binding &binding, const std::string &name,
                                                       const SignatureValue &value) {
  if (value.isTuple())
    return bindTuple(binding, name, value);
  if (value.asLiteral) {
    addConstant(binding.variant, name, *value.asLiteral);
    return bindLiteral(binding, name, *value.asLiteral)
               ? std::optional(ArgumentValue::ofConstant(*value.asLiteral))
               : std::nullopt;
  }
  const ArgumentType &type = *value.asType;
  if (type.isDescriptor())
    return bindDescriptor(binding, name, type);
  unsigned index = *findArgument(binding.entry, name);
  binding.variant.parameters->push_back(index);
  if (auto fact = factOf(index, type))
    binding.variant.facts.push_back(*fact);
  std::string dtype = std::string(type.pointerDepth, '*') + (type.isConst ? "k" : "") +
                      elementName(type.element).str();
  return ArgumentValue::runTime(dtype, type.divisibility, type.equalsOne);
}

std::optional<ArgumentValue> ArgumentBinder::bind(const KernelParameterInfo &parameter,
                                                  const SpecSignature &signature,
                                                  llvm::ArrayRef<NamedLiteral> config,
                                                  const EntryModel &entry, VariantModel &variant) {
  const SpecBinding &spec = *signature.find(parameter.name);
  llvm::Expected<SignatureValue> value = spec.value.resolve(parameter.isConstexpr);
  if (!value) {
    llvm::consumeError(value.takeError()); // collect() has reported it.
    return std::nullopt;
  }
  Binding binding{spec.place, signature, config, entry, variant};
  return bindValue(binding, parameter.name, *value);
}

bool ArgumentBinder::bindDefault(const KernelParameterInfo &parameter, const Literal &value,
                                 const SpecSignature &signature, const EntryModel &entry,
                                 VariantModel &variant) {
  addConstant(variant, parameter.name, value);
  Binding binding{signature.place, signature, {}, entry, variant};
  return bindLiteral(binding, parameter.name, value);
}

} // namespace kiln
