// Operands of dots that run ahead through registers.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PREFETCHOPERANDS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_PREFETCHOPERANDS_H

#include "mlir/Pass/Pass.h"

namespace kiln {

/// Where no copies bring operands to shared memory, has threads load what feeds dots an
/// iteration ahead, and store it to the dots' buffers once these are read, if the loop or else the
/// kernel has stages. On func.func, after kiln-stage-operands; the module names the target.
std::unique_ptr<mlir::Pass> createPrefetchOperandsPass();

} // namespace kiln

#endif
