// Python's operators on values that are known at compile time.

#include "compiler/Sema/Python/PythonOperations.h"
#include "compiler/Sema/Python/StringFormatting.h"

#include <cmath>

namespace kiln::sema {
namespace {

bool overflows(Int value) {
  constexpr Int limit = Int(1) << 126;
  return value >= limit || value <= -limit;
}

std::optional<Int> integerPower(Int base, Int exponent) {
  Int result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) && (__builtin_mul_overflow(result, base, &result) || overflows(result)))
      return std::nullopt;
    if (exponent > 1 && (__builtin_mul_overflow(base, base, &base) || overflows(base)))
      return std::nullopt;
  }
  return result;
}

Int floorDivide(Int a, Int b) {
  Int quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// Python's remainder, which has the sign of the divisor, zero included.
double floorModulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0)
    return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Python's quotient: what is left is floorModulo().
double floorQuotient(double a, double b) {
  double rest = std::fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(0.0, a / b);
  double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

/// Empty on overflow.
std::optional<Int> integerArithmetic(ast::BinaryOp op, Int a, Int b) {
  Int result = 0;
  bool overflow = false;
  switch (op) {
  case ast::BinaryOp::Add:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case ast::BinaryOp::Sub:
    overflow = __builtin_sub_overflow(a, b, &result);
    break;
  case ast::BinaryOp::Mul:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  case ast::BinaryOp::FloorDiv:
    return floorDivide(a, b);
  case ast::BinaryOp::Mod:
    return a - floorDivide(a, b) * b;
  case ast::BinaryOp::BitAnd:
    return a & b;
  case ast::BinaryOp::BitOr:
    return a | b;
  case ast::BinaryOp::BitXor:
    return a ^ b;
  case ast::BinaryOp::ShiftRight:
    return b > 126 ? (a < 0 ? -1 : 0) : a >> b;
  case ast::BinaryOp::ShiftLeft:
    if (a == 0)
      return 0;
    if (b > 126)
      return std::nullopt;
    overflow = __builtin_mul_overflow(a, Int(1) << b, &result);
    break;
  case ast::BinaryOp::Pow:
    return integerPower(a, b);
  default:
    break;
  }
  if (overflow || overflows(result))
    return std::nullopt;
  return result;
}

std::optional<double> floatArithmetic(ast::BinaryOp op, double a, double b) {
  switch (op) {
  case ast::BinaryOp::Add:
    return a + b;
  case ast::BinaryOp::Sub:
    return a - b;
  case ast::BinaryOp::Mul:
    return a * b;
  case ast::BinaryOp::Div:
    return a / b;
  case ast::BinaryOp::FloorDiv:
    return floorQuotient(a, b);
  case ast::BinaryOp::Mod:
    return floorModulo(a, b);
  case ast::BinaryOp::Pow:
    return std::pow(a, b);
  default:
    return std::nullopt;
  }
}

bool divides(ast::BinaryOp op) {
  return op == ast::BinaryOp::Div || op == ast::BinaryOp::FloorDiv || op == ast::BinaryOp::Mod;
}

Value numbers(const Reporting &python, ast::BinaryOp op, const Value &left, const Value &right) {
  if (divides(op) && right.getReal() == 0)
    return python.error(DiagKind::SemaPython, "division by zero");
  bool integral = left.isIntegral() && right.isIntegral() && op != ast::BinaryOp::Div;
  if (integral && op == ast::BinaryOp::Pow && right.getInt() < 0)
    integral = false;
  if (integral) {
    bool shift = op == ast::BinaryOp::ShiftLeft || op == ast::BinaryOp::ShiftRight;
    if (shift && right.getInt() < 0)
      return python.error(DiagKind::SemaPython, "negative shift count");
    std::optional<Int> result = integerArithmetic(op, left.getInt(), right.getInt());
    if (!result)
      return python.error(DiagKind::SemaPython, "an integer is too large (more than 126 bits)");
    bool logical =
        op == ast::BinaryOp::BitAnd || op == ast::BinaryOp::BitOr || op == ast::BinaryOp::BitXor;
    if (logical && left.is(ValueKind::Bool) && right.is(ValueKind::Bool))
      return Value::boolean(*result != 0);
    return Value::integer(*result);
  }
  double a = left.getReal(), b = right.getReal();
  if (std::optional<double> result = floatArithmetic(op, a, b)) {
    if (op == ast::BinaryOp::Pow && std::isnan(*result) && !std::isnan(a) && !std::isnan(b))
      return python.error(DiagKind::SemaPython, "the power is a complex number");
    if (op == ast::BinaryOp::Pow && std::isinf(*result) && std::isfinite(a) && std::isfinite(b))
      return python.error(DiagKind::SemaPython, "the power is too large, or of zero");
    return Value::real(*result);
  }
  return python.error(DiagKind::SemaOperands, ast::getSpelling(op), describe(left),
                      describe(right));
}

bool contains(const std::vector<Value> &elements, const Value &value);

/// Empty where the operator is none of sets.
std::optional<Value> setArithmetic(ast::BinaryOp op, const Value &left, const Value &right) {
  const std::vector<Value> &a = left.getElements(), &b = right.getElements();
  auto set = std::make_shared<SequenceObject>();
  set->isFrozen = left.as<SequenceObject>().isFrozen;
  bool keepsBoth = op == ast::BinaryOp::BitAnd;
  if (!keepsBoth && op != ast::BinaryOp::BitOr && op != ast::BinaryOp::Sub &&
      op != ast::BinaryOp::BitXor)
    return std::nullopt;
  for (const Value &element : a)
    if (op == ast::BinaryOp::BitOr || contains(b, element) == keepsBoth)
      set->elements.push_back(element);
  if (op == ast::BinaryOp::BitOr || op == ast::BinaryOp::BitXor)
    for (const Value &element : b)
      if (!contains(a, element))
        set->elements.push_back(element);
  return Value(ValueKind::Set, set);
}

/// `text * count`, `sequence * count`; empty where that is too long.
std::optional<Value> repeat(const Value &value, Int count) {
  Int size = value.isString() ? Int(value.getString().size()) : Int(value.getElements().size());
  if (size == 0)
    count = 0;
  if (count > 0 && count > Int(PythonOperations::longestSequence - 1) / size)
    return std::nullopt;
  std::string text;
  std::vector<Value> elements;
  for (Int i = 0; i < count; ++i)
    if (value.isString())
      text += value.getString();
    else
      elements.insert(elements.end(), value.getElements().begin(), value.getElements().end());
  if (value.isString())
    return Value::string(text);
  return value.is(ValueKind::List) ? Value::list(elements) : Value::tuple(elements);
}

/// The items of `left` with those of `right` written over them.
Value mergeDicts(const Value &left, const Value &right) {
  auto merged = std::make_shared<DictObject>();
  merged->items = left.as<DictObject>().items;
  for (const auto &[key, value] : right.as<DictObject>().items) {
    bool found = false;
    for (auto &item : merged->items)
      if (isEqual(item.first, key).value_or(false)) {
        item.second = value;
        found = true;
      }
    if (!found)
      merged->items.emplace_back(key, value);
  }
  return {ValueKind::Dict, merged};
}

bool contains(const std::vector<Value> &elements, const Value &value) {
  return llvm::any_of(
      elements, [&](const Value &element) { return isEqual(element, value).value_or(false); });
}

/// -1, 0, 1; empty when the two have no order.
std::optional<int> order(const Value &a, const Value &b) {
  auto sign = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (a.isIntegral() && b.isIntegral())
    return sign(a.getInt(), b.getInt());
  if (a.isNumber() && b.isNumber())
    return sign(a.getReal(), b.getReal());
  if (a.isString() && b.isString())
    return a.getString().compare(b.getString());
  if (!a.isSequence() || a.is(ValueKind::Set) || a.getKind() != b.getKind())
    return std::nullopt;
  for (auto [x, y] : llvm::zip(a.getElements(), b.getElements())) {
    if (isEqual(x, y).value_or(false))
      continue;
    return order(x, y);
  }
  return sign(a.getElements().size(), b.getElements().size());
}

} // namespace

