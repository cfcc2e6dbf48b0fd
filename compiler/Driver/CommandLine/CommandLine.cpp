// The only place with cl::opt. Every option belongs to a subcommand, so LLVM's own do not show.

#include "llvm/Support/CommandLine.h"
#include "codegen/CNames.h"
#include "compiler/Basic/Version.h"
#include "compiler/Driver/CommandLine/CommandLineMistakes.h"
#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Sema/Builtins/LanguageReference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace kiln {
namespace {

constexpr llvm::StringRef stages[] = {"ast",   "tile",   "tilegpu", "llvm", "llvmir", "ptx",
                                      "cubin", "amdgcn", "hsaco",   "asm",  "obj"};

cl::SubCommand buildCommand("build", "Compile a spec into a C library");
cl::SubCommand planCommand("plan", "List the pieces that a spec's library is made of, as JSON");
cl::SubCommand linkCommand("link", "Put a library together from pieces that were compiled");
cl::SubCommand compileCommand("compile",
                              "Compile one kernel, with the flags of Triton's compile.py");
cl::SubCommand runCommand("run", "Compile one kernel of a spec and run it on given arguments");
cl::SubCommand checkCommand("check", "Report mistakes in a spec and its kernels; generate nothing");
cl::SubCommand inspectCommand("inspect",
                              "Show what is in a library: variants, targets, resources, bytes");
cl::SubCommand reportCommand("report", "Write a page about a library and what its kernels do");
cl::SubCommand tuneCommand("tune", "Make a program that times the variants of a spec's kernels");
cl::SubCommand cacheCommand("cache", "Show, prune or clear the folder of --cache");
cl::SubCommand languageCommand("language", "Describe the functions that kernels can call");
cl::SubCommand completionCommand("completion", "Write a script that completes commands in a shell");

/// Those that read sources. Build, plan and link take the same options, so that build systems need
/// one list of them.
cl::SubCommandGroup readCommands = {&buildCommand,   &planCommand,  &linkCommand,
                                    &compileCommand, &checkCommand, &runCommand};
/// Those that generate code, and those that write a library.
cl::SubCommandGroup codeCommands = {&buildCommand, &planCommand, &linkCommand, &compileCommand,
                                    &runCommand};
cl::SubCommandGroup libraryCommands = {&buildCommand, &planCommand, &linkCommand, &compileCommand};

cl::list<std::string> importRoots("I", cl::desc("Look for imported kernel modules here"),
                                  cl::value_desc("folder"), cl::Prefix, cl::sub(readCommands));
cl::list<std::string> definitions("D", cl::desc("Value of a module-level name of the sources"),
                                  cl::value_desc("name=value"), cl::Prefix, cl::sub(readCommands));
cl::list<std::string>
    targets("target", cl::desc("Compile for this target, in place of the spec's; may be repeated"),
            cl::value_desc("target"), cl::sub(readCommands));
cl::alias targetsShort("t", cl::aliasopt(targets), cl::desc("Alias for --target"));
cl::opt<unsigned> jobs("j", cl::desc("Variants compiled at a time (default: this machine's CPUs)"),
                       cl::value_desc("count"), cl::init(0), cl::Prefix, cl::sub(buildCommand),
                       cl::sub(planCommand), cl::sub(linkCommand), cl::sub(compileCommand),
                       cl::sub(checkCommand));
cl::opt<unsigned> timeoutSeconds("timeout", cl::desc("Seconds that one variant may take"),
                                 cl::value_desc("seconds"), cl::init(600), cl::sub(readCommands));
cl::opt<unsigned> memoryMiB("memory",
                            cl::desc("MiB of memory for compiling one variant, 0: no limit (8192)"),
                            cl::value_desc("MiB"), cl::init(CompilerOptions().memoryMiB),
                            cl::sub(readCommands));
cl::opt<bool> inProcess("in-process", cl::desc("Compile in this process (for debuggers)"),
                        cl::sub(buildCommand), cl::sub(compileCommand), cl::sub(checkCommand),
                        cl::sub(runCommand));
cl::list<std::string> only("only",
                           cl::desc("Compile just these variants: KERNEL, KERNEL@TARGET, or a "
                                    "name that kiln plan lists"),
                           cl::value_desc("piece"), cl::CommaSeparated, cl::sub(buildCommand),
                           cl::sub(checkCommand));
cl::opt<bool> debug("debug",
                    cl::desc("Check assertions and overflow of integers in running kernels"),
                    cl::sub(readCommands));
cl::opt<bool> deviceMemory("device-memory",
                           cl::desc("Promise that arrays are in ordinary memory of the device: "
                                    "faster atomics on AMD"),
                           cl::sub(readCommands));
cl::opt<bool> quiet("quiet", cl::desc("No progress"), cl::sub(readCommands));
cl::alias quietShort("q", cl::aliasopt(quiet), cl::desc("Alias for --quiet"));
cl::opt<DiagnosticFormat>
    diagnosticFormat("diagnostics", cl::desc("Form of errors and warnings"),
                     cl::values(clEnumValN(DiagnosticFormat::Text, "text", "for people"),
                                clEnumValN(DiagnosticFormat::Json, "json", "for tools"),
                                clEnumValN(DiagnosticFormat::Sarif, "sarif",
                                           "for code hosts and editors: SARIF 2.1.0")),
                     cl::init(DiagnosticFormat::Text), cl::sub(readCommands));
cl::opt<unsigned> maxErrors("max-errors", cl::desc("Errors to show, 0 for all (default: 20)"),
                            cl::value_desc("count"), cl::init(DiagnosticEngine::defaultErrorLimit),
                            cl::sub(readCommands));
cl::opt<std::string> depfile("depfile", cl::desc("Write the files that were read as a make rule"),
                             cl::value_desc("file"), cl::sub(buildCommand), cl::sub(linkCommand));

cl::opt<std::string>
    timing("timing", cl::desc("Write how long each stage took, as JSON (-: standard output)"),
           cl::value_desc("file"), cl::sub(buildCommand), cl::sub(compileCommand),
           cl::sub(checkCommand));

cl::opt<std::string> cacheFolder("cache",
                                 cl::desc("Keep binaries here, and take them from here when "
                                          "nothing changed (default: the variable KILN_CACHE)"),
                                 cl::value_desc("folder"), cl::sub(libraryCommands),
                                 cl::sub(cacheCommand));
cl::opt<unsigned> cacheLimit("cache-limit", cl::desc("MiB that --cache may hold (4096)"),
                             cl::value_desc("MiB"), cl::init(CompilerOptions().cacheLimitMiB),
                             cl::sub(libraryCommands));

cl::opt<CudaEmit> cudaEmit(
    "cuda-emit", cl::desc("What cuda targets become"),
    cl::values(clEnumValN(CudaEmit::Cubin, "cubin", "machine code, by ptxas (default)"),
               clEnumValN(CudaEmit::PTX, "ptx", "PTX, assembled by the driver when loaded"),
               clEnumValN(CudaEmit::Both, "both", "machine code and PTX beside it")),
    cl::init(CudaEmit::Cubin), cl::sub(libraryCommands));
enum class Compression { None, Zstd };
cl::opt<Compression>
    compression("compress",
                cl::desc("How the archive holds device binaries (default: as the spec says)"),
                cl::values(clEnumValN(Compression::None, "none", "as they are"),
                           clEnumValN(Compression::Zstd, "zstd",
                                      "together; programs link runtime/zstd/ and libzstd")),
                cl::init(Compression::None), cl::sub(libraryCommands));
cl::opt<std::string>
    ptxasPath("ptxas", cl::desc("The ptxas to use (default: PATH, CUDA_HOME, /usr/local/cuda)"),
              cl::value_desc("file"), cl::sub(codeCommands));
cl::opt<unsigned> ptxasMemory("ptxas-memory",
                              cl::desc("MiB of memory for one run of ptxas, 0: no limit (8192)"),
                              cl::value_desc("MiB"), cl::init(EmitOptions().ptxasMemory),
                              cl::sub(codeCommands));
cl::opt<unsigned> ptxasTimeout(
    "ptxas-timeout", cl::desc("Seconds of processor time for one run of ptxas, 0: no limit (300)"),
    cl::value_desc("seconds"), cl::init(EmitOptions().ptxasTimeout), cl::sub(codeCommands));
cl::opt<unsigned>
    ptxasSlow("ptxas-slow",
              cl::desc("Warn of runs of ptxas that take more processor time, 0: never (20)"),
              cl::value_desc("seconds"), cl::init(EmitOptions().ptxasSlow), cl::sub(codeCommands));
cl::opt<std::string> libdevicePath("libdevice",
                                   cl::desc("libdevice.10.bc, for kernels that call its functions"),
                                   cl::value_desc("file"), cl::sub(codeCommands));
cl::opt<unsigned> optLevel("O", cl::desc("Optimisation level, 0 to 3"), cl::value_desc("level"),
                           cl::init(3), cl::Prefix, cl::sub(codeCommands));
cl::opt<bool> lineInfo("line-info", cl::desc("Line tables for profilers (default: on)"),
                       cl::init(true), cl::sub(libraryCommands));
cl::list<std::string> pathMap("path-map", cl::desc("Replace a path's beginning in line tables"),
                              cl::value_desc("from=to"), cl::sub(libraryCommands));

// build, check, plan, link
cl::opt<std::string> specPath(cl::Positional, cl::desc("<spec.json>"), cl::sub(buildCommand),
                              cl::sub(planCommand), cl::sub(linkCommand), cl::sub(checkCommand),
                              cl::sub(runCommand));
cl::opt<std::string> outputFolder("o", cl::desc("Folder of the library's files"),
                                  cl::value_desc("folder"), cl::sub(buildCommand),
                                  cl::sub(linkCommand));
cl::alias outputFolderLong("output", cl::aliasopt(outputFolder), cl::desc("Alias for -o"));
cl::opt<std::string> libraryName("name", cl::desc("Name of the library, in place of the spec's"),
                                 cl::value_desc("name"), cl::sub(buildCommand),
                                 cl::sub(planCommand), cl::sub(linkCommand));
cl::opt<std::string> libraryPrefix(
    "prefix", cl::desc("Before every name that C links, the runtime's too (KILN_PREFIX)"),
    cl::value_desc("name"), cl::sub(buildCommand), cl::sub(planCommand), cl::sub(linkCommand));
cl::opt<bool> torchSource("torch",
                          cl::desc("Also write NAME_torch.cpp: the kernels as torch.ops.NAME"),
                          cl::sub(buildCommand), cl::sub(planCommand), cl::sub(linkCommand));
cl::opt<std::string>
    objects("objects", cl::desc("Write a file of pieces, for kiln link, in place of a library"),
            cl::value_desc("file"), cl::sub(buildCommand));
cl::list<std::string> pieceFiles(cl::Positional, cl::desc("<files of pieces>"),
                                 cl::sub(linkCommand));
cl::opt<bool> planList("list",
                       cl::desc("Only names, one for each kernel and target, as --only takes them"),
                       cl::sub(planCommand));

cl::opt<std::string> header("header",
                            cl::desc("Write the library's header here, and no plan without -o"),
                            cl::value_desc("file"), cl::sub(planCommand));

// compile
cl::opt<std::string> sourcePath(cl::Positional, cl::desc("<kernel.py>"), cl::sub(compileCommand));
cl::opt<std::string> kernelName("n", cl::desc("Name of the kernel"), cl::value_desc("name"),
                                cl::sub(compileCommand));
cl::alias kernelNameLong("kernel-name", cl::aliasopt(kernelName), cl::desc("Alias for -n"));
cl::opt<std::string> signature("s", cl::desc("Types and values of the parameters, in order"),
                               cl::value_desc("type, value, ..."), cl::sub(compileCommand));
cl::alias signatureLong("signature", cl::aliasopt(signature), cl::desc("Alias for -s"));
cl::opt<std::string> grid("g", cl::desc("Launch grid, expressions over the arguments"),
                          cl::value_desc("x, y, z"), cl::sub(compileCommand));
cl::alias gridLong("grid", cl::aliasopt(grid), cl::desc("Alias for -g"));
cl::opt<unsigned> numWarps("w", cl::desc("Warps of a block (default: 4)"), cl::value_desc("count"),
                           cl::init(4), cl::sub(compileCommand));
cl::alias numWarpsLong("num-warps", cl::aliasopt(numWarps), cl::desc("Alias for -w"));
cl::opt<unsigned> numStages("ns", cl::desc("Stages of pipelined loops (default: 3)"),
                            cl::value_desc("count"), cl::init(3), cl::sub(compileCommand));
cl::alias numStagesLong("num-stages", cl::aliasopt(numStages), cl::desc("Alias for -ns"));
cl::opt<std::string> outName("on", cl::desc("C name of the kernel (default: the kernel's)"),
                             cl::value_desc("name"), cl::sub(compileCommand));
cl::alias outNameLong("out-name", cl::aliasopt(outName), cl::desc("Alias for -on"));
cl::opt<std::string> outPath("o", cl::desc("Path of the outputs, without extension"),
                             cl::value_desc("path"), cl::sub(compileCommand));
cl::alias outPathLong("out-path", cl::aliasopt(outPath), cl::desc("Alias for -o"));
cl::opt<std::string>
    emitStage("emit",
              cl::desc("Write this stage (to -o, else standard output) in place of a library: ast, "
                       "tile, tilegpu, llvm, llvmir, ptx, cubin, amdgcn, hsaco, asm, obj"),
              cl::value_desc("stage"), cl::sub(compileCommand));

cl::opt<bool> tritonCompat("triton-compat",
                           cl::desc("The C interface of Triton's compile.py and link.py"),
                           cl::sub(compileCommand), cl::sub(linkCommand));

// run
cl::opt<std::string> runKernel("kernel", cl::desc("The entry point to run"), cl::value_desc("name"),
                               cl::sub(runCommand));
cl::opt<int> runVariant("variant", cl::desc("The variant to run (default: the first that accepts)"),
                        cl::value_desc("number"), cl::init(-1), cl::sub(runCommand));
cl::opt<std::string> runGrid("grid", cl::desc("Launch grid, in place of the spec's"),
                             cl::value_desc("x,y,z"), cl::sub(runCommand));
cl::list<std::string>
    runArguments("arg",
                 cl::desc("An argument: a number, @file.npy, or a generator such as zeros(64)"),
                 cl::value_desc("name=value"), cl::sub(runCommand));
cl::list<std::string> runOutputs("out", cl::desc("Write an array after the run"),
                                 cl::value_desc("name=file.npy"), cl::sub(runCommand));
cl::opt<unsigned long long> runSeed("seed", cl::desc("Start of the generators of random numbers"),
                                    cl::value_desc("number"), cl::init(0), cl::sub(runCommand));
cl::opt<bool> runCheck("check", cl::desc("Report wrong accesses and races (emulated targets)"),
                       cl::sub(runCommand));
cl::opt<bool> runCount("count", cl::desc("Print what a profiler would count (emulated targets)"),
                       cl::sub(runCommand));
cl::opt<std::string> runCountJson("count-json",
                                  cl::desc("Write the counts as JSON (-: standard output)"),
                                  cl::value_desc("file"), cl::sub(runCommand));
cl::opt<std::string> runCountHtml("count-html",
                                  cl::desc("Write the counts as an annotated source, in HTML"),
                                  cl::value_desc("file"), cl::sub(runCommand));

// inspect
cl::opt<std::string> libraryPath(cl::Positional, cl::desc("<library: .a or .json>"),
                                 cl::sub(inspectCommand));
cl::opt<bool> inspectSizes("sizes", cl::desc("The bytes of each target, kernel and variant"),
                           cl::sub(inspectCommand));
cl::opt<bool> asJson("json", cl::desc("As JSON"), cl::sub(inspectCommand), cl::sub(cacheCommand));

// report
cl::opt<std::string> reportLibrary(cl::Positional, cl::desc("<library: .a or .json>"),
                                   cl::sub(reportCommand));
cl::opt<std::string> outputFile("o", cl::desc("The file to write"), cl::value_desc("file"),
                                cl::sub(reportCommand), cl::sub(planCommand));
cl::list<std::string>
    reportCounts("counts", cl::desc("Counts that kiln run --count-json wrote; may be repeated"),
                 cl::value_desc("file"), cl::sub(reportCommand));
cl::list<std::string>
    reportGpus("gpu",
               cl::desc("A GPU whose least times are wanted (default: all that were counted "
                        "for); may be repeated"),
               cl::value_desc("name"), cl::sub(reportCommand));

// tune
cl::list<std::string> mergedTimes("merge",
                                  cl::desc("Put these tuning files together, into the file of -o"),
                                  cl::value_desc("file"), cl::sub(tuneCommand));

cl::list<std::string> importedTimes("import",
                                    cl::desc("Write these files of Triton's autotuner, or tables "
                                             "of configs (--where), as a tuning file, into -o"),
                                    cl::value_desc("file"), cl::sub(tuneCommand));
cl::list<std::string> importedWhere("where",
                                    cl::desc("--import takes tables of configs by M; this argument "
                                             "of the dispatch key is that expression over M"),
                                    cl::value_desc("name=expression"), cl::sub(tuneCommand));
cl::opt<std::string> seenShapes("shapes",
                                cl::desc("Shapes that kiln_dump_shapes has written, in place of "
                                         "the spec's"),
                                cl::value_desc("file"), cl::sub(tuneCommand));
cl::opt<std::string> tuneTable("table",
                               cl::desc("Write the spec's measured shapes as a file that a "
                                        "program loads (kiln_load_tuning)"),
                               cl::value_desc("file"), cl::sub(tuneCommand));
cl::opt<std::string> importedKernel("kernel", cl::desc("The entry point that they are about"),
                                    cl::value_desc("name"), cl::sub(tuneCommand));
cl::opt<std::string> importedDevice("device", cl::desc("The device that they were measured on"),
                                    cl::value_desc("name"), cl::sub(tuneCommand));

// cache
cl::opt<unsigned> pruneMiB("prune",
                           cl::desc("Remove what was longest unused, until this is the size"),
                           cl::value_desc("MiB"), cl::init(0), cl::sub(cacheCommand));
cl::opt<bool> clearCacheFolder("clear", cl::desc("Remove everything"), cl::sub(cacheCommand));

// language
cl::opt<std::string> languageName(cl::Positional, cl::desc("<function>"), cl::sub(languageCommand));
cl::opt<bool> languageMarkdown("markdown", cl::desc("The whole reference, as docs/reference.md"),
                               cl::sub(languageCommand));

// completion
constexpr llvm::StringRef shells[] = {"bash", "zsh", "fish"};
cl::opt<std::string> shellName(cl::Positional, cl::desc("<shell: bash, zsh or fish>"),
                               cl::sub(completionCommand));

/// kiln tune makes a library, too: it takes what kiln build does, but for what is about that alone.
void shareBuildOptions() {
  for (const auto &option : buildCommand.OptionsMap)
    if (option.first != "depfile" && option.first != "only")
      tuneCommand.OptionsMap.insert({option.first, option.second});
  tuneCommand.PositionalOpts = buildCommand.PositionalOpts;
}

[[noreturn]] void usageError(const llvm::Twine &message) {
  llvm::errs() << "kiln: error: " << message << "\n";
  exit(2);
}

const std::string &required(const cl::opt<std::string> &option, llvm::StringRef what) {
  if (option.empty())
    usageError("expected " + what);
  return option.getValue();
}

std::pair<std::string, std::string> splitAssignment(llvm::StringRef option, llvm::StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || name.size() == text.size())
    usageError(option + ": expected NAME=VALUE, got '" + text + "'");
  return {name.str(), value.str()};
}

