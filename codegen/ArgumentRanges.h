//===- ArgumentRanges.h - which calls there are -----------------*- C++ -*-===//
//
// What callers may pass, as a spec's "arguments" declares it: checked against the types, refused at
// run time, and the ground of what is proven about all calls (DispatchProof.h).
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_ARGUMENTRANGES_H
#define KILN_CODEGEN_ARGUMENTRANGES_H

#include "codegen/BoxSearch.h"
#include "codegen/LibraryModel.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

/// The values that an integer type has; those beyond 64 signed bits have no expression.
IntegerRange rangeOfType(const ArgumentType &type);

/// Adds the kernel's ranges to `entry`, whose arguments are known: each is about an integer
/// argument of some entry point of the kernel, and within its type. False, with reports, where one
/// is not.
bool addRanges(const SpecKernel &kernel, EntryModel &entry, DiagnosticEngine &diagnostics);

/// Reports a promise of the variant's signature that no declared value keeps. False then.
bool checkPromises(const EntryModel &entry, const VariantModel &variant,
                   DiagnosticEngine &diagnostics);

/// What was declared of an argument, or null.
const EntryRange *findRange(const EntryModel &entry, unsigned argument);

/// The values that calls may have for an argument: those of its type, as declared, as the runtime
/// lets them through (no size below zero, arrays aligned to their elements, tensors of a
/// descriptor), and as every signature promises.
Axis axisOf(const EntryModel &entry, unsigned argument);

} // namespace kiln

#endif // KILN_CODEGEN_ARGUMENTRANGES_H
