// The functions that run builtins: builtin<ID>, one per row of Builtins.def. What each takes says
// what it may touch. By itself a row for kernels takes a TensorBuilder, and one that may be called
// anywhere PythonOperations; Contexts.def lists those that take more.
#ifndef KILN_COMPILER_SEMA_TABLE_HANDLERS_H
#define KILN_COMPILER_SEMA_TABLE_HANDLERS_H

#include "compiler/Sema/Values/Builtin.h"

namespace kiln::sema {

/// A type for each builtin.
namespace builtin {
#define KILN_BUILTIN(ID, LIBRARY, NAME, SIGNATURE, PLACE, TEXT) struct ID;
#include "compiler/Sema/Table/Builtins.def"
} // namespace builtin

template <typename Builtin, Place Where> struct BuiltinContext {
  using Type = std::conditional_t<Where == Place::Kernel, TensorBuilder, PythonOperations>;
};
#define KILN_CONTEXT(CONTEXT, ID)                                                                  \
  template <Place Where> struct BuiltinContext<builtin::ID, Where> { using Type = CONTEXT; };
#include "compiler/Sema/Table/Contexts.def"

#define KILN_BUILTIN(ID, LIBRARY, NAME, SIGNATURE, PLACE, TEXT)                                    \
  Value builtin##ID(BuiltinContext<builtin::ID, Place::PLACE>::Type &, Call &);
#include "compiler/Sema/Table/Builtins.def"

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TABLE_HANDLERS_H
