// Where the time of a build went: --timing.

#ifndef KILN_COMPILER_DRIVER_JOBS_TIMING_H
#define KILN_COMPILER_DRIVER_JOBS_TIMING_H

#include "compiler/Driver/Jobs/VariantResult.h"
#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {

/// Measures stages that follow one another in this process. CPU time is this process's and that of
/// the tools that it has waited for (ptxas, lld).
class StageClock {
public:
  StageClock() : last(now()) {}
  /// Ends a stage: adds the time since the one before, or since this was made.
  void note(llvm::StringRef stage);
  std::vector<StageTime> take() { return std::move(times); }

private:
  struct Reading {
    double wall, cpu; ///< seconds
  };
  static Reading now();

  Reading last;
  std::vector<StageTime> times;
};

/// Writes the stages of all variants that were worked on to the file, or to standard output for
/// "-", as JSON (docs/cli.md).
llvm::Error writeTiming(llvm::StringRef path, const BuildPlan &plan,
                        llvm::ArrayRef<VariantResult> results);

} // namespace kiln

#endif
