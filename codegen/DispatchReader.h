//===- DispatchReader.h - the "dispatch" of a kernel in a spec --*- C++ -*-===//
#ifndef KILN_CODEGEN_DISPATCHREADER_H
#define KILN_CODEGEN_DISPATCHREADER_H

#include "codegen/SpecValues.h"

namespace kiln {

/// Reads the object `item` of `file` into the kernel, whose signatures and launch parameters are
/// known: its key, the calls to measure, and what becomes of measurements.
void readDispatch(const SourceFile &file, DiagnosticEngine &diagnostics, const SpecItem &item,
                  SpecKernel &kernel);

} // namespace kiln

#endif // KILN_CODEGEN_DISPATCHREADER_H
