// Compiled variants on their way from `kiln build --objects` to `kiln link`.
//
//   kiln pieces 1 SHA256     of all bytes behind this line
//   { JSON }                 what compiled them, of what, and what came out (docs/library.md)
//
// A file is made of a selection of variants (--only) and says of what: the bytes of the sources,
// the tool, the options, and for each variant a hash of all that the spec asks for. So link needs
// no clock and no names of files to tell pieces that are out of date, or another library's. What
// takes part in no hash is the spec as a text: pieces outlive changes to other kernels, to grids
// and to the order of configs, which link reads anew.

#ifndef KILN_COMPILER_DRIVER_LIBRARY_PIECEFILE_H
#define KILN_COMPILER_DRIVER_LIBRARY_PIECEFILE_H

#include "compiler/Driver/Jobs/VariantResult.h"
#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {

struct Piece {
  /// PieceName.h.
  std::string name;
  /// recipeOf() when it was compiled.
  std::string recipe;
  /// A binary, or why a config that may be dropped does not fit. Paths start in the spec's folder.
  VariantResult result;
};

struct PieceFile {
  std::string tool, options;
  /// The sources, by their paths from the spec's folder.
  std::vector<InputFile> sources;
  std::vector<Piece> pieces;
};

/// Equal for equal contents.
std::string writePieceFile(const PieceFile &file);
/// The error says what is wrong with the bytes: "it is damaged".
llvm::Expected<PieceFile> readPieceFile(llvm::StringRef bytes);

/// This Kiln: its version, LLVM's, and the identity that the linker has given the program.
std::string describeTool();

/// What of the command line decides a binary's bytes and is in no recipe, as it would be written.
std::string describeOptions(const CompilerOptions &options);

/// A hash of what a job is compiled from, but for the sources' bytes and the options.
std::string recipeOf(const BuildPlan &plan, const CompileJob &job);

} // namespace kiln

#endif
