#include "compiler/Driver/CommandLine/RunFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

static std::array<int64_t, 3> gridSizes(llvm::StringRef text) {
  std::array<int64_t, 3> sizes = {1, 1, 1};
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (auto [index, part] : llvm::enumerate(parts))
    if (index > 2 || part.trim().getAsInteger(10, sizes[index]))
      usageError("--grid: expected one to three numbers, got '" + text + "'");
  return sizes;
}

RunOptions RunFlags::options(const CompilerFlags &compiler) const {
  RunOptions run;
  run.spec = required(specPath, "the path of a spec");
  run.kernel = required(kernel, "--kernel NAME, the entry point to run");
  if (compiler.targets.size() != 1)
    usageError("expected one --target, got " + llvm::Twine(compiler.targets.size()));
  if (variant.getNumOccurrences() && variant < 0)
    usageError("--variant: expected a number from 0, got " + llvm::Twine(variant));
  if (variant >= 0)
    run.variant = variant;
  if (!grid.empty())
    run.grid = gridSizes(grid);
  for (const std::string &text : arguments) {
    auto argument = splitAssignment("--arg", text);
    for (const auto &known : run.arguments)
      if (known.first == argument.first)
        usageError("--arg: '" + argument.first + "' is given twice");
    run.arguments.push_back(std::move(argument));
  }
  for (const std::string &text : outputs)
    run.outputs.push_back(splitAssignment("--out", text));
  run.seed = seed;
  run.check = check;
  run.count = count;
  run.countJson = countJson;
  run.countHtml = countHtml;
  return run;
}

} // namespace kiln
