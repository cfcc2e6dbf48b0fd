// A runtime as a table of its functions: this program's own unless others are put in their place.

#ifndef KILN_COMPILER_DRIVER_RUN_RUNTIMEFUNCTIONS_H
#define KILN_COMPILER_DRIVER_RUN_RUNTIMEFUNCTIONS_H

#include "runtime/kiln.h"

namespace kiln {

struct RuntimeFunctions {
#define KILN_RUNTIME_FUNCTION(NAME) decltype(&::NAME) NAME = &::NAME; // NOLINT: a name
#include "compiler/Driver/Run/RuntimeFunctions.def"
};

} // namespace kiln

#endif
