//===- RuntimeRecords.h - the model's parts as the runtime has them -*- C++ -*-===//
//
// Records of runtime/kiln_records.h, for who launches without generated C.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_RUNTIMERECORDS_H
#define KILN_CODEGEN_RUNTIMERECORDS_H

#include "codegen/Signature.h"
#include "compiler/Target/DeviceBinary.h"
#include "runtime/kiln.h"

namespace kiln {

/// What an argument is to a binary. Not for descriptors.
kiln_param_kind parameterKind(const ArgumentType &type);

/// The name stays `facts`'.
kiln_tensor_map tensorMapRecord(const TensorMapFacts &facts);

} // namespace kiln

#endif // KILN_CODEGEN_RUNTIMERECORDS_H
