// The least time that a launch can take on a GPU: of what was counted, each part of the GPU has its
// share to do, and no part does it faster than it can. docs/report.md says what that leaves out.

#ifndef KILN_COMPILER_REPORT_TIMEBOUND_H
#define KILN_COMPILER_REPORT_TIMEBOUND_H

#include "compiler/Report/CountReport.h"
#include <optional>

namespace kiln {

/// What a GPU can do at most (Gpus.def).
struct GpuModel {
  /// "h100", as --gpu names it, and "NVIDIA H100 SXM".
  std::string name, title;
  /// The target that it runs: "cuda:sm_90a".
  std::string target;
  uint32_t processors = 0;
  /// Clocks of a processor and bytes of memory, each second.
  double clock = 0, bandwidth = 0;
  /// Of a processor in a clock; `issue` is 0 where that is not known.
  uint32_t issue = 0, wavefronts = 0, special = 0;
  /// Operations each second by kind, as CountReport::operations has them.
  std::map<std::string, double> rates;

  /// 0 where the GPU has no such instructions.
  double rateOf(const std::string &kind) const;
};

/// All that there are, in the table's order.
const std::vector<GpuModel> &gpuModels();
/// By name; null without one.
const GpuModel *findGpu(llvm::StringRef name);

/// One part of a GPU and how long it has work.
struct BoundTerm {
  /// "memory", "matrix f16", "shared memory", "issue" ...
  std::string name;
  /// How much, of what: 32768 "bytes".
  double amount = 0;
  std::string unit;
  /// So many each second.
  double rate = 0;
  double seconds = 0;
};

struct TimeBound {
  const GpuModel *gpu = nullptr;
  /// The longest first; never empty where anything was counted.
  std::vector<BoundTerm> terms;
  /// Parts for which the table has no rate, and why: "issue: not published".
  std::vector<std::string> missing;
  /// How many times its share the processor with most blocks does; 1 where they divide evenly.
  double imbalance = 1;

  double seconds() const { return terms.empty() ? 0 : terms.front().seconds; }
  const std::string &limit() const { return terms.front().name; }
};

/// None where the counts are of another target than the GPU's, or nothing ran.
std::optional<TimeBound> boundOf(const CountReport &counts, const GpuModel &gpu);

/// Bytes that go through the device's memory at least: those of the arrays that the launch was
/// given, once, or of the accesses where they are fewer.
uint64_t leastBytes(const CountReport &counts);

} // namespace kiln

#endif
