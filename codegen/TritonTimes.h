//===- TritonTimes.h - what Triton's autotuner measured ---------*- C++ -*-===//
//
// Reads one `KERNEL.autotune.json` of Triton's cache (TRITON_CACHE_AUTOTUNING=1): the tuning key of
// one call, and the times of its configs.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TRITONTIMES_H
#define KILN_CODEGEN_TRITONTIMES_H

#include "codegen/TuningFile.h"

namespace kiln {

struct TritonConfig {
  Named<Literal> values;
  int64_t numWarps = 4, numStages = 3, numCtas = 1;
  SpecPlace place;

  /// num_warps, num_stages or num_ctas; null for any other name.
  int64_t *launchOption(llvm::StringRef name);
};

struct TritonConfigTime : TritonConfig {
  /// Median, in microseconds; empty for a config that did not run.
  std::optional<double> time;
};

struct TritonTimes {
  /// The values of the arguments that `key` of @triton.autotune names, in its order, up to the
  /// first that is no integer: behind them come the types of all arguments.
  std::vector<int64_t> key;
  std::vector<TritonConfigTime> configs;
  SpecPlace place;
};

/// Reports every mistake of the file; empty then.
std::optional<TritonTimes> readTritonTimes(const SourceFile &file, DiagnosticEngine &diagnostics);

} // namespace kiln

#endif // KILN_CODEGEN_TRITONTIMES_H
