//===- ChoiceTable.h - configs that others have chosen ----------*- C++ -*-===//
//
// Reads a JSON table that says which config to take by one number M, mostly the rows of a product,
// and not how long any takes:
//
//   {"16": {"BLOCK_SIZE_M": 16, …, "num_warps": 4}, "32": {…}}           vLLM's fused_moe: the
//                                                                         nearest number counts
//   {"M_LEQ_16": {…}, "M_LEQ_64": {…}, "M_GEQ_512": {…}, "any": {…}}      aiter's gemm: the least
//                                                                         bound that holds
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_CHOICETABLE_H
#define KILN_CODEGEN_CHOICETABLE_H

#include "codegen/TritonTimes.h"

namespace kiln {

struct Choice {
  /// Values of M for which the table states it: the number itself, or both ends of an interval.
  std::vector<int64_t> rows;
  TritonConfig config;
};

/// Reports every mistake of the file; empty then.
std::optional<std::vector<Choice>> readChoiceTable(const SourceFile &file,
                                                   DiagnosticEngine &diagnostics);

} // namespace kiln

#endif // KILN_CODEGEN_CHOICETABLE_H
