// The config that the flags of kiln compile give: -w, -ns and --option.

#ifndef KILN_COMPILER_DRIVER_TRITON_FLAGCONFIG_H
#define KILN_COMPILER_DRIVER_TRITON_FLAGCONFIG_H

#include "codegen/Spec.h"
#include "compiler/Basic/Diagnostics.h"
#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

class FlagConfig {
public:
  FlagConfig(const CompileOptions &options, DiagnosticEngine &diagnostics)
      : options(options), diagnostics(diagnostics) {}

  /// False after a mistake, which is reported.
  bool read(SpecConfig &config);

private:
  /// What -w and -ns give counts as an option of theirs.
  void readLaunchFlag(SpecConfig &config, llvm::StringRef flag, llvm::StringRef name,
                      std::optional<unsigned> given);
  bool readOption(SpecConfig &config, llvm::StringRef name, llvm::StringRef text);

  const CompileOptions &options;
  DiagnosticEngine &diagnostics;
};

} // namespace kiln

#endif
