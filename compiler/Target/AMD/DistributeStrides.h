// What a loop multiplies by strides that it does not change.

#ifndef KILN_COMPILER_TARGET_AMD_DISTRIBUTESTRIDES_H
#define KILN_COMPILER_TARGET_AMD_DISTRIBUTESTRIDES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Products in innermost loops of a stride and sums become sums of products, where several have in
/// common what the loop changes of them.
void distributeStrides(llvm::Function &kernel);

} // namespace kiln

#endif
