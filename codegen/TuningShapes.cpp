//===- TuningShapes.cpp - the calls that a tuner times --------------------===//
#include "codegen/TuningShapes.h"
#include "codegen/SpecChecks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace llvm;

namespace kiln {

namespace {

/// The most elements that a tuner's array may have.
constexpr int64_t kMaxElements = int64_t(1) << 40;

class CallMaker {
public:
  CallMaker(const EntryModel &entry, const SpecKernel &kernel, DiagnosticEngine &diagnostics)
      : entry(entry), tuning(kernel.tuning), diagnostics(diagnostics) {
    for (const EntryArgument &argument : entry.arguments)
      if (argument.type.isInteger())
        integers.emplace_back(argument.name, argument.type);
  }

  std::vector<TunedCall> make() {
    if (!checkDeclaration())
      return {};
    for (const SpecTuning::Shape &shape : tuning.shapes)
      if (!addCalls(shape))
        return {};
    return std::move(calls);
  }

private:
  const EntryModel &entry;
  const SpecTuning &tuning;
  DiagnosticEngine &diagnostics;
  std::vector<std::pair<std::string, ArgumentType>> integers;
  std::vector<TunedCall> calls;
  std::set<std::vector<std::pair<int64_t, double>>> known;

  using Values = std::map<std::string, int64_t>;

  bool fail(const SpecPlace &place, const Twine &message, StringRef hint = "") {
    Diagnostic &mistake =
        diagnostics.report(DiagKind::SpecShape, place.range, place.path, message.str());
    if (!hint.empty())
      mistake.withHint(hint.str());
    return false;
  }

  bool isInteger(StringRef name) const {
    auto argument = findArgument(entry, name);
    return argument && entry.arguments[*argument].type.isInteger();
  }

  /// Names and kinds, which no numbers decide. Another entry point's arguments are left alone.
  bool checkDeclaration() {
    bool isGood = true;
    auto checkNames = [&](const std::optional<SpecExpression> &expression) {
      isGood &= !expression || checkExpression(*expression, integers, {}, diagnostics);
    };
    for (const SpecTuning::Argument &argument : tuning.arguments) {
      auto index = findArgument(entry, argument.name);
      if (index && entry.arguments[*index].type.isPointer())
        isGood = fail(argument.place, "'" + argument.name + "' is an array",
                      "\"arrays\" says how many elements it has");
      else if (index && isInteger(argument.name) && !argument.expression)
        isGood = fail(argument.place, "'" + argument.name + "' is an integer");
      if (index)
        checkNames(argument.expression);
    }
    for (const SpecTuning::Array &array : tuning.arrays) {
      if (!findArgument(entry, array.name))
        continue;
      isGood &= checkArray(array);
      for (const SpecExpression &extent : array.extents)
        checkNames(extent);
      for (const auto *bound : {&array.low, &array.high, &array.step})
        checkNames(*bound);
    }
    return isGood && checkKeys();
  }

  bool checkArray(const SpecTuning::Array &array) {
    unsigned index = *findArgument(entry, array.name);
    const ArgumentType &type = entry.arguments[index].type;
    const EntryDescriptor *descriptor = descriptorAt(entry, index);
    if (!type.isPointer())
      return fail(array.place, "'" + array.name + "' is no array");
    if (type.pointerDepth > 1)
      return fail(array.place,
                  "'" + array.name + "' holds addresses, which a tuner has no values for");
    if (descriptor && descriptor->rank != array.extents.size())
      return fail(array.place, formatv("expected the {0} extents of '{1}', got {2}",
                                       descriptor->rank, array.name, array.extents.size())
                                   .str());
    return true;
  }

  bool checkKeys() {
    for (const std::string &key : entry.dispatchKey)
      if (findArgument(entry, key) && !isInteger(key))
        return fail(tuning.place,
                    "'" + key + "' of the key is no integer, so shapes cannot say it");
    return true;
  }

