//===- DispatchReader.cpp - the "dispatch" of a kernel in a spec ----------===//
#include "codegen/DispatchReader.h"
#include "codegen/SpecChecks.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln {

namespace {

class DispatchReader : SpecValues {
public:
  DispatchReader(const SourceFile &file, DiagnosticEngine &diagnostics, SpecKernel &kernel)
      : SpecValues(file, diagnostics), kernel(kernel), tuning(kernel.tuning) {}

  void read(const SpecItem &item);

private:
  SpecKernel &kernel;
  SpecTuning &tuning;

  void readKey(const SpecItem &key);
  void readShapes(const SpecItem &shapes);
  void readShape(const SpecItem &item);
  std::vector<int64_t> readExtents(const SpecItem &item);
  void readArguments(const SpecItem &item);
  void readArrays(const SpecItem &item);
  void readContents(const SpecItem &item, SpecTuning::Array &array);
  std::vector<SpecExpression> readSize(const SpecItem &item);
  void checkIsNeeded(const SpecItem &dispatch, StringRef key, StringRef needs);
};

void DispatchReader::read(const SpecItem &item) {
  if (!checkObject(item, ObjectKind::Dispatch, R"(an object such as {"key": ["M", "N", "K"]})"))
    return;
  tuning.place = place(item);
  if (SpecItem file = child(item, "tuning")) {
    kernel.tuningFile = path(file, "the path of a tuning file");
    kernel.tuningFilePlace = place(file);
  }
  if (SpecItem key = child(item, "key"))
    readKey(key);
  if (SpecItem shapes = child(item, "shapes"))
    readShapes(shapes);
  if (SpecItem arguments = child(item, "arguments"))
    readArguments(arguments);
  if (SpecItem arrays = child(item, "arrays"))
    readArrays(arrays);
  if (SpecItem tolerance = child(item, "tolerance"))
    tuning.tolerance = number(tolerance, 0, 1, "a number from 0 to 1");
  if (SpecItem regret = child(item, "regret"))
    tuning.regret = number(regret, 0, 100, "a number from 0 to 100, such as 0.05 for 5 %");
  if (SpecItem most = child(item, "max_variants"))
    if (std::optional<int64_t> count = integer(most, 1, 10000))
      tuning.maxVariants = unsigned(*count);
  for (StringRef needy : {"arguments", "arrays", "tolerance"})
    checkIsNeeded(item, needy, "shapes");
  for (StringRef needy : {"regret", "max_variants"})
    checkIsNeeded(item, needy, "tuning");
  checkIsNeeded(item, "shapes", "key");
  checkIsNeeded(item, "tuning", "key");
}

/// What says something about another key is a mistake without it.
void DispatchReader::checkIsNeeded(const SpecItem &dispatch, StringRef key, StringRef needs) {
  if (child(dispatch, key) && !child(dispatch, needs))
    report(DiagKind::SpecMissingKey, dispatch, needs);
}

void DispatchReader::readKey(const SpecItem &key) {
  if (!checkList(key, "a list of one to eight argument names", 1, 8))
    return;
  for (size_t i = 0; i < key.value->elements.size(); ++i) {
    SpecItem at = key.at(i);
    std::optional<std::string> name = string(at, "an argument's name");
    if (!name)
      continue;
    if (is_contained(kernel.dispatchKey, *name))
      report(DiagKind::SpecRepeated, at, *name);
    else if (checkArgumentName(kernel, *name, place(at), diagnostics))
      kernel.dispatchKey.push_back(*name);
  }
}

void DispatchReader::readShapes(const SpecItem &shapes) {
  if (!checkList(shapes, "a list of shapes", 1, 10000))
    return;
  for (size_t i = 0; i < shapes.value->elements.size() && !diagnostics.isFull(); ++i)
    readShape(shapes.at(i));
}

void DispatchReader::readShape(const SpecItem &item) {
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from arguments to integers, or to lists of these");
    return;
  }
  SpecTuning::Shape shape;
  shape.place = place(item);
  for (const JsonMember &member : item.value->members) {
    SpecItem at = item.key(member);
    if (checkArgumentName(kernel, member.key, place(at), diagnostics))
      shape.values.push_back({member.key, readExtents(at)});
  }
  tuning.shapes.push_back(std::move(shape));
}

