#include "compiler/Report/TimeBound.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <tuple>

namespace kiln {
namespace {

std::vector<GpuModel> readTable() {
  std::vector<GpuModel> models;
  GpuModel model;
#define KILN_GPU(NAME, TITLE, TARGET, PROCESSORS, MEGAHERTZ, GIGABYTES, ISSUE, WAVEFRONTS,         \
                 SPECIAL)                                                                          \
  model = {NAME,  TITLE,      TARGET,  PROCESSORS, 1e6 * (MEGAHERTZ), 1e9 * (GIGABYTES),           \
           ISSUE, WAVEFRONTS, SPECIAL, {}};
#define KILN_RATE(KIND, TERA) model.rates[KIND] = 1e12 * (TERA);
#define KILN_GPU_END models.push_back(model);
#include "compiler/Report/Gpus.def"
#undef KILN_GPU
#undef KILN_RATE
#undef KILN_GPU_END
  return models;
}

/// The part of a launch's work that the processor with most blocks does, times their number.
double imbalanceOf(uint64_t blocks, uint32_t processors) {
  uint64_t most = (blocks + processors - 1) / processors;
  return double(most) * processors / double(blocks);
}

/// Warp instructions that the machine code has too. Back ends move integer arithmetic out of loops
/// and into addresses, merge comparisons with branches, and unroll.
uint64_t keptInstructions(const CountTotals &total) {
  uint64_t kept = 0;
  for (const auto &[kind, instructions] : total.classes)
    if (!llvm::is_contained({"integer", "conversion", "select", "branch", "address", "other"},
                            kind))
      kept += instructions.warps;
  return kept;
}

class Bounding {
public:
  Bounding(const CountReport &counts, const GpuModel &gpu) : counts(counts), gpu(gpu) {
    bound.gpu = &gpu;
    bound.imbalance = imbalanceOf(counts.blocks, gpu.processors);
  }

  TimeBound find() {
    add("memory", double(leastBytes(counts)), "bytes", gpu.bandwidth, /*perProcessor=*/false);
    double clocks = gpu.clock * gpu.processors;
    for (const auto &[kind, number] : counts.operations)
      add(kind, double(number), "operations", gpu.rateOf(kind), /*perProcessor=*/true);
    add("shared memory", double(counts.total.wavefronts), "wavefronts", clocks * gpu.wavefronts,
        /*perProcessor=*/true);
    add("issue", double(keptInstructions(counts.total)), "warp instructions", clocks * gpu.issue,
        /*perProcessor=*/true);
    llvm::sort(bound.terms, [](const BoundTerm &a, const BoundTerm &b) {
      return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
    });
    return std::move(bound);
  }

private:
  void add(const std::string &name, double amount, const char *unit, double rate,
           bool perProcessor) {
    if (amount == 0)
      return;
    if (rate == 0)
      bound.missing.push_back(name);
    else
      bound.terms.push_back(
          {name, amount, unit, rate, amount / rate * (perProcessor ? bound.imbalance : 1)});
  }

  const CountReport &counts;
  const GpuModel &gpu;
  TimeBound bound;
};

} // namespace

double GpuModel::rateOf(const std::string &kind) const {
  if (kind == "special")
    return clock * processors * special;
  auto found = rates.find(kind);
  return found == rates.end() ? 0 : found->second;
}

const std::vector<GpuModel> &gpuModels() {
  static const std::vector<GpuModel> models = readTable();
  return models;
}

const GpuModel *findGpu(llvm::StringRef name) {
  for (const GpuModel &model : gpuModels())
    if (model.name == name)
      return &model;
  return nullptr;
}

uint64_t leastBytes(const CountReport &counts) {
  uint64_t arrays = 0;
  for (const CountedArgument &argument : counts.arguments)
    arrays += argument.bytes;
  uint64_t accessed = counts.total.globalBytes();
  return arrays ? std::min(arrays, accessed) : accessed;
}

std::optional<TimeBound> boundOf(const CountReport &counts, const GpuModel &gpu) {
  if (!counts.blocks || counts.hardwareTarget() != gpu.target)
    return std::nullopt;
  TimeBound bound = Bounding(counts, gpu).find();
  if (bound.terms.empty())
    return std::nullopt;
  return bound;
}

} // namespace kiln
