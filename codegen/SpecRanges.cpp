//===- SpecRanges.cpp - the values that arguments may have ----------------===//
#include "codegen/SpecValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace llvm;

namespace kiln {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

bool ArgumentRange::contains(int64_t value) const {
  if (!values.empty())
    return is_contained(values, value);
  return value >= minimum.value_or(kLowest) && value <= maximum.value_or(kHighest) &&
         value % multipleOf == 0;
}

std::string ArgumentRange::text() const {
  std::string text;
  if (!values.empty()) {
    for (size_t i = 0; i < values.size(); ++i)
      text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + std::to_string(values[i]);
    return text;
  }
  if (minimum && maximum)
    text = formatv("{0} to {1}", *minimum, *maximum).str();
  else if (minimum)
    text = formatv("at least {0}", *minimum).str();
  else if (maximum)
    text = formatv("at most {0}", *maximum).str();
  if (multipleOf == 1)
    return text;
  return (text.empty() ? "" : text + ", ") + formatv("a multiple of {0}", multipleOf).str();
}

std::vector<SpecArgument> SpecValues::argumentRanges(const SpecItem &item) {
  std::vector<SpecArgument> arguments;
  if (!item.value->is(JsonValue::Kind::Object) || item.value->members.empty()) {
    expected(item, "an object from names of arguments to their ranges");
    return arguments;
  }
  for (const JsonMember &member : item.value->members) {
    SpecItem at = item.key(member);
    if (std::optional<ArgumentRange> range = argumentRange(at))
      arguments.push_back({member.key, std::move(*range), place(at)});
  }
  return arguments;
}

std::optional<ArgumentRange> SpecValues::argumentRange(const SpecItem &item) {
  constexpr StringLiteral what = R"(an object such as {"min": 1, "max": 1024, "multiple_of": 8})";
  unsigned errorsBefore = diagnostics.getNumErrors();
  if (!checkObject(item, ObjectKind::Argument, what))
    return std::nullopt;
  if (item.value->members.empty()) {
    expected(item, what);
    return std::nullopt;
  }
  if (SpecItem values = child(item, "values"))
    return argumentValues(item);
  ArgumentRange range;
  if (SpecItem minimum = child(item, "min"))
    range.minimum = integer(minimum, kLowest, kHighest);
  if (SpecItem maximum = child(item, "max"))
    range.maximum = integer(maximum, kLowest, kHighest);
  if (SpecItem multiple = child(item, "multiple_of"))
    range.multipleOf = integer(multiple, 1, 1 << 30).value_or(1);
  if (diagnostics.getNumErrors() != errorsBefore)
    return std::nullopt;
  // The least multiple from the minimum on.
  int64_t least = range.minimum.value_or(kLowest), most = range.maximum.value_or(kHighest);
  int64_t rest = least % range.multipleOf;
  bool isOver = rest > 0 && least > kHighest - (range.multipleOf - rest);
  int64_t first = rest > 0 ? least + (isOver ? 0 : range.multipleOf - rest) : least - rest;
  if (least <= most && !isOver && first <= most)
    return range;
  report(DiagKind::SpecRange, item,
         formatv("expected a range with values in it, got {0}", range.text()).str());
  return std::nullopt;
}

std::optional<ArgumentRange> SpecValues::argumentValues(const SpecItem &item) {
  unsigned errorsBefore = diagnostics.getNumErrors();
  for (const char *key : {"min", "max", "multiple_of"})
    if (child(item, key))
      report(DiagKind::SpecExclusiveKeys, item, "values", key);
  SpecItem list = child(item, "values");
  ArgumentRange range;
  if (!checkList(list, "a list of 1 to 1000 integers", 1, 1000))
    return std::nullopt;
  for (size_t i = 0; i < list.value->elements.size(); ++i) {
    std::optional<int64_t> value = integer(list.at(i), kLowest, kHighest);
    if (value && is_contained(range.values, *value))
      report(DiagKind::SpecRepeated, list.at(i), std::to_string(*value));
    else if (value)
      range.values.push_back(*value);
  }
  sort(range.values);
  if (diagnostics.getNumErrors() != errorsBefore)
    return std::nullopt;
  return range;
}

} // namespace kiln