  //--- Calls ---
  bool addCalls(const SpecTuning::Shape &shape) {
    std::vector<std::pair<std::string, ArrayRef<int64_t>>> lists;
    size_t count = 1;
    for (const auto &[name, values] : shape.values) {
      if (!findArgument(entry, name))
        continue; // another entry point's
      if (!isInteger(name))
        return fail(shape.place, "'" + name + "' is no integer");
      lists.emplace_back(name, values);
      count *= std::max<size_t>(1, values.size());
      if (count + calls.size() > kMaxTunedCalls)
        return fail(shape.place, formatv("more than {0} combinations", kMaxTunedCalls).str());
    }
    for (size_t number = 0; number < count; ++number) {
      Values values;
      size_t rest = number;
      for (const auto &[name, list] : reverse(lists)) {
        values[name] = list[rest % list.size()];
        rest /= list.size();
      }
      if (!addCall(shape, std::move(values)))
        return false;
    }
    return true;
  }

  /// "M = 16, N = 4096", for messages.
  static std::string textOf(const Values &values) {
    std::vector<std::string> parts;
    for (const auto &[name, value] : values)
      parts.push_back(name + " = " + std::to_string(value));
    return join(parts, ", ");
  }

  std::optional<int64_t> evaluate(const SpecExpression &expression, const Values &values) {
    TextError error;
    auto value = expression.expression.evaluate(
        [&](StringRef name) -> std::optional<int64_t> {
          auto known = values.find(name.str());
          return known == values.end() ? std::nullopt : std::optional(known->second);
        },
        error);
    if (!value)
      fail(expression.place, "where " + textOf(values) + ": " + error.message);
    return value;
  }

  /// Arguments may refer to each other, in any order.
  bool addArguments(Values &values) {
    std::vector<const SpecTuning::Argument *> left;
    for (const SpecTuning::Argument &argument : tuning.arguments)
      if (isInteger(argument.name) && !values.count(argument.name))
        left.push_back(&argument);
    while (!left.empty()) {
      size_t before = left.size();
      for (size_t i = 0; i < left.size();) {
        const SpecExpression &expression = *left[i]->expression;
        if (!all_of(expression.expression.names(),
                    [&](const std::string &name) { return values.count(name) != 0; })) {
          ++i;
          continue;
        }
        auto value = evaluate(expression, values);
        if (!value)
          return false;
        values[left[i]->name] = *value;
        left.erase(left.begin() + i);
      }
      if (left.size() == before)
        return failCyclic(*left.front(), values);
    }
    return true;
  }

  bool failCyclic(const SpecTuning::Argument &argument, const Values &values) {
    for (const std::string &name : argument.expression->expression.names())
      if (!values.count(name) && none_of(tuning.arguments, [&](const SpecTuning::Argument &other) {
            return other.name == name;
          }))
        return fail(argument.place, "no shape gives '" + name + "' a value");
    return fail(argument.place, "'" + argument.name + "' depends on itself");
  }

  /// The shape and strides of a tensor, which follow from its extents.
  bool addTensors(Values &values) {
    for (const EntryDescriptor &descriptor : entry.descriptors) {
      const SpecTuning::Array *array = findArray(entry.arguments[descriptor.first].name);
      int64_t stride = 1;
      for (unsigned axis = descriptor.rank; array && axis-- > 0;) {
        auto extent = evaluate(array->extents[axis], values);
        if (!extent)
          return false;
        values.try_emplace(entry.arguments[descriptor.first + 1 + axis].name, *extent);
        if (axis + 1 < descriptor.rank)
          values.try_emplace(entry.arguments[descriptor.first + 1 + descriptor.rank + axis].name,
                             stride);
        if (MulOverflow(stride, *extent, stride))
          return fail(array->place, "too many elements");
      }
    }
    return true;
  }

  const SpecTuning::Array *findArray(StringRef name) const {
    for (const SpecTuning::Array &array : tuning.arrays)
      if (array.name == name)
        return &array;
    return nullptr;
  }

