// What captured launches are replayed with: kernels of a spec (SpecKernels.h), or a library that
// was built before (BuiltLibrary.h).

#ifndef KILN_COMPILER_DRIVER_VERIFY_VERIFIEDKERNELS_H
#define KILN_COMPILER_DRIVER_VERIFY_VERIFIEDKERNELS_H

#include "compiler/Driver/Verify/Replay.h"

namespace kiln {

/// A launch that a variant cannot make: its arguments are not those that the variant relies on, or
/// it does not exist for the device.
class NotAccepted : public llvm::ErrorInfo<NotAccepted> {
public:
  static char ID;
  explicit NotAccepted(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &out) const override { out << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

class VerifiedKernels {
public:
  virtual ~VerifiedKernels() = default;

  virtual const TargetInfo &target() const = 0;
  /// The functions that were captured. Replay::entry is an index into them.
  virtual llvm::ArrayRef<EntryModel> entries() const = 0;
  /// Fills the variants of a replay whose arguments are bound, or says what is wrong with it.
  virtual void choose(const CapturedLaunch &launch, Replay &replay) = 0;
  /// Makes the chosen variants ready, before anything starts threads; where one does not fit the
  /// target, it goes. False after errors, which are reported.
  virtual bool load(std::vector<Replay> &replays) = 0;
  /// The runtime that launches are made by.
  virtual RuntimeFunctions runtime() const { return {}; }
  /// Launches the best variant of a replay with these values and waits for the end. The name of the
  /// one that ran.
  virtual llvm::Expected<std::string> launch(const CapturedLaunch &launch, const Replay &replay,
                                             std::vector<RunValue> &values, RunDevice &device) = 0;
};

/// Where the caller passes the grid, it goes with the config that was launched.
bool isGridOf(const CapturedLaunch &launch, const VariantModel &variant);
constexpr llvm::StringLiteral noVariantOfConstants =
    "no variant has the constants that it was launched with";

/// Reports each captured function that is none of `names`, those of the spec or library at `path`.
void reportUnknownFunctions(llvm::ArrayRef<CapturedLaunch> launches,
                            llvm::ArrayRef<std::string> names, llvm::StringRef path,
                            DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
