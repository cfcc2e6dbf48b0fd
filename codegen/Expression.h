//===- Expression.h - expressions over arguments ----------------*- C++ -*-===//
//
// A grid depends on arguments that only the caller knows (`cdiv(M, BLOCK_M)`), and so does whether
// a variant may run (`n <= BLOCK`). A spec says both as expressions over arguments and constants,
// checked at build time and printed into the C dispatcher. The language is Python's integer
// arithmetic and nothing else:
//
//   + - * // %   == != < <= > >=   and or not   ( )   integers   names
//   cdiv(a, b)  min(a, …)  max(a, …)  next_power_of_2(a)
//
// `triton.` and `tl.` before a function are accepted. Values are 64-bit signed; a comparison is 0
// or 1; `//` and `%` round towards minus infinity; `a and b` is a where a is 0, else b, `a or b` is
// b where a is 0, else a, and b is not evaluated where a decides. Overflow and division by zero are
// errors, at build time and at run time alike, never wrapped.
//
// Each node is kept in one vector, children before parents, so that neither evaluation nor printing
// needs recursion over pointers. Refused: reusing the kernel language's own parser, whose values
// are Python's (unbounded, floating) and whose errors speak of kernels.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_EXPRESSION_H
#define KILN_CODEGEN_EXPRESSION_H

#include "codegen/Signature.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace kiln {

class Expression {
public:
  enum class Op : uint8_t {
    Constant,
    Name,
    Negate,
    Not,
    Add,
    Subtract,
    Multiply,
    FloorDivide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    CeilDivide,
    Minimum,
    Maximum,
    NextPowerOf2,
  };
  struct Node {
    Op op = Op::Constant;
    int64_t constant = 0;
    std::string name;
    /// Indices of the operands, smaller than this node's own.
    unsigned left = 0, right = 0;
    /// Byte range in the text.
    size_t begin = 0, end = 0;
  };

  static unsigned numOperands(Op op);
  /// Whether a node's value is 0 or 1, whatever the names are.
  static bool isTruth(const std::vector<Node> &tree, unsigned index);

  /// The constant `value`.
  static Expression ofConstant(int64_t value);
  static Expression ofName(llvm::StringRef name);
  /// This expression and `right`, joined by an operation on two operands.
  Expression joined(Op op, const Expression &right) const;

  /// Parses `text`; `error` is set, with offsets into `text`, when the result is empty.
  static std::optional<Expression> parse(llvm::StringRef text, TextError &error);

  const std::string &text() const { return source; }
  const std::vector<Node> &nodes() const { return tree; }
  const Node &root() const { return tree.back(); }

  /// Every name, once, in order of appearance.
  std::vector<std::string> names() const;

  using Lookup = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;
  /// The value with `lookup` for names. Empty for an unknown name, an overflow or a division by
  /// zero; `error` says which, and where.
  std::optional<int64_t> evaluate(Lookup lookup, TextError &error) const;

  /// The same expression with constants for the names that `lookup` knows, and each operation on
  /// constants alone replaced by its value, unless that fails. Its text is written anew.
  Expression simplify(Lookup lookup) const;

  /// The operands of the outermost `and`s: what must hold for the whole to hold.
  std::vector<Expression> conjuncts() const;

  /// Fails where this one does; else it is 0 where this one is other than 0, and only there.
  Expression negated() const;

  /// The expression that node `index` is the root of.
  Expression operand(unsigned index) const { return extract(tree, index); }

  using NamePrinter = llvm::function_ref<std::string(llvm::StringRef)>;
  /// A C expression of type int64_t over the functions of `cHelpers`, which are called with
  /// `failed`, a C expression of type `int *` (set to 1 by a failure). Adds the names of the
  /// functions that it calls to `used`.
  std::string printC(NamePrinter name, llvm::StringRef failed, std::set<std::string> &used) const;
  /// The same for whether the value is other than 0, as a C condition.
  std::string printCTruth(NamePrinter name, llvm::StringRef failed,
                          std::set<std::string> &used) const;

  /// About how many characters printC gives. The left side of an `or` whose value is computed with
  /// is printed twice, so this can be more than any program should hold.
  uint64_t printedSize() const;

  /// The C definitions of the functions that printed expressions call, in a fixed order.
  static std::string cHelpers(const std::set<std::string> &used);

private:
  /// The nodes that `root` reaches, as an expression of its own with its own text.
  static Expression extract(const std::vector<Node> &tree, unsigned root);

  std::string source;
  std::vector<Node> tree;
  friend class ExpressionParser;
};

} // namespace kiln

#endif // KILN_CODEGEN_EXPRESSION_H
