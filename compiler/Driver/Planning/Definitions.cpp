#include "compiler/Driver/Planning/Definitions.h"
#include "compiler/Driver/Planning/SourceNames.h"
#include "compiler/Driver/Planning/SpecPaths.h"

namespace kiln {

NamedConstants definitionsOf(const CompilerOptions &options) {
  NamedConstants defines;
  for (const auto &[name, text] : options.definitions) {
    llvm::StringRef dtype = text;
    bool isDType = dtype.consume_front("tl.") && parseElementType(dtype);
    defines.emplace_back(name, isDType ? Literal::ofDType(dtype.str())
                                       : parseLiteral(text).value_or(Literal::ofString(text)));
  }
  return defines;
}

void checkDefinitions(const Spec &spec, llvm::StringRef specFolder, const CompilerOptions &options,
                      DiagnosticEngine &diagnostics) {
  bool hasConstants = llvm::any_of(
      spec.kernels, [](const SpecKernel &kernel) { return !kernel.constants.empty(); });
  if (options.definitions.empty() && !hasConstants)
    return;
  SourceNames all(options.importRoots);
  for (const SpecKernel &kernel : spec.kernels) {
    all.add(besideSpec(specFolder, kernel.source));
    SourceNames own(options.importRoots);
    if (!kernel.constants.empty())
      own.add(besideSpec(specFolder, kernel.source));
    for (const SpecBinding &constant : kernel.constants)
      if (!own.mentions(constant.name))
        diagnostics
            .report(DiagKind::DriverUnknownConstant, constant.place.range, constant.place.path,
                    constant.name)
            .withHint(own.suggest(constant.name));
  }
  if (!options.only.empty())
    return;
  for (const auto &[name, text] : options.definitions)
    if (!all.mentions(name))
      diagnostics.report(DiagKind::DriverUnknownConstant, DiagPlace(), "-D", name)
          .withHint(all.suggest(name));
}

} // namespace kiln
