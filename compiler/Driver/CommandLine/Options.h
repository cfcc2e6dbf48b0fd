// What the command line says, as plain data. CommandLine.h fills it in; docs/cli.md describes it.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_OPTIONS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_OPTIONS_H

#include "codegen/Expression.h"
#include "codegen/Signature.h"
#include "compiler/Driver/CommandLine/CommandTable.h"
#include "compiler/Driver/Reporting/Reporter.h"
#include "compiler/Target/EmitOptions.h"
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

enum class Command {
  Init,
  Build,
  Plan,
  Link,
  TritonLink,
  Compile,
  Check,
  Run,
  Verify,
  Inspect,
  Report,
  Cache,
  Language,
  Tune,
  Completion
};

/// What becomes of tuning files: tables of the library, without the variants that the spec's bounds
/// leave out (kiln build); the choice of a variant (kiln run); nothing, as they may be yet to come
/// (kiln tune).
enum class TuningUse { Embed, Choose, Ignore };

/// What every command that compiles understands.
struct CompilerOptions {
  /// -I: folders in which imports of kernel modules are looked for, before the importing file's
  /// ancestors.
  std::vector<std::string> importRoots;
  /// -D NAME=VALUE: module-level names of kernel sources and their values.
  std::vector<std::pair<std::string, std::string>> definitions;
  /// --target: replaces the spec's list.
  std::vector<std::string> targets;
  /// -j: variants compiled at a time; 0 = the CPUs of this machine.
  unsigned jobs = 0;
  /// --timeout: seconds for one variant.
  unsigned timeoutSeconds = 600;
  /// --memory: MiB of addresses for one variant, beside the tools' own limits; 0 = no limit.
  unsigned memoryMiB = 8192;
  /// --in-process: no worker processes, for debuggers. A crash then ends the build.
  bool inProcess = false;
  /// --debug: assertions and overflow of integers are checked in every kernel.
  bool debug = false;
  /// --portable: what Triton refuses is an error in every kernel.
  bool portable = false;
  /// --device-memory: the arrays of every kernel are in ordinary memory of its device.
  bool deviceMemory = false;
  /// --small-arrays: the arrays of every kernel are below 2 GiB.
  bool smallArrays = false;
  /// --only: compile just these pieces (PieceName.h); empty: all.
  std::vector<std::string> only;
  /// Of the spec's tuning files.
  TuningUse tuningUse = TuningUse::Embed;
  /// --quiet: no progress, also on a terminal.
  bool quiet = false;
  DiagnosticFormat diagnosticFormat = DiagnosticFormat::Text;
  /// --max-errors: further errors are counted and not shown; UINT_MAX for 0, which shows all.
  unsigned maxErrors = DiagnosticEngine::defaultErrorLimit;
  /// The spec's folder (for `kiln compile` the source's); empty: the current one. Names of sources
  /// in outputs start here (SpecPaths.h).
  std::string specFolder;
  /// --timing: where to write how long each stage of each variant took; "-": standard output.
  std::string timing;
  /// --cache: where binaries are kept from build to build (BinaryCache.h); empty: nowhere. At most
  /// so many MiB of them.
  std::string cacheFolder;
  unsigned cacheLimitMiB = 4096;
  /// --depfile: a make rule of what was read.
  std::string depfile;
  /// --compress: whether images are compressed, in place of what the spec says.
  std::optional<bool> isCompressed;
  /// --packs: as LibraryModel::hasPacks.
  bool hasPacks = false;
  /// --torch: as LibraryModel::hasTorchSource.
  bool hasTorchSource = false;
  /// --cxx: as LibraryModel::hasCxxHeader.
  bool hasCxxHeader = false;
  EmitOptions emit;
};

/// `kiln init`.
struct InitOptions {
  std::string source;
  /// -n: names of functions; empty: all kernels of the file.
  std::vector<std::string> kernels;
  /// -o: the spec; empty: beside the source, by its name.
  std::string output;
};

/// `kiln build`, `kiln check`, `kiln plan`, `kiln link` and `kiln tune`.
struct BuildOptions {
  std::string spec;
  /// link --triton-compat: the path of the outputs, without extension.
  std::string outputFolder;
  /// --name: replaces the spec's "library".
  std::string name;
  /// --prefix: as LibraryModel::prefix.
  std::string prefix;
  /// --objects: a file for what was compiled, in place of a library.
  std::string objects;
  /// link: files that --objects has made.
  std::vector<std::string> pieces;
  /// plan: the file to write; empty: standard output. --list: names alone, a line for each kernel
  /// and target.
  std::string planFile;
  bool planList = false;
  /// plan: a file for the library's header.
  std::string header;
  /// link --triton-compat: headers, in place of a spec and pieces.
  std::vector<std::string> tritonHeaders;
};

