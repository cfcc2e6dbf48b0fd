// Arithmetic of fp32 and fp64 in rounding modes other than to nearest, on targets that round to
// nearest only.
#ifndef KILN_COMPILER_SEMA_TENSORS_DIRECTEDROUNDING_H
#define KILN_COMPILER_SEMA_TENSORS_DIRECTEDROUNDING_H

#include "compiler/Sema/Tensors/Lanes.h"

namespace kiln::sema {

enum class Direction : uint8_t { TowardZero, Down, Up };

/// What CUDA's names and PTX's modifiers end in: "rz"; "rd" or "rm"; "ru" or "rp". Empty for
/// others.
std::optional<Direction> directionNamed(llvm::StringRef suffix);

// Each is rounded once and exact where it can be, with the sign of zero and the special values that
// IEEE 754 gives. Operands are of one type, fp32 or fp64.
Lanes sumToward(Direction direction, const Lanes &a, const Lanes &b);
Lanes productToward(Direction direction, const Lanes &a, const Lanes &b);
/// a * b + c.
Lanes fusedToward(Direction direction, const Lanes &a, const Lanes &b, const Lanes &c);
Lanes quotientToward(Direction direction, const Lanes &a, const Lanes &b);
Lanes rootToward(Direction direction, const Lanes &x);
/// fp64 or an integer as fp32, an integer of 64 bits as fp64.
Lanes convertToward(Direction direction, const Lanes &x, DType type);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_DIRECTEDROUNDING_H
