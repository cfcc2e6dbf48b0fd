//===- Ptxas.cpp - NVIDIA's assembler as a process ----------------------------===//

#include "compiler/Target/NVIDIA/Ptxas.h"
#include "compiler/Target/NVIDIA/PtxListing.h"
#include "compiler/Target/Process.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <csignal>
#include <cstdlib>

namespace kiln {

/// The process runs in a folder of its own, where a relative path would be lost.
static std::string absolute(llvm::StringRef file) {
  llvm::SmallString<128> path(file);
  if (llvm::sys::fs::make_absolute(path))
    return file.str();
  return path.str().str();
}

llvm::Expected<std::string> findPtxas(llvm::StringRef explicitPath, llvm::StringRef usualHome) {
  if (!explicitPath.empty()) {
    if (llvm::sys::fs::can_execute(explicitPath))
      return absolute(explicitPath);
    return targetError("ptxas: '", explicitPath, "' is not an executable file");
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return absolute(*found);
  const char *homes[] = {std::getenv("CUDA_HOME"), std::getenv("CUDA_PATH")};
  for (llvm::StringRef home : {llvm::StringRef(homes[0]), llvm::StringRef(homes[1]), usualHome}) {
    llvm::SmallString<128> path(home);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (!home.empty() && llvm::sys::fs::can_execute(path))
      return absolute(path);
  }
  return targetError("ptxas not found (searched PATH, CUDA_HOME, CUDA_PATH and ", usualHome,
                     "): it comes with the CUDA toolkit's package cuda-nvcc; name it with "
                     "--ptxas=FILE, or write PTX instead of cubins with --cuda-emit=ptx");
}

/// The number in front of `unit` in "Used 16 registers, 64 bytes smem"; 0 without one.
static uint32_t amount(llvm::StringRef line, llvm::StringRef unit) {
  size_t end = line.find(unit);
  if (end == llvm::StringRef::npos)
    return 0;
  llvm::StringRef head = line.substr(0, end).rtrim();
  llvm::StringRef digits = head.take_back(head.size() - 1 - head.find_last_not_of("0123456789"));
  uint32_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

PtxasReport parsePtxasReport(llvm::StringRef output) {
  PtxasReport report;
  llvm::SmallVector<llvm::StringRef, 16> lines;
  output.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    ResourceUsage &resources = report.resources;
    // Device functions report their stack too; the kernel's own line counts them all.
    resources.stackBytes = std::max(resources.stackBytes, amount(line, "bytes stack frame"));
    resources.spillStoreBytes += amount(line, "bytes spill stores");
    resources.spillLoadBytes += amount(line, "bytes spill loads");
    if (line.contains("Used ")) {
      resources.registers = std::max(resources.registers, amount(line, "registers"));
      resources.staticSharedBytes =
          std::max(resources.staticSharedBytes, amount(line, "bytes smem"));
    }
    if (line.contains("(C75"))
      report.serialized.push_back(line.trim().str());
    else if (line.contains("warning"))
      report.warnings.push_back(line.trim().str());
  }
  return report;
}

namespace {

/// PTX in a folder of its own, and the ptxas that assembles it.
class Assembly {
public:
  static llvm::Expected<Assembly> prepare(llvm::StringRef ptx, const TargetInfo &target,
                                          const EmitOptions &options) {
    auto ptxas = findPtxas(options.ptxasPath);
    if (!ptxas)
      return ptxas.takeError();
    auto folder = TemporaryFolder::create(options.temporaryRoot);
    if (!folder)
      return folder.takeError();
    if (llvm::Error error = folder->write("kernel.ptx", ptx))
      return std::move(error);
    return Assembly(std::move(*ptxas), std::move(*folder), listPtx(ptx).size(), target, options);
  }

  llvm::Expected<PtxasResult> run(unsigned level,
                                  const std::function<void()> &meanwhile = nullptr) const {
    std::vector<std::string> arguments = {"-v", "-arch=" + target.arch,
                                          "-O" + std::to_string(level)};
    if (options.lineInfo)
      arguments.push_back("-lineinfo");
    arguments.insert(arguments.end(), {"-o", "kernel.cubin", "kernel.ptx"});
    ProcessLimits limits{uint64_t(options.ptxasMemory) << 20, options.ptxasTimeout};
    auto process = runProgram(ptxas, arguments, folder.path(), limits, [&] {
      if (meanwhile)
        meanwhile();
      noteWait(true);
    });
    noteWait(false);
    if (!process)
      return process.takeError();
    if (process->status != 0)
      return failure(*process);
    auto cubin = folder.read("kernel.cubin");
    if (!cubin)
      return cubin.takeError();
    PtxasResult result{std::move(*cubin), parsePtxasReport(process->output), level};
    noteSlowness(*process, result.report);
    return result;
  }

  llvm::StringRef program() const { return ptxas; }

private:
  Assembly(std::string ptxas, TemporaryFolder folder, size_t numInstructions,
           const TargetInfo &target, const EmitOptions &options)
      : ptxas(std::move(ptxas)), folder(std::move(folder)), numInstructions(numInstructions),
        target(target), options(options) {}

  void noteWait(bool isWaiting) const {
    if (options.onWait)
      options.onWait(isWaiting);
  }

  /// What ptxas spends its time on is how many instructions there are and how long it looks for
  /// registers.
  void noteSlowness(const ProcessResult &process, PtxasReport &report) const {
    if (!options.ptxasSlow || process.seconds <= options.ptxasSlow)
      return;
    const ResourceUsage &used = report.resources;
    std::string cause = std::to_string(numInstructions) + " PTX instructions and " +
                        std::to_string(used.registers) + " registers a thread";
    if (used.spillStoreBytes)
      cause += ", " + std::to_string(used.spillStoreBytes) + " bytes of them spilled";
    report.warnings.push_back("ptxas took " + std::to_string(unsigned(process.seconds)) +
                              " seconds of processor time, for " + cause +
                              "; more warps or smaller tiles make less work");
  }

  /// Denied memory, ptxas says so, or falls over what it did not get.
  bool ranOutOfMemory(const ProcessResult &process) const {
    uint64_t limit = uint64_t(options.ptxasMemory) << 20;
    bool isSignal = process.status == 128 + SIGSEGV || process.status == 128 + SIGABRT;
    return limit && (llvm::StringRef(process.output).contains("Memory allocation failure") ||
                     (isSignal && process.peakBytes > limit / 2));
  }

  llvm::Error failure(const ProcessResult &process) const {
    constexpr llvm::StringLiteral less = "; more warps or smaller tiles make less work";
    if (process.status == 128 + SIGXCPU)
      return targetError("ptxas took more than the ", options.ptxasTimeout,
                         " seconds of processor time that it may take; --ptxas-timeout=SECONDS "
                         "allows more",
                         less);
    if (ranOutOfMemory(process))
      return targetError("ptxas needs more than the ", options.ptxasMemory,
                         " MiB of memory that it may take; --ptxas-memory=MIB allows more", less);
    if (process.status == 128 + SIGKILL)
      return targetError("ptxas was killed from outside, as systems do that run out of memory; ",
                         "--ptxas-memory=MIB sets a limit", less);
    return targetError("ptxas failed for ", target.name, " (status ", process.status, "):\n",
                       llvm::StringRef(process.output).trim());
  }

  std::string ptxas;
  TemporaryFolder folder;
  size_t numInstructions;
  const TargetInfo &target;
  const EmitOptions &options;
};

} // namespace

llvm::Error checkPtxas(const TargetInfo &target, const EmitOptions &options) {
  std::string version =
      std::to_string(target.ptxVersion / 10) + "." + std::to_string(target.ptxVersion % 10);
  auto assembly = Assembly::prepare(".version " + version + "\n.target " + target.arch +
                                        "\n.address_size 64\n.entry empty() { ret; }\n",
                                    target, options);
  if (!assembly)
    return assembly.takeError();
  auto result = assembly->run(/*level=*/0);
  if (result)
    return llvm::Error::success();
  return targetError("'", assembly->program(), "' does not work, not even for an empty kernel: ",
                     llvm::toString(result.takeError()));
}

bool gaveUp(const PtxasReport &report) {
  return report.resources.registers == 32 && report.resources.stackBytes > 0;
}

bool usesLessLocalMemory(const ResourceUsage &first, const ResourceUsage &second) {
  auto key = [](const ResourceUsage &used) {
    return std::pair(used.spilledBytes(), used.stackBytes);
  };
  return key(first) < key(second);
}

llvm::Expected<PtxasResult> runPtxas(llvm::StringRef ptx, unsigned level, const TargetInfo &target,
                                     const EmitOptions &options,
                                     const std::function<void()> &meanwhile) {
  auto assembly = Assembly::prepare(ptx, target, options);
  if (!assembly)
    return assembly.takeError();
  return assembly->run(level, meanwhile);
}

} // namespace kiln
