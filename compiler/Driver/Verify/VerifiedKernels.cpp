#include "compiler/Driver/Verify/VerifiedKernels.h"
#include "compiler/Basic/NameSuggestion.h"
#include <set>

namespace kiln {

char NotAccepted::ID = 0;

bool isGridOf(const CapturedLaunch &launch, const VariantModel &variant) {
  return llvm::all_of(launch.constants, [&](const auto &constant) {
    std::optional<int64_t> own = findConstant(variant, constant.first);
    return !own || *own == constant.second;
  });
}

void reportUnknownFunctions(llvm::ArrayRef<CapturedLaunch> launches,
                            llvm::ArrayRef<std::string> names, llvm::StringRef path,
                            DiagnosticEngine &diagnostics) {
  std::set<std::string> wanted;
  for (const CapturedLaunch &launch : launches)
    wanted.insert(launch.function);
  std::vector<llvm::StringRef> known(names.begin(), names.end());
  for (const std::string &name : wanted)
    if (!llvm::is_contained(names, name))
      diagnostics.report(DiagKind::DriverNoEntry, DiagPlace(), path, name)
          .withHint(suggestName(name, known));
}

} // namespace kiln