/// What -w and -ns accept is what a spec's configs do.
void checkLaunchOptions() {
  if (!llvm::isPowerOf2_32(numWarps) || numWarps > 32)
    usageError("-w: expected a power of two from 1 to 32, got " + llvm::Twine(numWarps));
  if (numStages > 32)
    usageError("-ns: expected 0 to 32, got " + llvm::Twine(numStages));
}

/// `name` of the command line is "what" it names.
void checkCName(const cl::opt<std::string> &name, const std::string &what) {
  if (!name.getNumOccurrences())
    return;
  std::string option = "--" + name.ArgStr.str();
  if (!isCIdentifier(name))
    usageError(option + ": expected a C identifier, got '" + name + "'");
  if (std::string reason = reservedBecause(name.getValue()); !reason.empty())
    usageError(option + ": '" + name + "' cannot " + what + ": it is " + reason);
}

std::string cacheOfEnvironment() { return llvm::sys::Process::GetEnv("KILN_CACHE").value_or(""); }

CompilerOptions compilerOptions() {
  CompilerOptions options;
  options.importRoots = importRoots;
  for (const std::string &root : importRoots)
    if (!llvm::sys::fs::is_directory(root))
      usageError("-I: '" + root + "' is not a folder");
  for (const std::string &text : definitions) {
    options.definitions.push_back(splitAssignment("-D", text));
    if (!isCIdentifier(options.definitions.back().first))
      usageError("-D: expected a name before '=', got '" + options.definitions.back().first + "'");
  }
  options.targets = targets;
  if (jobs.getNumOccurrences() && jobs == 0)
    usageError("-j: expected at least 1, got 0");
  options.jobs = jobs;
  if (timeoutSeconds == 0)
    usageError("--timeout: expected at least 1 second, got 0");
  options.timeoutSeconds = timeoutSeconds;
  options.memoryMiB = memoryMiB;
  options.inProcess = inProcess;
  options.debug = debug;
  options.deviceMemory = deviceMemory;
  options.only = only;
  bool makesTuner = tuneCommand && tuneTable.empty();
  options.tuningUse = makesTuner   ? TuningUse::Ignore
                      : runCommand ? TuningUse::Choose
                                   : TuningUse::Embed;
  options.quiet = quiet;
  options.diagnosticFormat = diagnosticFormat;
  options.maxErrors = maxErrors == 0 ? UINT_MAX : maxErrors;
  options.timing = timing;
  options.depfile = depfile;
  options.cacheFolder = cacheFolder;
  if (!cacheFolder.getNumOccurrences() && (buildCommand || compileCommand || tuneCommand))
    options.cacheFolder = cacheOfEnvironment();
  if (cacheLimit == 0)
    usageError("--cache-limit: expected at least 1 MiB, got 0");
  options.cacheLimitMiB = cacheLimit;
  if (optLevel > 3)
    usageError("-O: expected 0 to 3, got " + llvm::Twine(optLevel));
  options.emit.optLevel = optLevel;
  options.emit.cudaEmit = cudaEmit;
  if (compression.getNumOccurrences())
    options.isCompressed = compression == Compression::Zstd;
  options.hasTorchSource = torchSource;
  options.emit.ptxasPath = ptxasPath;
  options.emit.ptxasMemory = ptxasMemory;
  options.emit.ptxasTimeout = ptxasTimeout;
  options.emit.ptxasSlow = ptxasSlow;
  options.emit.libdevicePath = libdevicePath;
  options.emit.lineInfo = lineInfo;
  for (const std::string &text : pathMap)
    options.emit.pathMap.push_back(splitAssignment("--path-map", text));
  return options;
}

