// The functions that are one operation on floats, by their rows in the table of builtins.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/FloatFunctions.h"

namespace kiln::sema {

#include "compiler/Sema/Table/Operations.cpp.inc"

} // namespace kiln::sema
