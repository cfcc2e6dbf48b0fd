//===- ProductsInFlight.h - Products that ptxas would wait for one by one -----===//
//
// ptxas has every product of a loop waited for (C7514, C7515) where it sees the sums
// touched while products are in flight. wgmma.wait_group does not say which registers it
// waits for, so that
//   * what rounds the sums behind a loop may move ahead of the wait. A branch that is
//     never taken keeps both apart: lanes have numbers up to 31;
//   * the zeros of a loop that runs no times meet the sums in front of the wait. One more
//     wait stands where the loop ends.
//
// A barrier, a fence, a label or copies of the sums behind the wait do not help.
//
//===---------------------------------------------------------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_PRODUCTSINFLIGHT_H
#define KILN_COMPILER_TARGET_NVIDIA_PRODUCTSINFLIGHT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln {

/// The PTX with a wait where a loop with products ends, and such a branch behind each wait for all.
std::string withProductsApart(llvm::StringRef ptx);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_PRODUCTSINFLIGHT_H