/// `kiln compile`: Triton's compile.py.
struct CompileOptions {
  std::string source, kernel, signature, grid;
  /// -w and -ns, where they are given; --option NAME=VALUE.
  std::optional<unsigned> numWarps, numStages;
  std::vector<std::pair<std::string, std::string>> options;
  /// -on and -o, as compile.py has them: the C name, and the path of the files without extension.
  std::string outName, outPath;
  /// --emit: print this stage of the kernel and write no library.
  std::string emitStage;
  /// --triton-compat: beside Kiln's own names, those of compile.py.
  bool isTritonCompatible = false;
};

/// `kiln run`.
struct RunOptions {
  std::string spec;
  /// The C name of an entry point.
  std::string kernel;
  /// --variant: empty = the first that accepts the arguments.
  std::optional<unsigned> variant;
  /// --grid, in place of the spec's.
  std::optional<std::array<int64_t, 3>> grid;
  /// --arg and --out: names, and values or paths.
  std::vector<std::pair<std::string, std::string>> arguments, outputs;
  uint64_t seed = 0;
  bool check = false;
  /// --count: print a table. --count-json and --count-html: files to write, "" = none; JSON goes to
  /// standard output for "-".
  bool count = false;
  std::string countJson, countHtml;

  bool isCounted() const { return count || !countJson.empty() || !countHtml.empty(); }
};

/// `kiln verify`.
struct VerifyOptions {
  /// One of the two; the other is empty.
  std::string spec, library;
  /// --name, --prefix: the library's, where its file is not called libNAME.so.
  std::string libraryName, libraryPrefix;
  /// A folder that `python -m kiln record --capture` has written.
  std::string capture;
  /// --kernel: C names of entry points; empty: all that were captured.
  std::vector<std::string> kernels;
  /// --tolerance, in place of the usual ones.
  std::vector<std::pair<ElementType, double>> tolerances;
  bool check = false;
  /// --all-variants: each launch by every variant that accepts it, not by the best alone.
  bool allVariants = false;
};

struct InspectOptions {
  std::string library;
  bool json = false;
  /// What everything takes, in place of the table.
  bool sizes = false;
};

struct ReportOptions {
  std::string library, output;
  /// --counts: files that `kiln run --count-json` wrote.
  std::vector<std::string> counts;
  /// --gpu: names of the table; empty = all that the counts concern.
  std::vector<std::string> gpus;
};

/// `kiln tune`, beside what it has of BuildOptions.
struct TuneOptions {
  /// --merge: tuning files to put together, in place of making a tuner.
  std::vector<std::string> merged;
  /// --import: files of Triton's autotuner about the entry point `kernel`, measured on `device`;
  /// or, with --where, tables of configs that others have chosen (ChoiceTable.h).
  std::vector<std::string> imported;
  /// --where: arguments of the dispatch key, as expressions over M.
  std::vector<std::pair<std::string, Expression>> where;
  std::string kernel, device;
  std::string output;
  /// --shapes: a file of kiln_dump_shapes, in place of the spec's shapes.
  std::string shapes;
  /// --table: a file for kiln_load_tuning, in place of making a tuner.
  std::string table;
};

/// `kiln cache`.
struct CacheOptions {
  std::string folder;
  /// --prune: the size to come down to.
  std::optional<unsigned> pruneMiB;
  bool clear = false, json = false;
};

struct LanguageOptions {
  /// A function's name; empty: all of the language.
  std::string name;
  bool json = false;
};

enum class Shell { Bash, Zsh, Fish };

struct CompletionOptions {
  Shell shell = Shell::Bash;
  /// What is completed.
  std::vector<CommandEntry> commands;
};

struct CommandLine {
  Command command = Command::Build;
  CompilerOptions compiler;
  InitOptions init;
  BuildOptions build;
  CompileOptions compile;
  RunOptions run;
  VerifyOptions verify;
  InspectOptions inspect;
  ReportOptions report;
  CacheOptions cache;
  LanguageOptions language;
  TuneOptions tune;
  CompletionOptions completion;
};

} // namespace kiln

#endif
