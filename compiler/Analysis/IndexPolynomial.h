// Integer expressions of a tile program as polynomials with integer coefficients.
//
// An offset into an array is mostly a sum of products of few things: program ids and kernel
// arguments, the numbers of the iterations of loops, the indices of an element along the axes of
// its tile. As a polynomial of such symbols it can be compared: the difference of two offsets says
// whether the elements may be one. What is no sum or product becomes a symbol of its own.
//
//   p + pid * 1024 + arange(0, 1024), of f32      4096·pid + 4·i0
//   x + row[:, None] * stride + column[None, :]   4·i0·stride + 4·i1
//   a pointer that a loop moves on by 32          128·n, with n the number of the iteration
//
// Arithmetic on indices of 32 and 64 bits is taken not to overflow, as in AxisInfo.h.

#ifndef KILN_COMPILER_ANALYSIS_INDEXPOLYNOMIAL_H
#define KILN_COMPILER_ANALYSIS_INDEXPOLYNOMIAL_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace kiln {

/// A symbol's number in the IndexPolynomials that made it.
using Symbol = unsigned;

/// What a symbol stands for.
struct SymbolMeaning {
  enum class Kind : uint8_t {
    Value,     ///< `value`: a scalar, or of a tensor the element at the index given by `axes`
    Axis,      ///< the index along axis `axis` of the tile in hand
    Iteration, ///< how many iterations of the loop `loop` came before
    Distance,  ///< by how many iterations of `loop` two accesses are apart: at least 1
  };
  Kind kind = Kind::Value;
  mlir::Value value;
  mlir::Operation *loop = nullptr;
  unsigned axis = 0;
  /// For each axis of the tensor `value` the axis of the tile that it follows, or `noAxis`.
  llvm::SmallVector<unsigned, 4> axes;
  /// Of two accesses, the earlier one's own: its element, or a value of an earlier iteration.
  bool ofEarlier = false;

  static constexpr unsigned noAxis = ~0u;
  bool operator<(const SymbolMeaning &other) const {
    auto key = [](const SymbolMeaning &m) {
      return std::make_tuple(m.kind, m.value.getAsOpaquePointer(), m.loop, m.axis, m.ofEarlier);
    };
    return key(*this) != key(other)
               ? key(*this) < key(other)
               : std::lexicographical_compare(axes.begin(), axes.end(), other.axes.begin(),
                                              other.axes.end());
  }
};

/// A sum of products of symbols with integer coefficients.
class Polynomial {
public:
  /// Sorted; empty for the constant term.
  using Monomial = llvm::SmallVector<Symbol, 3>;
  using Terms = std::map<Monomial, int64_t>;

  static Polynomial constant(int64_t value);
  static Polynomial symbol(Symbol symbol);

  const Terms &terms() const { return sum; }
  int64_t constantTerm() const { return coefficient({}); }
  int64_t coefficient(const Monomial &monomial) const;
  std::optional<int64_t> asConstant() const;
  /// No longer exact: more terms, or larger coefficients, than are worth keeping.
  bool isTooLarge() const { return tooLarge; }

  /// Both are exact and the same sum.
  bool operator==(const Polynomial &other) const {
    return !tooLarge && !other.tooLarge && sum == other.sum;
  }

  void add(const Monomial &monomial, int64_t coefficient);
  Polynomial plus(const Polynomial &other, int64_t factor = 1) const;
  Polynomial times(const Polynomial &other) const;
  /// If all coefficients are multiples of `divisor`.
  std::optional<Polynomial> dividedBy(int64_t divisor) const;
  /// If the divisor is one product, which is in all of the sum's.
  std::optional<Polynomial> dividedBy(const Polynomial &divisor) const;
  /// With another polynomial in place of each symbol.
  Polynomial substitute(llvm::function_ref<Polynomial(Symbol)> replacement) const;

private:
  Terms sum;
  bool tooLarge = false;
};

/// The polynomials of a kernel's integers and pointers. Stale after the IR changes.
class IndexPolynomials {
public:
  /// An integer, or bytes from the kernel's argument that a pointer comes from; the tile's index is
  /// that of the value's own type. A pointer from elsewhere counts from a symbol of its own.
  Polynomial of(mlir::Value value);

  Symbol intern(const SymbolMeaning &meaning);
  const SymbolMeaning &meaning(Symbol symbol) const { return meanings[symbol]; }
  /// The value itself as a symbol: one for all that the same pure operation makes of equal
  /// operands.
  Symbol symbolOf(mlir::Value value);
  /// All values met so far that the symbol stands for; none if it is an index or a number.
  llvm::ArrayRef<mlir::Value> valuesOf(Symbol symbol) const;

  /// The tile's axes that the symbol's value depends on.
  llvm::SmallVector<unsigned, 2> axesOf(Symbol symbol) const;
  /// One number for all of a tile.
  bool isUniform(const Polynomial &polynomial) const;
  /// Whether it may differ between iterations of the loop.
  bool variesIn(const Polynomial &polynomial, mlir::Operation *loop) const;

private:
  Polynomial compute(mlir::Value value);
  std::optional<Polynomial> follow(mlir::Operation *op);
  std::optional<Polynomial> followArithmetic(mlir::Operation *op);
  std::optional<Polynomial> followArgument(mlir::BlockArgument argument);
  std::optional<Polynomial> followResult(mlir::scf::ForOp loop, mlir::OpResult result);
  Polynomial withAxes(const Polynomial &polynomial, llvm::ArrayRef<unsigned> axes);
  Polynomial opaque(mlir::Value value) { return Polynomial::symbol(symbolOf(value)); }
  mlir::Value sameComputation(mlir::Value value);

  std::vector<SymbolMeaning> meanings;
  std::map<SymbolMeaning, Symbol> symbols;
  llvm::DenseMap<mlir::Value, Polynomial> known;
  /// The first result of each pure operation: by its name, attributes, type and operands.
  using Computation =
      std::tuple<const void *, const void *, const void *, std::vector<Polynomial::Terms>>;
  std::map<Computation, mlir::Value> computed;
  /// The values that are the same as the first one of them.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> alike;
  /// A loop-carried value whose step is being looked for: a symbol meanwhile.
  llvm::SmallVector<mlir::Value> assumed;
};

} // namespace kiln

#endif
