// The commands that look at a library that was made: as a table (inspect), as a page (report).
//
// Both read an archive or a manifest, report what is wrong on standard error, and return the
// process's exit status: 0, or 1 after errors.

#ifndef KILN_COMPILER_DRIVER_REPORT_REPORT_H
#define KILN_COMPILER_DRIVER_REPORT_REPORT_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// kiln inspect: prints variants, targets, resources and bytes, as a table or as JSON.
int runInspect(const CommandLine &line);

/// kiln report: reads files of counts (--counts), too, and writes one page of HTML to -o.
int runReport(const CommandLine &line);

} // namespace kiln

#endif
