//===- Expression.h - launch grids as expressions ---------------*- C++ -*-===//
//
// A grid depends on arguments that only the caller knows (`cdiv(M, BLOCK_M)`), so a spec says it as
// an expression over arguments and constants, checked at build time and printed into the C
// dispatcher. The language is Python's integer arithmetic and nothing else:
//
//   + - * // %   == != < <= > >=   and or not   ( )   integers   names
//   cdiv(a, b)  min(a, …)  max(a, …)  next_power_of_2(a)
//
// `triton.` and `tl.` before a function are accepted. Values are 64-bit signed; a comparison is 0
// or 1; `//` and `%` round towards minus infinity; `and`/`or` give 0 or 1 and evaluate both sides.
// Overflow and division by zero are errors, at build time and at run time alike, never wrapped.
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

  /// The constant `value`.
  static Expression ofConstant(int64_t value);

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

  /// Replaces the names that `lookup` knows by constants.
  Expression substitute(Lookup lookup) const;

  using NamePrinter = llvm::function_ref<std::string(llvm::StringRef)>;
  /// A C expression of type int64_t over the functions of `cHelpers`, which are called with
  /// `failed`, a C expression of type `int *` (set to 1 by a failure). Adds the names of the
  /// functions that it calls to `used`.
  std::string printC(NamePrinter name, llvm::StringRef failed, std::set<std::string> &used) const;

  /// The C definitions of the functions that printed expressions call, in a fixed order.
  static std::string cHelpers(const std::set<std::string> &used);

private:
  std::string source;
  std::vector<Node> tree;
  friend class ExpressionParser;
};

} // namespace kiln

#endif // KILN_CODEGEN_EXPRESSION_H
