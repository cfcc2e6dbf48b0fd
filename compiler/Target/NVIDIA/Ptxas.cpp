//===- Ptxas.cpp - NVIDIA's assembler as a process ----------------------------===//

#include "compiler/Target/NVIDIA/Ptxas.h"
#include "compiler/Target/Process.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

namespace kiln {

/// The process runs in a folder of its own, where a relative path would be lost.
static std::string absolute(llvm::StringRef file) {
  llvm::SmallString<128> path(file);
  llvm::sys::fs::make_absolute(path);
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

llvm::Expected<PtxasResult> runPtxas(llvm::StringRef ptx, const TargetInfo &target,
                                     const EmitOptions &options) {
  auto ptxas = findPtxas(options.ptxasPath);
  if (!ptxas)
    return ptxas.takeError();
  auto folder = TemporaryFolder::create(options.temporaryRoot);
  if (!folder)
    return folder.takeError();
  if (llvm::Error error = folder->write("kernel.ptx", ptx))
    return std::move(error);

  std::vector<std::string> arguments = {"-v", "-arch=" + target.arch,
                                        "-O" + std::to_string(std::min(options.optLevel, 3u))};
  if (options.lineInfo)
    arguments.push_back("-lineinfo");
  arguments.insert(arguments.end(), {"-o", "kernel.cubin", "kernel.ptx"});
  auto process = runProgram(*ptxas, arguments, folder->path());
  if (!process)
    return process.takeError();
  if (process->status != 0)
    return targetError("ptxas failed for ", target.name, " (status ", process->status, "):\n",
                       llvm::StringRef(process->output).trim());

  PtxasResult result;
  result.report = parsePtxasReport(process->output);
  if (options.serializedMatrixIsError && !result.report.serialized.empty())
    return targetError(
        "ptxas serialised asynchronous matrix instructions:\n",
        llvm::join(result.report.serialized.begin(), result.report.serialized.end(), "\n"));
  auto cubin = folder->read("kernel.cubin");
  if (!cubin)
    return cubin.takeError();
  result.cubin = std::move(*cubin);
  return result;
}

} // namespace kiln
