#include "compiler/Driver/Planning/PieceName.h"
#include "codegen/CNames.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {
namespace {

struct Selector {
  llvm::StringRef entry, variant;
  /// By its canonical name where it is written as a target: "cuda:90" is cuda:sm_90a.
  std::string target;
  /// 2of4: 2 and 4. None: 0.
  uint64_t part = 0, numParts = 0;

  explicit Selector(llvm::StringRef text) {
    llvm::StringRef rest;
    std::tie(entry, rest) = text.split('@');
    std::tie(rest, variant) = rest.split('@');
    llvm::Expected<TargetInfo> parsed = parseTarget(rest);
    target = parsed ? parsed->name : rest.str();
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    auto [number, of] = variant.split("of");
    if (number.getAsInteger(10, part) || of.getAsInteger(10, numParts) || part < 1 ||
        part > numParts)
      part = numParts = 0;
  }
  bool hasEntry(llvm::StringRef name) const { return entry.empty() || entry == name; }
  bool hasTarget(const TargetInfo &one) const {
    return target.empty() || target == one.name || target == mangle(one.name);
  }
  /// A part has the variants whose number leaves it as the remainder: others come and go beside
  /// them.
  bool hasVariant(llvm::StringRef id) const {
    uint64_t number = 0;
    if (numParts)
      return !id.getAsInteger(16, number) && number % numParts + 1 == part;
    return variant.empty() || variant == id;
  }
};

void reportUnknown(llvm::StringRef selector, const llvm::Twine &what, llvm::StringRef name,
                   llvm::ArrayRef<std::string> names, DiagnosticEngine &diagnostics) {
  std::vector<llvm::StringRef> known(names.begin(), names.end());
  diagnostics
      .report(DiagKind::DriverBadFlag, DiagPlace(), "--only " + selector.str(),
              "there is no " + what + " '" + name + "'")
      .withHint(suggestName(name, known));
}

} // namespace

std::string pieceGroup(const EntryModel &entry, const TargetInfo &target) {
  return entry.name + "@" + mangle(target.name);
}

std::string pieceName(const EntryModel &entry, const VariantModel &variant,
                      const TargetInfo &target) {
  return pieceGroup(entry, target) + "@" + variantId(entry, variant);
}

std::vector<std::string> keepEntries(Spec &spec, llvm::function_ref<bool(llvm::StringRef)> isKept) {
  std::vector<std::string> names;
  for (SpecKernel &kernel : spec.kernels) {
    llvm::append_range(names, kernel.entryNames());
    llvm::erase_if(kernel.signatures, [&](const SpecSignature &one) { return !isKept(one.entry); });
  }
  llvm::erase_if(spec.kernels, [](const SpecKernel &one) { return one.signatures.empty(); });
  return names;
}

bool keepSelected(Spec &spec, llvm::ArrayRef<std::string> selectors,
                  DiagnosticEngine &diagnostics) {
  std::vector<std::string> entries = keepEntries(spec, [&](llvm::StringRef entry) {
    return llvm::any_of(selectors,
                        [&](llvm::StringRef one) { return Selector(one).hasEntry(entry); });
  });
  std::vector<std::string> targets;
  for (const TargetInfo &target : spec.targets)
    targets.push_back(target.name);
  for (llvm::StringRef text : selectors) {
    Selector selector(text);
    if (llvm::none_of(entries, [&](llvm::StringRef name) { return selector.hasEntry(name); }))
      reportUnknown(text, "kernel", selector.entry, entries, diagnostics);
    else if (llvm::none_of(spec.targets,
                           [&](const TargetInfo &one) { return selector.hasTarget(one); }))
      reportUnknown(text, "target", selector.target, targets, diagnostics);
  }
  return !diagnostics.hasErrors();
}

void chooseJobs(BuildPlan &plan, llvm::ArrayRef<std::string> selectors,
                DiagnosticEngine &diagnostics) {
  auto names = [&](llvm::StringRef text, const CompileJob &job) {
    Selector selector(text);
    return selector.hasEntry(plan.model.entries[job.entry].name) &&
           selector.hasTarget(plan.model.targets[job.target]) &&
           selector.hasVariant(llvm::StringRef(job.piece).rsplit('@').second);
  };
  for (llvm::StringRef text : selectors)
    if (!Selector(text).numParts &&
        llvm::none_of(plan.jobs, [&](const CompileJob &job) { return names(text, job); }))
      diagnostics
          .report(DiagKind::DriverBadFlag, DiagPlace(), "--only " + text.str(),
                  "no variant is called so")
          .withHint("kiln plan lists them");
  for (unsigned index = 0; index < plan.jobs.size(); ++index)
    if (selectors.empty() || llvm::any_of(selectors, [&](llvm::StringRef text) {
          return names(text, plan.jobs[index]);
        }))
      plan.chosen.push_back(index);
}

} // namespace kiln
