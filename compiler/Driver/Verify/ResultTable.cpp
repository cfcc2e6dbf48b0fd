#include "compiler/Driver/Verify/ResultTable.h"
#include "llvm/Support/Format.h"
#include <cmath>

namespace kiln {

/// A wide name stands out of its column: lines stay short.
constexpr size_t maxColumn = 40;

/// Its config; what it relies on would fill the line.
static llvm::StringRef configOf(llvm::StringRef variant) { return variant.split(" for ").first; }

static llvm::StringRef variantOf(const Replay &replay) {
  bool isKnown = !replay.variants.empty() && !replay.isLibrarysChoice;
  return isKnown ? configOf(replay.variants.front()) : "-";
}

ResultTable::ResultTable(llvm::ArrayRef<Replay> replays, llvm::ArrayRef<CapturedLaunch> launches,
                         llvm::raw_ostream &out)
    : launches(launches), out(out) {
  for (const Replay &replay : replays) {
    functionWidth = std::max(functionWidth, launches[replay.launch].function.size());
    variantWidth = std::max(variantWidth, variantOf(replay).size());
    if (replay.isLibrarysChoice)
      for (llvm::StringRef variant : replay.variants)
        variantWidth = std::max(variantWidth, configOf(variant).size());
  }
  functionWidth = std::min(functionWidth, maxColumn);
  variantWidth = std::min(variantWidth, maxColumn);
}

llvm::raw_ostream &ResultTable::begin(llvm::StringRef outcome, const Replay &replay) {
  out << llvm::left_justify(outcome, 7) << "  " << llvm::format("%4u", replay.launch) << "  "
      << llvm::left_justify(launches[replay.launch].function, unsigned(functionWidth)) << "  "
      << llvm::left_justify(variantOf(replay), unsigned(variantWidth)) << "  ";
  return out;
}

void ResultTable::fails(const Replay &replay, llvm::StringRef why) {
  begin("FAILED", replay) << why << "\n";
}

static std::string number(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

/// "out[3, 17] is 0.25, recorded 0.5; 2 elements of fp32 differ by more than 0.002 x (|recorded| +
/// 0.31)"
static void describeDifference(const StorageResult &storage, const Tolerances &tolerances,
                               llvm::raw_ostream &out) {
  const Comparison &comparison = storage.comparison;
  out << storage.place << " is " << number(comparison.got) << ", recorded "
      << number(comparison.wanted) << "; " << comparison.differing << " elements of "
      << elementName(comparison.view.element) << " differ";
  auto tolerance = tolerances.find(comparison.view.element);
  if (tolerance != tolerances.end() && tolerance->second > 0)
    out << " by more than " << number(tolerance->second) << " x (|recorded| + "
        << number(comparison.rms) << ")";
}

bool ResultTable::compares(const Replay &replay, llvm::ArrayRef<StorageResult> storages,
                           const Tolerances &tolerances) {
  const StorageResult *worst = nullptr;
  uint64_t changed = 0;
  double error = 0;
  for (const StorageResult &storage : storages) {
    changed += storage.comparison.changed;
    error = std::max(error, storage.comparison.worst);
    bool differs = storage.comparison.differing != 0;
    if (differs && (!worst || storage.comparison.worst > worst->comparison.worst))
      worst = &storage;
  }
  if (!worst) {
    begin("agrees", replay) << changed << " elements changed, worst error " << number(error)
                            << "\n";
    return true;
  }
  describeDifference(*worst, tolerances, begin("DIFFERS", replay));
  out << "\n";
  return false;
}

} // namespace kiln
