//===- TargetInfo.cpp - The table of targets and its names -------------------===//

#include "compiler/Target/TargetInfo.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln {

llvm::StringRef backendName(Backend backend) {
  switch (backend) {
  case Backend::CUDA:
    return "cuda";
  case Backend::HIP:
    return "hip";
  case Backend::CPU:
    return "cpu";
  }
  llvm_unreachable("every backend has a name");
}

namespace {

/// Collects the records of Targets.def. Bases can be copied but are not targets.
class Table {
public:
  Table();
  std::vector<TargetInfo> targets;

private:
  TargetInfo open(Backend backend, const char *arch, llvm::StringRef base) {
    TargetInfo target;
    if (!base.empty())
      target = records.at(base);
    target.backend = backend;
    target.arch = arch;
    target.name = (backendName(backend) + ":" + arch).str();
    return target;
  }

  /// GPUs name LLVM's processor as the target itself; a PTX target names the plain one.
  void close(TargetInfo target, bool isBase) {
    if (target.backend == Backend::CUDA) {
      llvm::StringRef arch = target.arch;
      target.llvmCPU =
          arch.consume_front("compute_") ? ("sm_" + arch).str() : std::string(target.arch);
      target.elfArchTag = target.archNumber;
      target.llvmFeatures = "+ptx" + std::to_string(target.ptxVersion);
    } else if (target.backend == Backend::HIP) {
      target.llvmCPU = target.arch;
    }
    records[target.arch] = target;
    if (!isBase)
      targets.push_back(std::move(target));
  }