BuildOptions buildOptions() {
  BuildOptions build;
  if (linkCommand && tritonCompat) {
    build.tritonHeaders = {required(specPath, "headers of kiln compile --triton-compat")};
    llvm::append_range(build.tritonHeaders, pieceFiles);
    build.outputFolder = required(outputFolder, "-o PATH of the outputs, without extension");
    if (!depfile.empty())
      usageError("--depfile: expected none beside --triton-compat");
    return build;
  }
  build.spec = required(specPath, "the path of a spec");
  bool makesTuner = tuneCommand && tuneTable.empty();
  if (linkCommand || makesTuner || (buildCommand && objects.empty() && only.empty()))
    build.outputFolder = required(outputFolder, "-o FOLDER, where the library's files go");
  else if (!objects.empty() && !outputFolder.empty())
    usageError("-o: expected none beside --objects, which is in place of a library");
  if (linkCommand && pieceFiles.empty())
    usageError("expected the files of pieces that kiln build --objects has written");
  checkCName(libraryName, "name a library");
  checkCName(libraryPrefix, "begin its names");
  build.name = libraryName, build.prefix = libraryPrefix;
  build.objects = objects, build.pieces = pieceFiles;
  build.planFile = outputFile, build.planList = planList;
  build.header = header;
  return build;
}