std::vector<int64_t> DispatchReader::readExtents(const SpecItem &item) {
  std::vector<int64_t> extents;
  auto add = [&](const SpecItem &at) {
    std::optional<int64_t> extent = integer(at, INT64_MIN, INT64_MAX);
    if (extent && is_contained(extents, *extent))
      report(DiagKind::SpecRepeated, at, std::to_string(*extent));
    else if (extent)
      extents.push_back(*extent);
  };
  if (!item.value->is(JsonValue::Kind::Array))
    add(item);
  else if (checkList(item, "an integer, or a list of some", 1, 10000))
    for (size_t i = 0; i < item.value->elements.size(); ++i)
      add(item.at(i));
  return extents;
}

void DispatchReader::readArguments(const SpecItem &item) {
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from arguments to expressions or numbers");
    return;
  }
  for (const JsonMember &member : item.value->members) {
    SpecItem at = item.key(member);
    if (!checkArgumentName(kernel, member.key, place(at), diagnostics))
      continue;
    SpecTuning::Argument argument{member.key, std::nullopt, 0, place(at)};
    bool isReal = at.value->is(JsonValue::Kind::Real),
         isInteger = at.value->is(JsonValue::Kind::Integer);
    if (isReal || isInteger)
      argument.real = isReal ? at.value->real : double(at.value->integer);
    if (isInteger && at.value->integer < 0)
      argument.expression = SpecExpression{Expression::ofConstant(at.value->integer), place(at)};
    else if (!isReal)
      argument.expression = expression(at);
    if (isReal || argument.expression)
      tuning.arguments.push_back(std::move(argument));
  }
}

void DispatchReader::readArrays(const SpecItem &item) {
  if (!item.value->is(JsonValue::Kind::Object)) {
    expected(item, "an object from arrays to their sizes");
    return;
  }
  for (const JsonMember &member : item.value->members) {
    SpecItem at = item.key(member);
    if (!checkArgumentName(kernel, member.key, place(at), diagnostics))
      continue;
    SpecTuning::Array array;
    array.name = member.key;
    array.place = place(at);
    if (at.value->is(JsonValue::Kind::Object))
      readContents(at, array);
    else
      array.extents = readSize(at);
    if (!array.extents.empty())
      tuning.arrays.push_back(std::move(array));
  }
}

void DispatchReader::readContents(const SpecItem &item, SpecTuning::Array &array) {
  if (!checkObject(item, ObjectKind::Array, "an array's size"))
    return;
  if (SpecItem size = child(item, "size"))
    array.extents = readSize(size);
  if (child(item, "high") && child(item, "step"))
    report(DiagKind::SpecExclusiveKeys, item, "high", "step");
  if (SpecItem low = child(item, "low"))
    array.low = expression(low);
  if (SpecItem high = child(item, "high"))
    array.high = expression(high);
  if (SpecItem step = child(item, "step"))
    array.step = expression(step);
}

/// "M * K", or ["M", "K"].
std::vector<SpecExpression> DispatchReader::readSize(const SpecItem &item) {
  std::vector<SpecExpression> extents;
  auto add = [&](const SpecItem &at) {
    if (std::optional<SpecExpression> extent = expression(at))
      extents.push_back(std::move(*extent));
  };
  if (!item.value->is(JsonValue::Kind::Array))
    add(item);
  else if (checkList(item, "an expression, or a list of some", 1, 8))
    for (size_t i = 0; i < item.value->elements.size(); ++i)
      add(item.at(i));
  return extents;
}

} // namespace

void readDispatch(const SourceFile &file, DiagnosticEngine &diagnostics, const SpecItem &item,
                  SpecKernel &kernel) {
  DispatchReader(file, diagnostics, kernel).read(item);
}

} // namespace kiln
