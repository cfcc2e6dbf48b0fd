// What --count and its like show of a launch.

#ifndef KILN_COMPILER_DRIVER_RUN_RUNCOUNTS_H
#define KILN_COMPILER_DRIVER_RUN_RUNCOUNTS_H

#include "codegen/LibraryModel.h"
#include "compiler/Driver/Run/RunValues.h"
#include "compiler/Report/CountReport.h"

namespace kiln {

/// An argument as counts name it: `text` is what was given for it, `value` what that is.
CountedArgument countedArgument(const EntryArgument &argument, const RunValue &value,
                                llvm::StringRef text);

/// The page of a report, of this launch alone.
std::string countPage(const CountReport &counts);

} // namespace kiln

#endif