TuneOptions tuneOptions() {
  TuneOptions tune;
  if (!mergedTimes.empty()) {
    tune.merged = mergedTimes;
    tune.output = required(outputFolder, "-o FILE, where the times go");
    if (!specPath.empty())
      usageError("--merge: expected no spec, got '" + specPath + "'");
  }
  tune.table = tuneTable, tune.shapes = seenShapes;
  bool makesTuner = tune.table.empty() && mergedTimes.empty() && importedTimes.empty();
  if (!tune.shapes.empty() && !makesTuner)
    usageError("--shapes: expected no --table, --merge or --import, which make no tuner");
  if (!tune.table.empty() &&
      (!outputFolder.empty() || !mergedTimes.empty() || !importedTimes.empty()))
    usageError("--table: expected no -o, --merge or --import, which write something else");
  if (importedTimes.empty() && !importedWhere.empty())
    usageError("--where: expected --import FILE, the table that it is about");
  if (importedTimes.empty())
    return tune;
  tune.imported = importedTimes;
  tune.output = outputFolder;
  tune.kernel = required(importedKernel, "--kernel NAME, the entry point that was timed");
  tune.device = required(importedDevice, "--device NAME, the device that it was timed on");
  for (const std::string &text : importedWhere) {
    auto [name, expression] = splitAssignment("--where", text);
    TextError error;
    std::optional<Expression> parsed = Expression::parse(expression, error);
    if (!parsed)
      usageError("--where: '" + expression + "': " + error.message);
    for (const std::string &used : parsed->names())
      if (used != "M")
        usageError("--where: '" + expression + "': expected no name but M, got '" + used + "'");
    tune.where.push_back({name, std::move(*parsed)});
  }
  if (targets.size() != 1)
    usageError("--import: expected one --target, got " + llvm::Twine(targets.size()));
  return tune;
}

