#include "compiler/Driver/CommandLine/InitFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"

namespace kiln {

InitOptions InitFlags::options() const {
  return {required(sourcePath, "the path of a kernel's source"), valuesOf(kernels), output};
}

} // namespace kiln
