#include "compiler/Driver/Planning/DispatchChecks.h"
#include "codegen/DispatchProof.h"
#include "compiler/Driver/Planning/BuildPlan.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {
namespace {

using Kind = DispatchMistake::Kind;

DiagKind diagnosticOf(const DispatchMistake &mistake, bool isTotal) {
  bool isServed = mistake.kind == Kind::DeadVariant || mistake.kind == Kind::EmptyGrid;
  if (mistake.isUndecided)
    return isTotal && !isServed ? DiagKind::SpecTotalUndecided : DiagKind::SpecUndecided;
  if (isTotal && !isServed)
    return DiagKind::SpecNotTotal;
  if (mistake.kind == Kind::Gap)
    return DiagKind::SpecGap;
  return mistake.kind == Kind::DeadVariant ? DiagKind::SpecDeadVariant : DiagKind::SpecGridRange;
}

void report(const EntryModel &entry, const DispatchMistake &mistake,
            DiagnosticEngine &diagnostics) {
  const SpecPlace &place = entry.rangesPlace;
  diagnostics.report(diagnosticOf(mistake, entry.isTotal), place.range, place.path, mistake.text);
}

bool isStated(const EntryModel &entry) { return entry.isTotal || !entry.ranges.empty(); }

/// The entry point's variants on each target that it has some for.
template <typename Visit>
std::vector<TargetVariants> variantsOf(const LibraryModel &model, Visit visit) {
  std::vector<TargetVariants> all(model.targets.size());
  visit([&](unsigned target, unsigned variant, int64_t numWarps, int64_t numCtas) {
    all[target].target = model.targets[target].name;
    std::vector<PlacedVariant> &variants = all[target].variants;
    bool isNew = llvm::none_of(
        variants, [&](const PlacedVariant &known) { return known.variant == variant; });
    if (isNew)
      variants.push_back({variant, gridLimits(model.targets[target], numWarps, numCtas)});
  });
  llvm::erase_if(all, [](const TargetVariants &target) { return target.variants.empty(); });
  return all;
}

std::vector<TargetVariants> plannedVariants(const BuildPlan &plan, unsigned entry) {
  return variantsOf(plan.model, [&](auto add) {
    for (const CompileJob &job : plan.jobs)
      if (job.entry == entry)
        add(job.target, job.variant, job.instance.numWarps, job.instance.numCtas);
  });
}

std::vector<TargetVariants> builtVariants(const LibraryModel &model, const EntryModel &entry) {
  auto effective = [](const VariantBinary &binary, llvm::StringRef option) {
    auto it =
        llvm::find_if(binary.effective, [&](const auto &value) { return value.first == option; });
    return it == binary.effective.end() ? int64_t(1) : it->second;
  };
  return variantsOf(model, [&](auto add) {
    for (auto [index, variant] : llvm::enumerate(entry.variants))
      for (const VariantBinary &binary : variant.binaries)
        add(binary.target, index, effective(binary, "num_warps"), effective(binary, "num_ctas"));
  });
}

using VariantNumbers = std::vector<std::pair<llvm::StringRef, std::vector<unsigned>>>;

/// The variants of each target, in order.
VariantNumbers numbersOf(llvm::ArrayRef<TargetVariants> targets) {
  VariantNumbers numbers;
  for (const TargetVariants &target : targets) {
    std::vector<unsigned> &own =
        numbers.emplace_back(target.target, std::vector<unsigned>()).second;
    for (const PlacedVariant &variant : target.variants)
      own.push_back(variant.variant);
    llvm::sort(own);
  }
  return numbers;
}

} // namespace

void checkDispatch(BuildPlan &plan, DiagnosticEngine &diagnostics) {
  for (auto [index, entry] : llvm::enumerate(plan.model.entries)) {
    if (!isStated(entry))
      continue;
    DispatchProof proof = proveDispatch(entry, plannedVariants(plan, index));
    for (const DispatchMistake &mistake : proof.mistakes)
      report(entry, mistake, diagnostics);
    entry.dispatch = std::move(proof.summary);
  }
}

void checkDispatchAgain(BuildPlan &plan, DiagnosticEngine &diagnostics) {
  for (auto [index, entry] : llvm::enumerate(plan.model.entries)) {
    std::vector<TargetVariants> targets = builtVariants(plan.model, entry);
    if (!isStated(entry) || numbersOf(targets) == numbersOf(plannedVariants(plan, index)))
      continue;
    DispatchProof proof = proveDispatch(entry, targets);
    for (const DispatchMistake &mistake : proof.mistakes)
      if (mistake.kind == Kind::Gap)
        report(entry, mistake, diagnostics);
    entry.dispatch = std::move(proof.summary);
  }
}

} // namespace kiln
