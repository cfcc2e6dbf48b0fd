//===- ExpressionParser.cpp - reading expressions over arguments ----------===//
//
// Precedence climbing with Python's levels: or < and < not < comparison < + - < * // % < unary.
//
//===----------------------------------------------------------------------===//
#include "codegen/Expression.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

namespace {
struct BinaryOperator {
  StringRef spelling;
  Expression::Op op;
  unsigned level;
};

constexpr unsigned kOrLevel = 0, kAndLevel = 1, kNotLevel = 2, kCompareLevel = 3, kUnaryLevel = 6;
constexpr unsigned kMaxDepth = 64;
constexpr size_t kMaxText = 4096;
constexpr uint64_t kMaxPrinted = 1 << 20;

// Longer spellings first.
constexpr BinaryOperator kBinary[] = {
    {"or", Expression::Op::Or, kOrLevel},
    {"and", Expression::Op::And, kAndLevel},
    {"==", Expression::Op::Equal, kCompareLevel},
    {"!=", Expression::Op::NotEqual, kCompareLevel},
    {"<=", Expression::Op::LessEqual, kCompareLevel},
    {">=", Expression::Op::GreaterEqual, kCompareLevel},
    {"<", Expression::Op::Less, kCompareLevel},
    {">", Expression::Op::Greater, kCompareLevel},
    {"+", Expression::Op::Add, 4},
    {"-", Expression::Op::Subtract, 4},
    {"//", Expression::Op::FloorDivide, 5},
    {"*", Expression::Op::Multiply, 5},
    {"%", Expression::Op::Modulo, 5},
};

struct Function {
  StringRef name;
  Expression::Op op;
  unsigned minOperands, maxOperands;
};
constexpr Function kFunctions[] = {
    {"cdiv", Expression::Op::CeilDivide, 2, 2},
    {"min", Expression::Op::Minimum, 2, 16},
    {"max", Expression::Op::Maximum, 2, 16},
    {"next_power_of_2", Expression::Op::NextPowerOf2, 1, 1},
};
} // namespace

class ExpressionParser {
public:
  ExpressionParser(StringRef text, TextError &error) : text(text), error(error) {}

  bool parse(Expression &out) {
    if (text.size() > kMaxText)
      return fail(0, 0, "expected an expression of at most 4096 characters");
    unsigned root = 0;
    if (!parseLevel(kOrLevel, root))
      return false;
    skipSpace();
    if (at < text.size())
      return failAtToken("an operator or the end of the expression");
    out.source = text.str();
    out.tree = std::move(tree);
    if (out.printedSize() > kMaxPrinted)
      return fail(0, text.size(), "expected a simpler expression",
                  "an 'or' within sums and products repeats its left side");
    return true;
  }

private:
  StringRef text;
  TextError &error;
  std::vector<Expression::Node> tree;
  size_t at = 0;
  unsigned depth = 0;

  void skipSpace() {
    while (at < text.size() && isSpace(text[at]))
      ++at;
  }

  static bool isNameCharacter(char c) { return isAlnum(c) || c == '_' || c == '.'; }

  StringRef peekWord() const { return text.substr(at).take_while(isNameCharacter); }

  bool fail(size_t begin, size_t end, std::string message, std::string hint = "") {
    error = {begin, std::max(begin, end), std::move(message), std::move(hint)};
    return false;
  }

  bool failAtToken(StringRef what, StringRef hint = "") {
    if (at >= text.size())
      return fail(at, at, formatv("expected {0}, got the end", what).str());
    size_t length = std::max<size_t>(1, peekWord().size());
    std::string got = isPrint(text[at]) ? text.substr(at, std::min<size_t>(length, 40)).str() : "?";
    if (text[at] == '/')
      hint = "write '//' for integer division, or cdiv(a, b)";
    return fail(at, at + length, formatv("expected {0}, got '{1}'", what, got).str(), hint.str());
  }

  unsigned add(Expression::Node node) {
    tree.push_back(std::move(node));
    return static_cast<unsigned>(tree.size() - 1);
  }

  unsigned addBinary(Expression::Op op, unsigned left, unsigned right, size_t end) {
    Expression::Node node;
    node.op = op;
    node.left = left;
    node.right = right;
    node.begin = tree[left].begin;
    node.end = end;
    return add(std::move(node));
  }

  const BinaryOperator *peekOperator(unsigned minLevel) {
    skipSpace();
    StringRef rest = text.substr(at), word = peekWord();
    for (const BinaryOperator &candidate : kBinary) {
      bool isWord = isAlpha(candidate.spelling[0]);
      if (isWord ? word == candidate.spelling : rest.starts_with(candidate.spelling))
        return candidate.level >= minLevel ? &candidate : nullptr;
    }
    return nullptr;
  }

