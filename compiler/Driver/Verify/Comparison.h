// Whether what a launch left in memory is what it left when it was recorded.
//
// An element agrees when it is no further from the recorded one than t * (|recorded| + rms), where
// t is its type's tolerance and rms the root of the mean square of all elements that the recorded
// launch changed: sums that cancel are as exact as their summands are. Integers, addresses and
// bytes that no argument gives a type agree when they are equal, unless a tolerance says else; NaN
// agrees with NaN.

#ifndef KILN_COMPILER_DRIVER_VERIFY_COMPARISON_H
#define KILN_COMPILER_DRIVER_VERIFY_COMPARISON_H

#include "codegen/Signature.h"
#include <map>

namespace kiln {

/// Of each type; what is missing has to be equal.
using Tolerances = std::map<ElementType, double>;
const Tolerances &defaultTolerances();

/// One reading of a storage's bytes: elements of a type, the first at byte `phase`.
struct ElementView {
  ElementType element = ElementType::UInt8;
  uint64_t phase = 0;
};

struct Comparison {
  /// Elements that the recorded launch changed.
  uint64_t changed = 0;
  /// The largest distance in units of |recorded| + rms; infinite for NaN on one side alone.
  double worst = 0;
  /// Elements that do not agree, and of the worst of them its first byte, its view and its values.
  uint64_t differing = 0, place = 0;
  ElementView view;
  double got = 0, wanted = 0, rms = 0;
};

/// The three texts have the same length. An element that agrees in one of the views agrees; without
/// a view, bytes are compared.
Comparison compareStorage(llvm::StringRef before, llvm::StringRef wanted, llvm::StringRef got,
                          llvm::ArrayRef<ElementView> views, const Tolerances &tolerances);

} // namespace kiln

#endif
