// Loads and stores as the builtins make them, after their options have been read.
#ifndef KILN_COMPILER_SEMA_BUILTINS_MEMORYACCESS_H
#define KILN_COMPILER_SEMA_BUILTINS_MEMORYACCESS_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

struct AccessOptions {
  tile::CacheModifier cache = tile::CacheModifier::None;
  tile::EvictionPolicy evict = tile::EvictionPolicy::Normal;
  bool isVolatile = false;
};

/// Reads the cache and eviction arguments. Empty after an error.
std::optional<AccessOptions> readAccessOptions(PythonOperations &python, const Value &cache,
                                               const Value &eviction, bool isStore);
/// `mask` and `other` may be missing (null); they are broadcast and converted.
Value emitLoad(TensorBuilder &build, Tensor pointer, Tensor mask, Tensor other,
               const AccessOptions &options);
/// Reports a pointer that is not to be written through.
bool checkWritable(PythonOperations &python, const TensorType &pointer);
/// The type of `pointee` in memory: booleans are bytes there.
DType memoryType(DType pointee);
Value emitStore(TensorBuilder &build, Tensor pointer, Tensor value, Tensor mask,
                const AccessOptions &options);

/// `count` integer scalars as 64-bit ones. Empty after an error.
std::optional<std::vector<Tensor>> readIndices(TensorBuilder &build, const Value &list,
                                               llvm::StringRef what, size_t count);
Value loadBlock(TensorBuilder &build, const Call &call, const AccessOptions &options);
Value storeBlock(TensorBuilder &build, const Call &call, const AccessOptions &options);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_BUILTINS_MEMORYACCESS_H