/// What of two operands is not known is not known of the result.
static const Value *findOpaque(const Value &left, const Value &right) {
  return left.isOpaque() ? &left : right.isOpaque() ? &right : nullptr;
}

static bool isProduct(ast::BinaryOp op, const Value &left, const Value &right) {
  return op == ast::BinaryOp::Mul && right.is(ValueKind::Int) &&
         (left.isString() || left.isSequence());
}

Value PythonOperations::pythonBinary(ast::BinaryOp op, const Value &left, const Value &right) {
  using ast::BinaryOp;
  if (const Value *opaque = findOpaque(left, right))
    return *opaque;
  if (left.isNumber() && right.isNumber())
    return numbers(*this, op, left, right);
  if (left.isString() && op == BinaryOp::Add && right.isString()) {
    if (left.getString().size() + right.getString().size() > longestText)
      return error(DiagKind::SemaPython, "a sequence is too large");
    return Value::string(left.getString() + right.getString());
  }
  if (op == BinaryOp::Mul && right.isSequence() && left.is(ValueKind::Int))
    return pythonBinary(op, right, left);
  if (isProduct(op, left, right))
    if (std::optional<Value> product = repeat(left, right.getInt()))
      return *product;
  if (left.is(ValueKind::Set) && right.is(ValueKind::Set)) {
    if (!unwinding().step(left.getElements().size() * right.getElements().size() / searchedPerStep))
      return Value();
    if (std::optional<Value> result = setArithmetic(op, left, right))
      return *result;
  }
  // In kernels a list display is a tuple, so the two mix.
  if (op == BinaryOp::Add && left.isSequence() && right.isSequence() &&
      (unwinding().isDeviceCode() || left.getKind() == right.getKind()) && !left.is(ValueKind::Set))
    return joinSequences(left, right);
  if (op == BinaryOp::BitOr && left.is(ValueKind::Dict) && right.is(ValueKind::Dict))
    return mergeDicts(left, right);
  if (left.isString() && op == BinaryOp::Mod)
    return formatPercent(*this, code, left.getString(), right);
  return error(DiagKind::SemaOperands, ast::getSpelling(op), describe(left), describe(right));
}