RunOptions runOptions() {
  RunOptions run;
  run.spec = required(specPath, "the path of a spec");
  run.kernel = required(runKernel, "--kernel NAME, the entry point to run");
  if (targets.size() != 1)
    usageError("expected one --target, got " + llvm::Twine(targets.size()));
  if (runVariant.getNumOccurrences() && runVariant < 0)
    usageError("--variant: expected a number from 0, got " + llvm::Twine(runVariant));
  if (runVariant >= 0)
    run.variant = runVariant;
  if (!runGrid.empty()) {
    run.grid = {1, 1, 1};
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(runGrid).split(parts, ',');
    for (auto [index, part] : llvm::enumerate(parts))
      if (index > 2 || part.trim().getAsInteger(10, (*run.grid)[index]))
        usageError("--grid: expected one to three numbers, got '" + runGrid + "'");
  }
  for (const std::string &text : runArguments) {
    auto argument = splitAssignment("--arg", text);
    for (const auto &known : run.arguments)
      if (known.first == argument.first)
        usageError("--arg: '" + argument.first + "' is given twice");
    run.arguments.push_back(std::move(argument));
  }
  for (const std::string &text : runOutputs)
    run.outputs.push_back(splitAssignment("--out", text));
  run.seed = runSeed;
  run.check = runCheck;
  run.count = runCount;
  run.countJson = runCountJson;
  run.countHtml = runCountHtml;
  return run;
}

