// The functions that run builtins, by the rows of Builtins.td. What each takes says what it may
// touch.
#ifndef KILN_COMPILER_SEMA_TABLE_HANDLERS_H
#define KILN_COMPILER_SEMA_TABLE_HANDLERS_H

#include "compiler/Sema/Values/Builtin.h"

namespace kiln::sema {

#include "compiler/Sema/Table/Handlers.h.inc"

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TABLE_HANDLERS_H