  llvm::StringMap<TargetInfo> records;
};

//--- Fields of AMD's hardware registers, by the ISA guides: "Hardware Registers" ---

/// HW_ID, 4. A CDNA 2 has up to eight shader engines, a die of CDNA 3 and 4 up to four.
constexpr RegisterField cdnaUnit{4, 8, 4}, cdnaArray{4, 12, 1}, cdnaEngine{4, 13, 3},
    cdnaDieEngine{4, 13, 2};
/// XCC_ID, 20.
constexpr RegisterField cdnaDie{20, 0, 4};
/// HW_ID1, 23: a block runs on a workgroup processor, of two CUs.
constexpr RegisterField rdnaUnit{23, 10, 4}, rdnaArray{23, 16, 1}, rdnaEngine{23, 18, 3};

Table::Table() {
#define KILN_BASE(BACKEND, ARCH, BASE)                                                             \
  {                                                                                                \
    const bool isBase = true;                                                                      \
    TargetInfo target = open(Backend::BACKEND, ARCH, BASE);
#define KILN_TARGET(BACKEND, ARCH, BASE)                                                           \
  {                                                                                                \
    const bool isBase = false;                                                                     \
    TargetInfo target = open(Backend::BACKEND, ARCH, BASE);
#define KILN_FIELD(FIELD, ...) target.FIELD = __VA_ARGS__;
#define KILN_END                                                                                   \
  close(std::move(target), isBase);                                                                \
  }
#include "compiler/Target/Targets.def"
}

/// This machine's processor, as LLVM names and describes it.
TargetInfo hostTarget() {
  llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> features;
  for (const auto &entry : found)
    if (entry.second)
      features.push_back("+" + entry.first().str());
  llvm::sort(features);
  auto has = [&](llvm::StringRef name) { return found.lookup(name); };

  TargetInfo target;
  target.name = "cpu";
  target.backend = Backend::CPU;
  target.llvmCPU = target.arch = llvm::sys::getHostCPUName().str();
  target.llvmFeatures = llvm::join(features, ",");
  if (llvm::Triple(llvm::sys::getProcessTriple()).isAArch64()) {
    target.llvmTriple = "aarch64-unknown-linux-gnu";
    target.elfMachine = 183;
    target.convertF16 = true;
    return target;
  }
  target.llvmTriple = "x86_64-unknown-linux-gnu";
  target.elfMachine = 62;
  bool v3 = has("avx2") && has("fma") && has("bmi2") && has("f16c");
  bool v4 = v3 && has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  target.archNumber = v4 ? 4 : v3 ? 3 : 2;
  target.maxVectorBits = v4 ? 512 : has("avx") ? 256 : 128;
  target.convertF16 = has("f16c");
  return target;
}

/// The CPU that emulated code is compiled for: one for all machines of a kind, so that a build's
/// bytes do not depend on where it was made.
const TargetInfo &emulatingHost() {
  bool isArm = llvm::Triple(llvm::sys::getProcessTriple()).isAArch64();
  return *llvm::find_if(allTargets(), [&](const TargetInfo &target) {
    return target.backend == Backend::CPU && target.arch == (isArm ? "aarch64" : "x86-64-v3");
  });
}

void copyCodeGeneration(const TargetInfo &from, TargetInfo &to) {
  to.elfMachine = from.elfMachine;
  to.elfArchTag = from.elfArchTag;
  to.llvmTriple = from.llvmTriple;
  to.llvmCPU = from.llvmCPU;
  to.llvmFeatures = from.llvmFeatures;
  to.ptxVersion = 0;
}

/// "emu:sm_90a": the GPU whose architecture is `arch`.
llvm::Expected<TargetInfo> emulatedTarget(llvm::StringRef arch) {
  std::vector<std::string> list;
  for (const TargetInfo &target : allTargets()) {
    if (target.backend == Backend::CPU || target.ptxOnly || target.matrix.tcgen05 ||
        target.matrix.mmaBlockScaled)
      continue;
    if (target.arch != arch) {
      list.push_back("emu:" + target.arch);
      continue;
    }
    TargetInfo emulated = target;
    emulated.name = "emu:" + target.arch;
    emulated.emulated = true;
    copyCodeGeneration(emulatingHost(), emulated);
    return emulated;
  }
  return targetError("unknown target 'emu:", arch, "': expected one of ", llvm::join(list, " "));
}

/// Triton's "90", and "942" or "gfx942" for hip: the table's own name of the architecture.
std::string tableArch(Backend backend, llvm::StringRef arch) {
  unsigned number;
  if (backend != Backend::CUDA || arch.getAsInteger(10, number))
    return arch.str();
  for (const TargetInfo &target : allTargets())
    if (target.backend == Backend::CUDA && !target.ptxOnly && target.archNumber == number)
      return target.arch;
  return ("sm_" + arch).str();
}

/// The target of `backend` whose name is nearest to `arch` (missing only its suffix counts as
/// nearest: sm_90 means sm_90a, not sm_80); null when none is near.
const TargetInfo *nearest(Backend backend, llvm::StringRef arch) {
  const TargetInfo *best = nullptr;
  unsigned bestDistance = 3;
  for (const TargetInfo &target : allTargets()) {
    if (target.backend != backend)
      continue;
    bool onlySuffix = arch.size() > 3 && llvm::StringRef(target.arch).starts_with(arch);
    unsigned distance = onlySuffix ? 0 : arch.edit_distance(target.arch, true, bestDistance);
    if (distance < bestDistance) {
      best = &target;
      bestDistance = distance;
    }
  }
  return best;
}

std::string names(Backend backend) {
  std::vector<std::string> list;
  for (const TargetInfo &target : allTargets())
    if (target.backend == backend)
      list.push_back(target.name);
  return llvm::join(list, " ");
}

} // namespace

const std::vector<TargetInfo> &allTargets() {
  static const Table table;
  return table.targets;
}

llvm::Expected<TargetInfo> parseTarget(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  name.split(parts, ':');
  Backend backend;
  if (parts[0] == "emu" && parts.size() == 2)
    return emulatedTarget(parts[1]);
  if (parts[0] == "cuda")
    backend = Backend::CUDA;
  else if (parts[0] == "hip")
    backend = Backend::HIP;
  else if (parts[0] == "cpu")
    backend = Backend::CPU;
  else
    return targetError("unknown target '", name,
                       "': expected cuda:ARCH, hip:ARCH, emu:ARCH, cpu:ARCH or cpu");

  if (parts.size() == 1) {
    if (backend == Backend::CPU)
      return hostTarget();
    return targetError("target '", name, "' names no architecture: expected one of ",
                       names(backend));
  }
  if (parts.size() > 3)
    return targetError("target '", name, "': expected BACKEND:ARCH or BACKEND:ARCH:WARP_SIZE");

  std::string arch = tableArch(backend, parts[1]);
  const auto &targets = allTargets();
  auto match = llvm::find_if(targets, [&](const TargetInfo &target) {
    return target.backend == backend && target.arch == arch;
  });
  if (match == targets.end()) {
    if (const TargetInfo *near = nearest(backend, arch))
      return targetError("unknown target '", name, "': did you mean '", near->name, "'?");
    return targetError("unknown target '", name, "': expected one of ", names(backend));
  }
  unsigned warp;
  if (parts.size() == 3 && (parts[2].getAsInteger(10, warp) || warp != match->warpSize))
    return targetError("target '", name, "': the warp size of ", match->arch, " is ",
                       match->warpSize, ", got '", parts[2], "'");
  return *match;
}

TargetInfo hostOfEmulated(const TargetInfo &target) {
  TargetInfo host = emulatingHost();
  host.name = target.name;
  host.emulated = true;
  return host;
}

std::string TargetInfo::hardwareName() const {
  return emulated ? (backendName(backend) + ":" + arch).str() : name;
}

std::string TargetInfo::resolved() const {
  std::string text = name + " (" + llvmTriple + " " + llvmCPU;
  if (!llvmFeatures.empty())
    text += " " + llvmFeatures;
  return text + ")";
}

} // namespace kiln
