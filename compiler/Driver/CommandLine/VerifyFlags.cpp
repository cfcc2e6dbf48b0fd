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

VerifyOptions VerifyFlags::options(const CompilerFlags &compiler,
                                   const LibraryFlags &libraryFlags) const {
  VerifyOptions verify;
  verify.library = library;
  verify.libraryName = libraryFlags.libraryName;
  verify.libraryPrefix = libraryFlags.libraryPrefix;
  if (library.empty()) {
    verify.spec = required(specPath, "the path of a spec, or --library");
    verify.capture = required(capture, "the folder of a capture");
    if (!verify.libraryName.empty() || !verify.libraryPrefix.empty())
      usageError("--name and --prefix are for --library");
  } else {
    verify.capture = required(specPath, "the folder of a capture");
    if (!capture.empty())
      usageError("--library takes the place of a spec: expected the folder of a capture alone");
  }
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