  bool parseLevel(unsigned minLevel, unsigned &result) {
    if (++depth > kMaxDepth)
      return fail(at, at + 1, "expected at most 64 levels of nesting");
    if (!parseUnary(minLevel, result))
      return false;
    bool isCompared = false;
    while (const BinaryOperator *found = peekOperator(minLevel)) {
      if (found->level <= kAndLevel) {
        if (!parseChain(*found, result))
          return false;
        continue;
      }
      bool isComparison = found->level == kCompareLevel;
      if (isComparison && isCompared)
        return failAtToken("one comparison", "join comparisons with 'and'");
      isCompared |= isComparison;
      at += found->spelling.size();
      unsigned right = 0;
      if (!parseLevel(found->level + 1, right))
        return false;
      result = addBinary(found->op, result, right, at);
    }
    --depth;
    return true;
  }

  /// The rest of `a or b or c`. It groups to the right, which gives the same value, and C text that
  /// does not repeat what stands on the left.
  bool parseChain(const BinaryOperator &op, unsigned &result) {
    SmallVector<unsigned> operands = {result};
    while (peekOperator(op.level) == &op) {
      at += op.spelling.size();
      unsigned operand = 0;
      if (!parseLevel(op.level + 1, operand))
        return false;
      operands.push_back(operand);
    }
    result = operands.pop_back_val();
    while (!operands.empty())
      result = addBinary(op.op, operands.pop_back_val(), result, at);
    return true;
  }

  bool parseUnary(unsigned minLevel, unsigned &result) {
    skipSpace();
    size_t begin = at;
    bool isNot = peekWord() == "not" && minLevel <= kNotLevel,
         isMinus = text.substr(at).starts_with("-");
    if (!isNot && !isMinus)
      return parsePrimary(result);
    at += isNot ? 3 : 1;
    Expression::Node node;
    if (!parseLevel(isNot ? kNotLevel : kUnaryLevel, node.left))
      return false;
    node.op = isNot ? Expression::Op::Not : Expression::Op::Negate;
    node.begin = begin;
    node.end = at;
    result = add(std::move(node));
    return true;
  }

  bool parsePrimary(unsigned &result) {
    Expression::Node node;
    node.begin = at;
    if (at < text.size() && text[at] == '(') {
      ++at;
      if (!parseLevel(kOrLevel, result))
        return false;
      return expect(')');
    }
    StringRef word = peekWord();
    if (word.empty() || word[0] == '.')
      return failAtToken("a number, a name or '('");
    at += word.size();
    node.end = at;
    if (isDigit(word[0])) {
      if (word.getAsInteger(10, node.constant))
        return fail(node.begin, at,
                    formatv("expected a 64-bit integer, got '{0}'", word.take_front(40)).str());
      result = add(std::move(node));
      return true;
    }
    skipSpace();
    if (at < text.size() && text[at] == '(')
      return parseCall(word, node.begin, result);
    if (word.contains('.'))
      return fail(
          node.begin, node.end,
          formatv("expected an argument or a constant, got '{0}'", word.take_front(40)).str());
    node.op = Expression::Op::Name;
    node.name = word.str();
    result = add(std::move(node));
    return true;
  }

  bool expect(char c) {
    skipSpace();
    if (at < text.size() && text[at] == c) {
      ++at;
      return true;
    }
    return failAtToken(std::string("'") + c + "'");
  }

  bool parseCall(StringRef name, size_t begin, unsigned &result) {
    StringRef bare = name;
    bare.consume_front("triton.") || bare.consume_front("tl.");
    const Function *function = nullptr;
    for (const Function &candidate : kFunctions)
      if (candidate.name == bare)
        function = &candidate;
    if (!function)
      return fail(begin, begin + name.size(),
                  formatv("unknown function '{0}'", name.take_front(40)).str(),
                  "functions are cdiv, min, max and next_power_of_2");
    SmallVector<unsigned> operands;
    if (!parseOperands(operands))
      return false;
    if (operands.size() < function->minOperands || operands.size() > function->maxOperands)
      return fail(begin, at,
                  formatv("expected {0} operand{1} of {2}, got {3}", function->minOperands,
                          function->minOperands == 1 ? "" : "s", function->name, operands.size())
                      .str());
    result = operands[0];
    if (operands.size() == 1)
      result = addBinary(function->op, result, result, at);
    for (unsigned operand : ArrayRef(operands).drop_front())
      result = addBinary(function->op, result, operand, at);
    tree[result].begin = begin;
    return true;
  }

  bool parseOperands(SmallVector<unsigned> &operands) {
    ++at; // '('
    do {
      unsigned operand = 0;
      if (!parseLevel(kOrLevel, operand))
        return false;
      operands.push_back(operand);
      skipSpace();
    } while (at < text.size() && text[at] == ',' && ++at);
    return expect(')');
  }
};

std::optional<Expression> Expression::parse(StringRef text, TextError &error) {
  Expression expression;
  if (!ExpressionParser(text, error).parse(expression))
    return std::nullopt;
  return expression;
}

} // namespace kiln
