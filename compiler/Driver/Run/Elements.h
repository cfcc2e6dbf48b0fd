// Elements of arrays: numbers as bytes, and how NumPy calls their types.

#ifndef KILN_COMPILER_DRIVER_RUN_ELEMENTS_H
#define KILN_COMPILER_DRIVER_RUN_ELEMENTS_H

#include "codegen/Signature.h"
#include <optional>

namespace kiln {

/// How .npy files spell elements of this type. bf16 and 8-bit floats, which NumPy lacks, are their
/// bits: "<u2", "|u1".
std::string npyTypeOf(ElementType type);

/// `value` rounded to the type: to nearest for floats, towards zero and clamped for integers; NaN
/// is 0 in integers. The bytes of the element, the lowest first. Empty for fp8e4b15, which no
/// conversion is known for.
std::optional<uint64_t> elementOf(ElementType type, double value);

/// The number that an element is, from its bytes; integers beyond 53 bits are rounded.
double numberOf(ElementType type, uint64_t bits);

} // namespace kiln

#endif