CacheOptions cacheOptions() {
  CacheOptions cache;
  cache.folder = cacheFolder.getNumOccurrences() ? cacheFolder.getValue() : cacheOfEnvironment();
  if (cache.folder.empty())
    usageError("expected --cache FOLDER, or the variable KILN_CACHE");
  if (pruneMiB.getNumOccurrences()) {
    if (pruneMiB == 0)
      usageError("--prune: expected at least 1 MiB, got 0 (--clear removes everything)");
    cache.pruneMiB = pruneMiB;
  }
  cache.clear = clearCacheFolder, cache.json = asJson;
  return cache;
}

std::vector<std::string> namesOf(const cl::generic_parser_base &parser) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < parser.getNumOptions(); ++i)
    names.push_back(parser.getOption(i).str());
  return names;
}

CompletionOptions completionOptions() {
  const auto *shell = llvm::find(shells, required(shellName, "a shell: bash, zsh or fish"));
  if (shell == std::end(shells))
    usageError("expected bash, zsh or fish, got '" + shellName + "'");
  KnownWords words;
  words.values = {{&diagnosticFormat, namesOf(diagnosticFormat.getParser())},
                  {&cudaEmit, namesOf(cudaEmit.getParser())},
                  {&compression, namesOf(compression.getParser())},
                  {&emitStage, {std::begin(stages), std::end(stages)}}};
  words.operands = {{&completionCommand, {std::begin(shells), std::end(shells)}},
                    {&languageCommand, languageNames()}};
  return {Shell(shell - shells), commandTable(words)};
}

} // namespace

