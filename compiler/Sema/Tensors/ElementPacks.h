// Functions that see several elements at a time take neighbours in row-major order: tensors are
// dealt out to one tensor for each place in a group, and put together again.
#ifndef KILN_COMPILER_SEMA_TENSORS_ELEMENTPACKS_H
#define KILN_COMPILER_SEMA_TENSORS_ELEMENTPACKS_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

struct Packing {
  unsigned pack = 1;
  llvm::SmallVector<int64_t, 4> shape;
  /// Of the elements at one place: with pack > 1, [elements / pack].
  llvm::SmallVector<int64_t, 4> partShape;
};

/// Brings the tensors to one shape and reads `pack`, a power of two that divides the number of
/// elements. Empty after an error.
std::optional<Packing> arrangePacks(TensorBuilder &build, const Value &pack,
                                    std::vector<Tensor> &tensors);

/// Appends one tensor for each place. False after an error.
bool dealOut(TensorBuilder &build, const Packing &packing, Tensor tensor,
             std::vector<Tensor> &parts);
/// The reverse; no tensor after an error.
Tensor putTogether(TensorBuilder &build, const Packing &packing, llvm::ArrayRef<Tensor> parts);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_ELEMENTPACKS_H
