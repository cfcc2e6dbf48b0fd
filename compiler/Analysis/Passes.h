// The analyses as kiln-opt passes that print what they know.

#ifndef KILN_COMPILER_ANALYSIS_PASSES_H
#define KILN_COMPILER_ANALYSIS_PASSES_H

namespace kiln {

/// Registers `kiln-print-axis-info`.
void registerAnalysisPasses();

} // namespace kiln

#endif