llvm::ArrayRef<llvm::StringRef> emitStages() { return stages; }

CommandLine parseCommandLine(int argc, char **argv) {
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << versionText() << "\n"; });
  shareBuildOptions();
  hideForeignOptions();
  if (std::string mistake = findUnknownOption(argc, argv); !mistake.empty())
    usageError(mistake);
  std::string mistake;
  llvm::raw_string_ostream mistakes(mistake);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "Kiln compiles Triton kernels ahead of time into a C library\n", &mistakes)) {
    // A bad value was reported by its parser.
    if (mistake.empty())
      exit(2);
    usageError(mistakeText(mistake));
  }

  CommandLine line;
  line.compiler = compilerOptions();
  auto setFolderOf = [&](llvm::StringRef source) {
    line.compiler.specFolder = llvm::sys::path::parent_path(source).str();
  };
  if (tuneCommand) {
    line.command = Command::Tune;
    line.tune = tuneOptions();
    if (line.tune.merged.empty())
      line.build = buildOptions();
    setFolderOf(line.build.spec);
  } else if (buildCommand || checkCommand || planCommand || linkCommand) {
    line.command = buildCommand   ? Command::Build
                   : checkCommand ? Command::Check
                   : planCommand  ? Command::Plan
                   : tritonCompat ? Command::TritonLink
                                  : Command::Link;
    line.build = buildOptions();
    setFolderOf(line.build.spec);
  } else if (compileCommand) {
    line.command = Command::Compile;
    line.compile.source = required(sourcePath, "the path of a kernel's source");
    setFolderOf(line.compile.source);
    line.compile.kernel = required(kernelName, "-n NAME, the kernel");
    line.compile.signature =
        required(signature, "-s SIGNATURE, the types and values of the parameters");
    checkLaunchOptions();
    line.compile.grid = grid;
    line.compile.isTritonCompatible = tritonCompat;
    // What compile.py does without -w.
    line.compile.numWarps = tritonCompat && !numWarps.getNumOccurrences() ? 1 : numWarps;
    line.compile.numStages = numStages;
    line.compile.outName = outName;
    line.compile.outPath = outPath;
    line.compile.emitStage = emitStage;
    if (!emitStage.empty() && !llvm::is_contained(emitStages(), llvm::StringRef(emitStage)))
      usageError("--emit: expected one of " + llvm::join(emitStages(), ", ") + ", got '" +
                 emitStage + "'");
  } else if (runCommand) {
    line.command = Command::Run;
    line.run = runOptions();
    setFolderOf(line.run.spec);
  } else if (inspectCommand) {
    line.command = Command::Inspect;
    line.inspect = {required(libraryPath, "the path of a library's archive or manifest"), asJson,
                    inspectSizes};
  } else if (reportCommand) {
    line.command = Command::Report;
    line.report = {required(reportLibrary, "the path of a library's archive or manifest"),
                   required(outputFile, "-o FILE, where the page goes"), reportCounts, reportGpus};
    if (!reportGpus.empty() && reportCounts.empty())
      usageError("--gpu: least times need counts, --counts FILE");
  } else if (cacheCommand) {
    line.command = Command::Cache;
    line.cache = cacheOptions();
  } else if (languageCommand) {
    line.command = Command::Language;
    line.language = {languageName};
    if (languageName.empty() != languageMarkdown)
      usageError("expected the name of a function, or --markdown");
  } else if (completionCommand) {
    line.command = Command::Completion;
    line.completion = completionOptions();
  } else {
    usageError("expected a command: build, plan, link, compile, check, run, tune, inspect, report, "
               "cache, language or completion (kiln --help shows more)");
  }
  return line;
}

} // namespace kiln
