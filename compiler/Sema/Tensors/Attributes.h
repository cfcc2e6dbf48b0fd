// What kernels ask of tensors, types, block pointers and descriptors by `value.name` and
// `value[index]`. Error values after a report.
#ifndef KILN_COMPILER_SEMA_TENSORS_ATTRIBUTES_H
#define KILN_COMPILER_SEMA_TENSORS_ATTRIBUTES_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

/// `function` with its first argument; None for a method of Python's.
Value bindMethod(const Value &self, const Value &function, llvm::StringRef name);
/// Reports that a value has no such attribute.
Value unknownAttribute(const Reporting &reporting, const Value &base, llvm::StringRef name);

Value tensorAttribute(TensorBuilder &build, Tensor tensor, llvm::StringRef name);
Value typeAttribute(TensorBuilder &build, const TensorType &type, llvm::StringRef name);
Value blockPointerAttribute(TensorBuilder &build, const Value &pointer, llvm::StringRef name);
Value descriptorAttribute(TensorBuilder &build, const Value &descriptor, llvm::StringRef name);
/// `x[:, None]`
Value indexTensor(TensorBuilder &build, Tensor tensor, const Value &index);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_ATTRIBUTES_H