Value PythonOperations::joinSequences(const Value &left, const Value &right) {
  if (left.getElements().size() + right.getElements().size() > longestSequence)
    return error(DiagKind::SemaPython, "a sequence is too large");
  std::vector<Value> elements = left.getElements();
  elements.insert(elements.end(), right.getElements().begin(), right.getElements().end());
  return left.is(ValueKind::List) ? Value::list(elements) : Value::tuple(elements);
}

Value PythonOperations::compareEqual(ast::CompareOp op, const Value &left, const Value &right) {
  // In kernels a list display is a tuple.
  bool mixed = unwinding().isDeviceCode() && left.isSequence() && right.isSequence();
  std::optional<bool> equal =
      mixed ? isEqual(Value::tuple(left.getElements()), Value::tuple(right.getElements()))
            : isEqual(left, right);
  return equal
             ? Value::boolean(*equal == (op == ast::CompareOp::Equal))
             : error(DiagKind::SemaOperands, ast::getSpelling(op), describe(left), describe(right));
}

Value PythonOperations::compareMember(ast::CompareOp op, const Value &left, const Value &right) {
  bool wanted = op == ast::CompareOp::In;
  if (right.isOpaque())
    return right;
  if (right.isString() && left.isString())
    return Value::boolean(right.getString().contains(left.getString()) == wanted);
  if (right.is(ValueKind::Module))
    return Value::boolean(!wanted); // os.environ: nothing is set.
  std::optional<std::vector<Value>> items = iterate(right);
  const Value *doubt = nullptr;
  for (const Value &item : items.value_or(std::vector<Value>())) {
    std::optional<bool> equal = item.sharesObject(left) ? true : isEqual(item, left);
    if (equal == true)
      return Value::boolean(wanted);
    bool isNever = item.isNone() || item.isString() || left.isNone() || left.isString();
    if (!equal && !doubt && !(isNever && (item.isTensor() || left.isTensor())))
      doubt = item.isTensor() || item.isOpaque() ? &item : &left;
  }
  if (doubt && doubt->isOpaque())
    return notKnown(*doubt);
  if (doubt)
    return error(DiagKind::SemaNotConstant, "an operand of 'in'", describe(*doubt));
  return items ? Value::boolean(!wanted) : Value();
}

