#include "compiler/Driver/CommandLine/CompilerFlags.h"
#include "codegen/CNames.h"
#include "compiler/Driver/CommandLine/FlagValues.h"
#include "llvm/Support/FileSystem.h"

namespace kiln {

static void readSources(const CompilerFlags &flags, CompilerOptions &options) {
  options.importRoots = valuesOf(flags.importRoots);
  for (const std::string &root : flags.importRoots)
    if (!llvm::sys::fs::is_directory(root))
      usageError("-I: '" + root + "' is not a folder");
  for (const std::string &text : flags.definitions) {
    options.definitions.push_back(splitAssignment("-D", text));
    if (!isCIdentifier(options.definitions.back().first))
      usageError("-D: expected a name before '=', got '" + options.definitions.back().first + "'");
  }
  options.targets = valuesOf(flags.targets);
}

static void readJobs(const CompilerFlags &flags, CompilerOptions &options) {
  if (flags.jobs.getNumOccurrences() && flags.jobs == 0)
    usageError("-j: expected at least 1, got 0");
  options.jobs = flags.jobs;
  if (flags.timeoutSeconds == 0)
    usageError("--timeout: expected at least 1 second, got 0");
  options.timeoutSeconds = flags.timeoutSeconds;
  options.memoryMiB = flags.memoryMiB;
  options.inProcess = flags.inProcess;
  options.debug = flags.debug;
  options.portable = flags.portable;
  options.deviceMemory = flags.deviceMemory;
  options.smallArrays = flags.smallArrays;
  options.only = valuesOf(flags.only);
  options.quiet = flags.quiet;
  options.diagnosticFormat = flags.diagnosticFormat;
  options.maxErrors = flags.maxErrors == 0 ? UINT_MAX : flags.maxErrors;
}

static void readOutputs(const CompilerFlags &flags, CompilerOptions &options) {
  const SubCommands &commands = flags.commands;
  options.timing = flags.timing;
  options.depfile = flags.depfile;
  options.cacheFolder = flags.cacheFolder;
  if (!flags.cacheFolder.getNumOccurrences() &&
      (commands.build || commands.compile || commands.tune || commands.verify))
    options.cacheFolder = cacheOfEnvironment();
  if (flags.cacheLimit == 0)
    usageError("--cache-limit: expected at least 1 MiB, got 0");
  options.cacheLimitMiB = flags.cacheLimit;
  if (flags.compression.getNumOccurrences())
    options.isCompressed = flags.compression == CompilerFlags::Compression::Zstd;
  options.hasPacks = flags.packs;
  options.hasTorchSource = flags.torchSource;
  options.hasCxxHeader = flags.cxxHeader;
}

static void readGeneration(const CompilerFlags &flags, EmitOptions &emit) {
  if (flags.optLevel > 3)
    usageError("-O: expected 0 to 3, got " + llvm::Twine(flags.optLevel));
  emit.optLevel = flags.optLevel;
  emit.cudaEmit = flags.cudaEmit;
  emit.ptxasPath = flags.ptxasPath;
  emit.ptxasMemory = flags.ptxasMemory;
  emit.ptxasTimeout = flags.ptxasTimeout;
  emit.ptxasSlow = flags.ptxasSlow;
  emit.libdevicePath = flags.libdevicePath;
  emit.lineInfo = flags.lineInfo;
  for (const std::string &text : flags.pathMap)
    emit.pathMap.push_back(splitAssignment("--path-map", text));
}

CompilerOptions CompilerFlags::options() const {
  CompilerOptions options;
  readSources(*this, options);
  readJobs(*this, options);
  readOutputs(*this, options);
  readGeneration(*this, options.emit);
  return options;
}

void CompilerFlags::addWords(KnownWords &words) {
  words.values[&diagnosticFormat] = wordsOf(diagnosticFormat.getParser());
  words.values[&cudaEmit] = wordsOf(cudaEmit.getParser());
  words.values[&compression] = wordsOf(compression.getParser());
}

} // namespace kiln
