#include "compiler/Driver/CommandLine/TuneFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"

namespace kiln {

static void checkCombination(const TuneFlags &flags, const LibraryFlags &library) {
  bool isAboutFiles = !flags.merged.empty() || !flags.imported.empty();
  bool makesTable = !flags.table.empty();
  if (!flags.shapes.empty() && (makesTable || isAboutFiles))
    usageError("--shapes: expected no --table, --merge or --import, which make no tuner");
  if (makesTable && (!library.outputFolder.empty() || isAboutFiles))
    usageError("--table: expected no -o, --merge or --import, which write something else");
  if (flags.imported.empty() && !flags.where.empty())
    usageError("--where: expected --import FILE, the table that it is about");
}

/// --where NAME=EXPRESSION over M.
static std::pair<std::string, Expression> readWhere(llvm::StringRef text) {
  auto [name, expression] = splitAssignment("--where", text);
  TextError error;
  std::optional<Expression> parsed = Expression::parse(expression, error);
  if (!parsed)
    usageError("--where: '" + expression + "': " + error.message);
  for (const std::string &used : parsed->names())
    if (used != "M")
      usageError("--where: '" + expression + "': expected no name but M, got '" + used + "'");
  return {name, std::move(*parsed)};
}

static void readImport(const TuneFlags &flags, const CompilerFlags &compiler,
                       const LibraryFlags &library, TuneOptions &tune) {
  tune.imported = valuesOf(flags.imported);
  tune.output = library.outputFolder;
  tune.kernel = required(flags.kernel, "--kernel NAME, the entry point that was timed");
  tune.device = required(flags.device, "--device NAME, the device that it was timed on");
  for (const std::string &text : flags.where)
    tune.where.push_back(readWhere(text));
  if (compiler.targets.size() != 1)
    usageError("--import: expected one --target, got " + llvm::Twine(compiler.targets.size()));
}

TuneOptions TuneFlags::options(const CompilerFlags &compiler, const LibraryFlags &library) const {
  TuneOptions tune;
  if (!merged.empty()) {
    tune.merged = valuesOf(merged);
    tune.output = required(library.outputFolder, "-o FILE, where the times go");
    if (!library.specPath.empty())
      usageError("--merge: expected no spec, got '" + library.specPath + "'");
  }
  tune.table = table;
  tune.shapes = shapes;
  checkCombination(*this, library);
  if (!imported.empty())
    readImport(*this, compiler, library, tune);
  return tune;
}

} // namespace kiln