static Value compareSets(ast::CompareOp op, const Value &left, const Value &right) {
  using ast::CompareOp;
  const std::vector<Value> &a = left.getElements(), &b = right.getElements();
  bool isLess = op == CompareOp::Less || op == CompareOp::LessEqual;
  const std::vector<Value> &small = isLess ? a : b, &large = isLess ? b : a;
  bool isStrict = op == CompareOp::Less || op == CompareOp::Greater;
  return Value::boolean(
      (!isStrict || small.size() < large.size()) &&
      llvm::all_of(small, [&](const Value &one) { return contains(large, one); }));
}

Value PythonOperations::pythonCompare(ast::CompareOp op, const Value &left, const Value &right) {
  using ast::CompareOp;
  if (op == CompareOp::Is || op == CompareOp::IsNot) {
    bool same =
        isIdentical(left, right) || (left.is(ValueKind::Type) && right.is(ValueKind::Type) &&
                                     left.getType() == right.getType());
    return Value::boolean(same == (op == CompareOp::Is));
  }
  if (op == CompareOp::In || op == CompareOp::NotIn)
    return compareMember(op, left, right);
  if (const Value *opaque = findOpaque(left, right))
    return *opaque;
  if (op == CompareOp::Equal || op == CompareOp::NotEqual)
    return compareEqual(op, left, right);
  if ((left.is(ValueKind::Float) && std::isnan(left.getReal())) ||
      (right.is(ValueKind::Float) && std::isnan(right.getReal())))
    return Value::boolean(false);
  if (left.is(ValueKind::Set) && right.is(ValueKind::Set))
    return compareSets(op, left, right);
  std::optional<int> sign = order(left, right);
  if (!sign)
    return error(DiagKind::SemaOperands, ast::getSpelling(op), describe(left), describe(right));
  switch (op) {
  case CompareOp::Less:
    return Value::boolean(*sign < 0);
  case CompareOp::LessEqual:
    return Value::boolean(*sign <= 0);
  case CompareOp::Greater:
    return Value::boolean(*sign > 0);
  default:
    return Value::boolean(*sign >= 0);
  }
}

Value PythonOperations::pythonUnary(ast::UnaryOp op, const Value &operand) {
  if (op == ast::UnaryOp::Not) {
    std::optional<bool> answer = truth(operand);
    return answer ? Value::boolean(!*answer) : Value();
  }
  if (operand.isOpaque())
    return operand;
  if (operand.isIntegral()) {
    Int value = operand.getInt();
    return Value::integer(op == ast::UnaryOp::Minus    ? -value
                          : op == ast::UnaryOp::Invert ? ~value
                                                       : value);
  }
  if (operand.is(ValueKind::Float) && op != ast::UnaryOp::Invert)
    return Value::real(op == ast::UnaryOp::Minus ? -operand.getReal() : operand.getReal());
  return error(DiagKind::SemaOperand, ast::getSpelling(op), describe(operand));
}

std::optional<bool> PythonOperations::truth(const Value &value, Tensor *tensor) {
  switch (value.getKind()) {
  case ValueKind::None:
    return false;
  case ValueKind::Bool:
  case ValueKind::Int:
    return value.getInt() != 0;
  case ValueKind::Float:
    return value.getReal() != 0;
  case ValueKind::String:
    return !value.getString().empty();
  case ValueKind::Tuple:
  case ValueKind::List:
  case ValueKind::Set:
    return !value.getElements().empty();
  case ValueKind::Dict:
    return !value.as<DictObject>().items.empty();
  case ValueKind::Opaque:
    notKnown(value);
    return std::nullopt;
  case ValueKind::Error:
    return std::nullopt;
  case ValueKind::Tensor:
    if (tensor) {
      *tensor = value.getTensor();
      return std::nullopt;
    }
    return fail(DiagKind::SemaNotConstant, "a condition", describe(value));
  default:
    return true;
  }
}

} // namespace kiln::sema
