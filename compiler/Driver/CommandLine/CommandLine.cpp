#include "compiler/Driver/CommandLine/CommandLine.h"
#include "compiler/Basic/Version.h"
#include "compiler/Driver/CommandLine/CacheFlags.h"
#include "compiler/Driver/CommandLine/CommandLineMistakes.h"
#include "compiler/Driver/CommandLine/CompileFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"
#include "compiler/Driver/CommandLine/HelpFlags.h"
#include "compiler/Driver/CommandLine/InitFlags.h"
#include "compiler/Driver/CommandLine/ReportFlags.h"
#include "compiler/Driver/CommandLine/RunFlags.h"
#include "compiler/Driver/CommandLine/TuneFlags.h"
#include "compiler/Driver/CommandLine/VerifyFlags.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

namespace {

struct Flags {
  SubCommands commands;
  CompilerFlags compiler{commands};
  InitFlags init{commands};
  LibraryFlags library{commands};
  CompileFlags compile{commands};
  RunFlags run{commands};
  VerifyFlags verify{commands};
  TuneFlags tune{commands};
  ReportFlags report{commands};
  CacheFlags cache{commands};
  HelpFlags help{commands};
};

/// kiln tune makes a library, too: it takes what kiln build does, but for what is about that alone.
void shareBuildFlags(SubCommands &commands) {
  for (const auto &flag : commands.build.OptionsMap)
    if (flag.first != "depfile" && flag.first != "only")
      commands.tune.OptionsMap.insert({flag.first, flag.second});
  commands.tune.PositionalOpts = commands.build.PositionalOpts;
}

/// Fills in the flags; mistakes that LLVM finds are said in one line.
void parseFlags(int argc, char **argv) {
  if (std::string mistake = findUnknownOption(argc, argv); !mistake.empty())
    usageError(mistake);
  std::string mistake;
  llvm::raw_string_ostream mistakes(mistake);
  if (cl::ParseCommandLineOptions(
          argc, argv, "Kiln compiles Triton kernels ahead of time into a C library\n", &mistakes))
    return;
  // A bad value was reported by its parser.
  if (mistake.empty())
    exit(2);
  usageError(mistakeText(mistake));
}

Command commandOf(const Flags &flags) {
  const SubCommands &commands = flags.commands;
  if (flags.library.isTritonLink())
    return Command::TritonLink;
  const std::pair<const cl::SubCommand *, Command> all[] = {
      {&commands.init, Command::Init},         {&commands.build, Command::Build},
      {&commands.plan, Command::Plan},         {&commands.link, Command::Link},
      {&commands.compile, Command::Compile},   {&commands.check, Command::Check},
      {&commands.run, Command::Run},           {&commands.verify, Command::Verify},
      {&commands.tune, Command::Tune},         {&commands.inspect, Command::Inspect},
      {&commands.report, Command::Report},     {&commands.cache, Command::Cache},
      {&commands.language, Command::Language}, {&commands.completion, Command::Completion}};
  for (const auto &[command, value] : all)
    if (*command)
      return value;
  usageError("expected a command: init, build, plan, link, compile, check, run, verify, tune, "
             "inspect, report, cache, language or completion (kiln --help shows more)");
}

/// The command's own options; the path of what it compiles, if it does.
std::string readCommand(Flags &flags, CommandLine &line) {
  switch (line.command) {
  case Command::Init:
    line.init = flags.init.options();
    return line.init.source;
  case Command::Build:
  case Command::Plan:
  case Command::Link:
  case Command::TritonLink:
  case Command::Check:
    line.build = flags.library.options(flags.compiler, /*makesTuner=*/false);
    return line.build.spec;
  case Command::Tune:
    line.tune = flags.tune.options(flags.compiler, flags.library);
    if (line.tune.merged.empty())
      line.build = flags.library.options(flags.compiler, flags.tune.makesTuner());
    return line.build.spec;
  case Command::Compile:
    line.compile = flags.compile.options();
    return line.compile.source;
  case Command::Run:
    line.run = flags.run.options(flags.compiler);
    return line.run.spec;
  case Command::Verify:
    line.verify = flags.verify.options(flags.compiler, flags.library);
    return line.verify.spec;
  case Command::Inspect:
    line.inspect = flags.report.inspectOptions();
    return "";
  case Command::Report:
    line.report = flags.report.reportOptions();
    return "";
  case Command::Cache:
    line.cache = flags.cache.options(flags.compiler);
    return "";
  case Command::Language:
    line.language = flags.help.languageOptions();
    return "";
  case Command::Completion: {
    KnownWords words;
    flags.compiler.addWords(words);
    flags.compile.addWords(words);
    line.completion = flags.help.completionOptions(std::move(words));
    return "";
  }
  }
  llvm_unreachable("closed enumeration");
}

} // namespace

CommandLine parseCommandLine(int argc, char **argv) {
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << versionText() << "\n"; });
  // LLVM keeps pointers to them until the process ends.
  static Flags flags;
  shareBuildFlags(flags.commands);
  hideForeignOptions();
  parseFlags(argc, argv);
  CommandLine line;
  line.compiler = flags.compiler.options();
  line.command = commandOf(flags);
  std::string source = readCommand(flags, line);
  line.compiler.specFolder = llvm::sys::path::parent_path(source).str();
  if (line.command == Command::Run || line.command == Command::Verify)
    line.compiler.tuningUse = TuningUse::Choose;
  else if (flags.tune.makesTuner())
    line.compiler.tuningUse = TuningUse::Ignore;
  return line;
}

} // namespace kiln
