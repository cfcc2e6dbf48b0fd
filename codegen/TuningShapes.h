//===- TuningShapes.h - the calls that a tuner times ------------*- C++ -*-===//
//
// From a spec's "dispatch" to numbers: each combination of the shapes gives every argument of an
// entry point its value. Expressions are evaluated here, at build time, so that the tuner is
// tables.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TUNINGSHAPES_H
#define KILN_CODEGEN_TUNINGSHAPES_H

#include "codegen/LibraryModel.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

/// What one argument is in a call.
struct TunedValue {
  /// An integer's value; how many elements an array has.
  int64_t integer = 0;
  /// A float's value.
  double real = 0;
  /// An array's elements: low + i * step, or where step is 0 random, from low to below high.
  int64_t low = 0, high = 0, step = 0;
};

/// A call: a value for each of the entry's arguments, in their order.
using TunedCall = std::vector<TunedValue>;

/// The most calls of an entry point.
inline constexpr size_t kMaxTunedCalls = 100000;

/// The calls that `kernel` declares for the entry point, without repeats, in the order of the
/// shapes; the last name of a shape varies fastest. Reports what is wrong with the declaration;
/// none then.
std::vector<TunedCall> tunedCalls(const EntryModel &entry, const SpecKernel &kernel,
                                  DiagnosticEngine &diagnostics);

} // namespace kiln

#endif // KILN_CODEGEN_TUNINGSHAPES_H