  bool addCall(const SpecTuning::Shape &shape, Values values) {
    if (!addArguments(values) || !addTensors(values))
      return false;
    TunedCall call(entry.arguments.size());
    for (size_t i = 0; i < call.size(); ++i)
      if (!fill(shape, entry.arguments[i], values, call[i]))
        return false;
    std::vector<std::pair<int64_t, double>> identity;
    for (const TunedValue &value : call)
      identity.emplace_back(value.integer, value.real);
    if (!known.insert(identity).second)
      return fail(shape.place, "an earlier shape is the same: " + textOf(values));
    calls.push_back(std::move(call));
    return true;
  }

  bool fill(const SpecTuning::Shape &shape, const EntryArgument &argument, const Values &values,
            TunedValue &value) {
    if (argument.type.isPointer())
      return fillArray(shape, argument, values, value);
    if (argument.type.isInteger())
      return fillInteger(shape, argument, values, value);
    for (const SpecTuning::Argument &given : tuning.arguments)
      if (given.name == argument.name) {
        value.real = given.real;
        return !given.expression || given.expression->expression.names().empty() ||
               fail(given.place, "'" + argument.name + "' is a float: expected a number");
      }
    return fail(tuning.place, "'" + argument.name + "' has no value to tune with",
                "\"arguments\": {\"" + argument.name + "\": 1.0}");
  }

  bool fillInteger(const SpecTuning::Shape &shape, const EntryArgument &argument,
                   const Values &values, TunedValue &value) {
    auto known = values.find(argument.name);
    if (known == values.end())
      return fail(shape.place, "'" + argument.name + "' has no value to tune with",
                  "in the shape, or \"arguments\": {\"" + argument.name + "\": \"…\"}");
    value.integer = known->second;
    unsigned bits = 8 * argument.type.bytes();
    ElementClass kind = elementClass(argument.type.element);
    bool fits = kind == ElementClass::Signed ? isIntN(bits, value.integer)
                : kind == ElementClass::Unsigned
                    ? value.integer >= 0 && (bits == 64 || isUIntN(bits, value.integer))
                    : value.integer == 0 || value.integer == 1;
    return fits || fail(shape.place, formatv("'{0}' is {1}, which {2} does not hold", argument.name,
                                             value.integer, elementName(argument.type.element))
                                         .str());
  }

  bool fillArray(const SpecTuning::Shape &shape, const EntryArgument &argument,
                 const Values &values, TunedValue &value) {
    const SpecTuning::Array *array = findArray(argument.name);
    if (!array)
      return fail(tuning.place, "the array '" + argument.name + "' has no size to tune with",
                  "\"arrays\": {\"" + argument.name + "\": \"…\"}, in elements");
    value.integer = 1;
    for (const SpecExpression &extent : array->extents) {
      auto count = evaluate(extent, values);
      if (!count)
        return false;
      if (*count < 0 || MulOverflow(value.integer, *count, value.integer) ||
          value.integer > kMaxElements)
        return fail(
            array->place,
            formatv("where {0}: {1} elements in one direction", textOf(values), *count).str());
    }
    return fillContents(argument, *array, values, value);
  }

  /// Unless the spec says so: floats from -1 to below 1, integers 0 and 1.
  bool fillContents(const EntryArgument &argument, const SpecTuning::Array &array,
                    const Values &values, TunedValue &value) {
    bool isFloat = elementClass(argument.type.element) == ElementClass::Float;
    value.low = isFloat ? -1 : 0;
    value.high = isFloat ? 1 : 2;
    for (auto [expression, number] :
         {std::pair(&array.low, &value.low), std::pair(&array.high, &value.high),
          std::pair(&array.step, &value.step)}) {
      if (!*expression)
        continue;
      auto given = evaluate(**expression, values);
      if (!given)
        return false;
      *number = *given;
    }
    if (array.step && !array.low)
      value.low = 0;
    if (!array.step && value.high <= value.low)
      return fail(array.place, formatv("where {0}: nothing is from {1} to below {2}",
                                       textOf(values), value.low, value.high)
                                   .str());
    return true;
  }
};

} // namespace

std::vector<TunedCall> tunedCalls(const EntryModel &entry, const SpecKernel &kernel,
                                  DiagnosticEngine &diagnostics) {
  return CallMaker(entry, kernel, diagnostics).make();
}

} // namespace kiln
