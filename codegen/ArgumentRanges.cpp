//===- ArgumentRanges.cpp - which calls there are -------------------------===//
#include "codegen/ArgumentRanges.h"
#include "codegen/SpecChecks.h"
#include "codegen/VariantConditions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln {

IntegerRange rangeOfType(const ArgumentType &type) {
  bool isSigned = elementClass(type.element) == ElementClass::Signed;
  unsigned bits = type.element == ElementType::Int1 ? 1 : 8 * elementBytes(type.element);
  IntegerRange range;
  range.low = isSigned ? minIntN(bits) : 0;
  range.high = isSigned ? maxIntN(bits) : int64_t(maxUIntN(std::min(bits, 63u)));
  return range;
}

const EntryRange *findRange(const EntryModel &entry, unsigned argument) {
  auto it =
      find_if(entry.ranges, [&](const EntryRange &range) { return range.argument == argument; });
  return it == entry.ranges.end() ? nullptr : &*it;
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

/// Whether the name is a part of a tensor descriptor, which another entry point may take.
static bool isPartOfDescriptor(const SpecKernel &kernel, StringRef name) {
  for (const SpecSignature &signature : kernel.signatures)
    for (const SpecBinding &binding : signature.parameters)
      if (binding.value.asType && binding.value.asType->isDescriptor())
        for (const EntryArgument &part : descriptorParts(binding.name, *binding.value.asType))
          if (part.name == name)
            return true;
  return false;
}

/// Of the numbers that a range is written with, one that the type does not have.
static std::optional<int64_t> beyondType(const ArgumentRange &range, const IntegerRange &type) {
  std::vector<int64_t> stated = range.values;
  for (const std::optional<int64_t> &bound : {range.minimum, range.maximum})
    if (bound)
      stated.push_back(*bound);
  auto it = find_if(stated, [&](int64_t value) { return !type.contains(value); });
  return it == stated.end() ? std::nullopt : std::optional(*it);
}

bool addRanges(const SpecKernel &kernel, EntryModel &entry, DiagnosticEngine &diagnostics) {
  bool isGood = true;
  entry.isTotal = kernel.isTotal;
  entry.rangesPlace = kernel.argumentsPlace.path.empty() ? kernel.place : kernel.argumentsPlace;
  for (const SpecArgument &declared : kernel.arguments) {
    const SpecPlace &place = declared.place;
    std::optional<unsigned> argument = findArgument(entry, declared.name);
    if (!argument) {
      isGood &= isPartOfDescriptor(kernel, declared.name) ||
                checkArgumentName(kernel, declared.name, place, diagnostics);
      continue;
    }
    const ArgumentType &type = entry.arguments[*argument].type;
    std::string spelling = callerType(entry, *argument);
    std::optional<int64_t> beyond;
    if (!type.isInteger())
      diagnostics.report(DiagKind::SpecNotInteger, place.range, place.path, declared.name,
                         spelling);
    else if ((beyond = beyondType(declared.range, rangeOfType(type))))
      diagnostics.report(
          DiagKind::SpecRange, place.range, place.path,
          formatv("{0} is no value of '{1}', whose type is {2}", *beyond, declared.name, spelling)
              .str());
    isGood &= type.isInteger() && !beyond;
    entry.ranges.push_back({*argument, declared.range, place});
  }
  return isGood;
}

/// `axis` without the values that are not in `range`. False when that leaves none.
static bool restrict(Axis &axis, const IntegerRange &range) {
  axis.range = axis.range.intersect(range);
  bool isList = !axis.values.empty();
  erase_if(axis.values, [&](int64_t value) {
    return axis.range.intersect(IntegerRange::ofConstant(value)).isEmpty();
  });
  return !axis.range.isEmpty() && (!isList || !axis.values.empty());
}

static IntegerRange rangeOfFact(const ArgumentFact &fact) {
  IntegerRange range;
  range.modulus = fact.divisibility;
  return fact.equals ? range.intersect(IntegerRange::ofConstant(*fact.equals)) : range;
}

static Axis declaredAxis(const EntryModel &entry, const EntryRange &declared) {
  const EntryArgument &argument = entry.arguments[declared.argument];
  Axis axis{argument.name, rangeOfType(argument.type), declared.range.values};
  IntegerRange range;
  range.low = declared.range.minimum.value_or(range.low);
  range.high = declared.range.maximum.value_or(range.high);
  range.modulus = declared.range.multipleOf;
  restrict(axis, range);
  return axis;
}

bool checkPromises(const EntryModel &entry, const VariantModel &variant,
                   DiagnosticEngine &diagnostics) {
  for (const ArgumentFact &promise : ArrayRef(variant.facts).take_front(variant.promises)) {
    const EntryRange *declared = findRange(entry, promise.argument);
    if (!declared)
      continue;
    Axis axis = declaredAxis(entry, *declared);
    if (restrict(axis, rangeOfFact(promise)))
      continue;
    diagnostics.report(DiagKind::SpecRange, declared->place.range, declared->place.path,
                       formatv("a signature promises '{0}', which no value of {1} keeps",
                               factTexts(entry, promise).front(), declared->range.text())
                           .str());
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// What kiln_check_tensor lets through of a descriptor's part.
static IntegerRange rangeOfPart(const EntryDescriptor &descriptor, unsigned part) {
  constexpr int64_t kAlignment = 16;
  bool isBase = part == 0, isStride = part > descriptor.rank;
  IntegerRange range;
  range.low = 0;
  if (isBase || isStride)
    range.modulus = isBase ? kAlignment : kAlignment / elementBytes(descriptor.element);
  return range;
}

static IntegerRange rangeOfAddresses(const ArgumentType &type) {
  constexpr int64_t kFirst = 4096, kLast = (int64_t(1) << 47) - 4096;
  IntegerRange range;
  range.modulus = type.pointerDepth > 1 ? 8 : std::max(1u, elementBytes(type.element));
  return range.intersect({kFirst, kLast, 1, 0});
}

/// What the signatures of all variants promise.
static IntegerRange commonPromise(const EntryModel &entry, unsigned argument) {
  IntegerRange common = IntegerRange::empty();
  for (const VariantModel &variant : entry.variants) {
    IntegerRange own;
    for (const ArgumentFact &promise : ArrayRef(variant.facts).take_front(variant.promises))
      if (promise.argument == argument)
        own = own.intersect(rangeOfFact(promise));
    common = common.join(own);
  }
  return common;
}

Axis axisOf(const EntryModel &entry, unsigned argument) {
  const EntryArgument &about = entry.arguments[argument];
  const EntryRange *declared = findRange(entry, argument);
  Axis axis{about.name, {}, {}};
  if (about.type.isPointer())
    axis.range = rangeOfAddresses(about.type);
  else if (declared)
    axis = declaredAxis(entry, *declared);
  else
    axis.range = rangeOfType(about.type);
  for (const EntryDescriptor &descriptor : entry.descriptors)
    if (argument >= descriptor.first && argument < descriptor.first + descriptor.size())
      restrict(axis, rangeOfPart(descriptor, argument - descriptor.first));
  bool mayBeNegative = declared && (declared->range.minimum || !declared->range.values.empty());
  if (!mayBeNegative && is_contained(sizeArguments(entry), argument)) {
    IntegerRange sizes;
    sizes.low = 0;
    restrict(axis, sizes);
  }
  restrict(axis, commonPromise(entry, argument));
  return axis;
}

} // namespace kiln
