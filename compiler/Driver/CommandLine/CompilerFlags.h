// The flags that every command understands that compiles.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_COMPILERFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_COMPILERFLAGS_H

#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Driver/CommandLine/SubCommands.h"

namespace kiln {

struct CompilerFlags {
  /// But for what depends on the command's own flags: the spec's folder, and whether a command
  /// embeds the spec's tuning files.
  CompilerOptions options() const;
  /// The words that flags take, for completion.
  void addWords(KnownWords &words);

  enum class Compression { None, Zstd };

  SubCommands &commands;
  cl::list<std::string> targets{
      "target", cl::desc("Compile for this target, in place of the spec's; may be repeated"),
      cl::value_desc("target"), cl::sub(commands.readers), cl::sub(commands.init)};
  cl::list<std::string> only{"only",
                             cl::desc("Compile just these variants: KERNEL, KERNEL@TARGET, or a "
                                      "name that kiln plan lists"),
                             cl::value_desc("piece"),
                             cl::CommaSeparated,
                             cl::sub(commands.build),
                             cl::sub(commands.check)};
  cl::opt<std::string> depfile{"depfile", cl::desc("Write the files that were read as a make rule"),
                               cl::value_desc("file"), cl::sub(commands.build),
                               cl::sub(commands.link)};
  cl::opt<std::string> cacheFolder{"cache",
                                   cl::desc("Keep binaries here, and take them from here when "
                                            "nothing changed (default: the variable KILN_CACHE)"),
                                   cl::value_desc("folder"),
                                   cl::sub(commands.libraries),
                                   cl::sub(commands.cache),
                                   cl::sub(commands.verify)};
  cl::list<std::string> importRoots{"I",
                                    cl::desc("Look for imported kernel modules here"),
                                    cl::value_desc("folder"),
                                    cl::Prefix,
                                    cl::sub(commands.readers),
                                    cl::sub(commands.init)};
  cl::list<std::string> definitions{"D",
                                    cl::desc("Value of a module-level name of the sources"),
                                    cl::value_desc("name=value"),
                                    cl::Prefix,
                                    cl::sub(commands.readers),
                                    cl::sub(commands.init)};
  cl::alias targetsShort{"t", cl::aliasopt(targets), cl::desc("Alias for --target")};
  cl::opt<unsigned> jobs{"j",
                         cl::desc("Variants compiled at a time (default: this machine's CPUs)"),
                         cl::value_desc("count"),
                         cl::init(0),
                         cl::Prefix,
                         cl::sub(commands.build),
                         cl::sub(commands.plan),
                         cl::sub(commands.link),
                         cl::sub(commands.compile),
                         cl::sub(commands.check),
                         cl::sub(commands.verify)};
  cl::opt<unsigned> timeoutSeconds{"timeout", cl::desc("Seconds that one variant may take"),
                                   cl::value_desc("seconds"), cl::init(600),
                                   cl::sub(commands.readers)};
  cl::opt<unsigned> memoryMiB{
      "memory", cl::desc("MiB of memory for compiling one variant, 0: no limit (8192)"),
      cl::value_desc("MiB"), cl::init(CompilerOptions().memoryMiB), cl::sub(commands.readers)};
  cl::opt<bool> inProcess{"in-process",
                          cl::desc("Compile in this process (for debuggers)"),
                          cl::sub(commands.build),
                          cl::sub(commands.compile),
                          cl::sub(commands.check),
                          cl::sub(commands.run),
                          cl::sub(commands.verify)};
  cl::opt<bool> debug{"debug",
                      cl::desc("Check assertions and overflow of integers in running kernels"),
                      cl::sub(commands.readers)};
  cl::opt<bool> portable{"portable", cl::desc("Refuse what Triton refuses: kernels for both"),
                         cl::sub(commands.readers)};
  cl::opt<bool> deviceMemory{"device-memory",
                             cl::desc("Promise that arrays are in ordinary memory of the device: "
                                      "faster atomics on AMD"),
                             cl::sub(commands.readers)};
  cl::opt<bool> smallArrays{
      "small-arrays", cl::desc("Promise that arrays are below 2 GiB: shorter addresses on AMD"),
      cl::sub(commands.readers)};
  cl::opt<bool> quiet{"quiet", cl::desc("No progress"), cl::sub(commands.readers)};
  cl::alias quietShort{"q", cl::aliasopt(quiet), cl::desc("Alias for --quiet")};
  cl::opt<DiagnosticFormat> diagnosticFormat{
      "diagnostics", cl::desc("Form of errors and warnings"),
      cl::values(
          clEnumValN(DiagnosticFormat::Text, "text", "for people"),
          clEnumValN(DiagnosticFormat::Json, "json", "for tools"),
          clEnumValN(DiagnosticFormat::Sarif, "sarif", "for code hosts and editors: SARIF 2.1.0")),
      cl::init(DiagnosticFormat::Text), cl::sub(commands.readers)};
  cl::opt<unsigned> maxErrors{
      "max-errors", cl::desc("Errors to show, 0 for all (default: 20)"), cl::value_desc("count"),
      cl::init(DiagnosticEngine::defaultErrorLimit), cl::sub(commands.readers)};
  cl::opt<std::string> timing{
      "timing",
      cl::desc("Write how long each stage took, as JSON (-: standard output)"),
      cl::value_desc("file"),
      cl::sub(commands.build),
      cl::sub(commands.compile),
      cl::sub(commands.check)};
  cl::opt<unsigned> cacheLimit{"cache-limit",
                               cl::desc("MiB that --cache may hold (4096)"),
                               cl::value_desc("MiB"),
                               cl::init(CompilerOptions().cacheLimitMiB),
                               cl::sub(commands.libraries),
                               cl::sub(commands.verify)};
  cl::opt<CudaEmit> cudaEmit{
      "cuda-emit", cl::desc("What cuda targets become"),
      cl::values(clEnumValN(CudaEmit::Cubin, "cubin", "machine code, by ptxas (default)"),
                 clEnumValN(CudaEmit::PTX, "ptx", "PTX, assembled by the driver when loaded"),
                 clEnumValN(CudaEmit::Both, "both", "machine code and PTX beside it")),
      cl::init(CudaEmit::Cubin), cl::sub(commands.libraries)};
  cl::opt<Compression> compression{
      "compress", cl::desc("How the archive holds device binaries (default: as the spec says)"),
      cl::values(clEnumValN(Compression::None, "none", "as they are"),
                 clEnumValN(Compression::Zstd, "zstd",
                            "together; programs link runtime/zstd/ and libzstd")),
      cl::init(Compression::None), cl::sub(commands.libraries)};
  cl::opt<bool> packs{"packs",
                      cl::desc("Device binaries in files of their own, NAME.ARCHITECTURE.kpack"),
                      cl::sub(commands.build), cl::sub(commands.plan), cl::sub(commands.link)};
  cl::opt<bool> torchSource{
      "torch", cl::desc("Also write NAME_torch.cpp: the kernels as torch.ops.NAME"),
      cl::sub(commands.build), cl::sub(commands.plan), cl::sub(commands.link)};
  cl::opt<bool> cxxHeader{"cxx", cl::desc("Also write NAME.hpp: the functions for C++17"),
                          cl::sub(commands.build), cl::sub(commands.plan), cl::sub(commands.link)};
  cl::opt<std::string> ptxasPath{
      "ptxas", cl::desc("The ptxas to use (default: PATH, CUDA_HOME, /usr/local/cuda)"),
      cl::value_desc("file"), cl::sub(commands.generators)};
  cl::opt<unsigned> ptxasMemory{
      "ptxas-memory", cl::desc("MiB of memory for one run of ptxas, 0: no limit (8192)"),
      cl::value_desc("MiB"), cl::init(EmitOptions().ptxasMemory), cl::sub(commands.generators)};
  cl::opt<unsigned> ptxasTimeout{
      "ptxas-timeout",
      cl::desc("Seconds of processor time for one run of ptxas, 0: no limit (300)"),
      cl::value_desc("seconds"), cl::init(EmitOptions().ptxasTimeout),
      cl::sub(commands.generators)};
  cl::opt<unsigned> ptxasSlow{
      "ptxas-slow", cl::desc("Warn of runs of ptxas that take more processor time, 0: never (20)"),
      cl::value_desc("seconds"), cl::init(EmitOptions().ptxasSlow), cl::sub(commands.generators)};
  cl::opt<std::string> libdevicePath{
      "libdevice", cl::desc("libdevice.10.bc, for kernels that call its functions"),
      cl::value_desc("file"), cl::sub(commands.generators)};
  cl::opt<unsigned> optLevel{"O",
                             cl::desc("Optimisation level, 0 to 3"),
                             cl::value_desc("level"),
                             cl::init(3),
                             cl::Prefix,
                             cl::sub(commands.generators)};
  cl::opt<bool> lineInfo{"line-info", cl::desc("Line tables for profilers (default: on)"),
                         cl::init(true), cl::sub(commands.libraries)};
  cl::list<std::string> pathMap{"path-map", cl::desc("Replace a path's beginning in line tables"),
                                cl::value_desc("from=to"), cl::sub(commands.libraries)};
};

} // namespace kiln

#endif
