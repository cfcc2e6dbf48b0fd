#include "compiler/Driver/CommandLine/VerifyFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"

namespace kiln {

static std::pair<ElementType, double> tolerance(llvm::StringRef text) {
  auto [name, number] = splitAssignment("--tolerance", text);
  std::optional<ElementType> element = parseElementType(name);
  double value = 0;
  if (!element)
    usageError("--tolerance: there is no type '" + name + "'");
  if (llvm::StringRef(number).getAsDouble(value) || !(value >= 0))
    usageError("--tolerance: expected a number of at least 0, got '" + number + "'");
  return {*element, value};
}

VerifyOptions VerifyFlags::options(const CompilerFlags &compiler) const {
  VerifyOptions verify;
  verify.spec = required(specPath, "the path of a spec");
  verify.capture = required(capture, "the folder of a capture");
  if (compiler.targets.size() != 1)
    usageError("expected one --target, got " + llvm::Twine(compiler.targets.size()));
  verify.kernels = valuesOf(kernels);
  for (const std::string &text : tolerances)
    verify.tolerances.push_back(tolerance(text));
  verify.check = check;
  verify.allVariants = allVariants;
  return verify;
}

} // namespace kiln
