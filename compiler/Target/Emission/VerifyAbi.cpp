//===- VerifyAbi.cpp - Launcher and binary agree, proved ----------------------===//

#include "compiler/Target/Emission/VerifyAbi.h"
#include "compiler/Target/AMD/HsacoReader.h"
#include "compiler/Target/CPU/HostObjectReader.h"
#include "compiler/Target/NVIDIA/CubinReader.h"
#include "compiler/Target/NVIDIA/PtxReader.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

namespace {

/// What one of the readers found out about the binary's kernel, in common terms. `checksParameters`
/// is unset for a format that does not describe them.
struct Facts {
  unsigned elfMachine = 0, archTag = 0;
  std::string arch;
  bool checksParameters = true;
  std::vector<KernelParameter> parameters;
  uint32_t parameterBytes = 0;
  ResourceUsage resources;
  std::array<uint32_t, 3> requiredThreads = {0, 0, 0};
  unsigned hiddenParameters = 0, warpSize = 0;
};

llvm::StringRef text(const DeviceBinary &binary) {
  return llvm::StringRef(binary.bytes.data(), binary.bytes.size());
}

template <typename Kernel>
llvm::Expected<const Kernel *> kernelNamed(const std::vector<Kernel> &kernels,
                                           const std::string &symbol) {
  auto it = llvm::find_if(kernels, [&](const Kernel &kernel) { return kernel.symbol == symbol; });
  if (it != kernels.end())
    return &*it;
  std::string found;
  for (const Kernel &kernel : kernels)
    found += (found.empty() ? "'" : ", '") + kernel.symbol + "'";
  return targetError("expected kernel '", symbol, "', the binary has ",
                     found.empty() ? "none" : found);
}

/// What `describe(facts, info, kernel)` makes of a reader's result and its kernel of the binary's
/// name, beside the parameters, which all GPU formats list.
template <typename Info, typename Describe>
llvm::Expected<Facts> gpuFacts(llvm::Expected<Info> info, const DeviceBinary &binary,
                               Describe describe) {
  if (!info)
    return info.takeError();
  auto kernel = kernelNamed(info->kernels, binary.symbol);
  if (!kernel)
    return kernel.takeError();
  Facts facts;
  facts.parameters = (*kernel)->parameters;
  describe(facts, *info, **kernel);
  return facts;
}

void describeCubin(Facts &facts, const CubinInfo &info, const CubinKernel &kernel) {
  facts.elfMachine = llvm::ELF::EM_CUDA;
  facts.archTag = info.smNumber;
  facts.arch = info.arch();
  facts.parameterBytes = kernel.parameterBytes;
  facts.resources = kernel.resources;
  facts.requiredThreads = kernel.requiredThreads;
}

void describeHsaco(Facts &facts, const HsacoInfo &info, const HsacoKernel &kernel) {
  facts.elfMachine = llvm::ELF::EM_AMDGPU;
  facts.archTag = info.machine;
  facts.parameterBytes = kernel.kernargBytes;
  facts.resources = kernel.resources;
  facts.requiredThreads = kernel.requiredWorkgroupSize;
  facts.hiddenParameters = kernel.hiddenParameters;
  facts.warpSize = kernel.wavefrontSize;
}

void describePtx(Facts &facts, const PtxInfo &info, const PtxKernel &kernel) {
  facts.elfMachine = llvm::ELF::EM_CUDA;
  facts.archTag = info.smNumber;
  facts.parameterBytes = kernel.parameterBytes;
  facts.requiredThreads = kernel.requiredThreads;
}

llvm::Expected<Facts> hostFacts(const DeviceBinary &binary) {
  auto info = readHostObject(text(binary));
  if (!info)
    return info.takeError();
  if (!llvm::is_contained(info->defined, binary.symbol))
    return targetError("expected kernel '", binary.symbol, "', the object does not define it");
  Facts facts;
  facts.elfMachine = info->machine;
  facts.checksParameters = false;
  return facts;
}

llvm::Expected<Facts> readFacts(const DeviceBinary &binary) {
  switch (binary.format) {
  case BinaryFormat::Cubin:
    return gpuFacts(readCubin(text(binary)), binary, describeCubin);
  case BinaryFormat::HSACO:
    return gpuFacts(readHsaco(text(binary)), binary, describeHsaco);
  case BinaryFormat::PTX:
    return gpuFacts(readPtx(text(binary).rtrim('\0')), binary, describePtx);
  case BinaryFormat::HostObject:
    return hostFacts(binary);
  }
  llvm_unreachable("every format has a reader");
}

llvm::Error compareArch(const Facts &facts, const TargetInfo &target) {
  if (facts.elfMachine != target.elfMachine)
    return targetError("expected ELF machine ", target.elfMachine, " for ", target.name, ", got ",
                       facts.elfMachine);
  if (facts.archTag != target.elfArchTag)
    return targetError("expected architecture tag ", target.elfArchTag, " for ", target.name,
                       ", got ", facts.archTag);
  if (!facts.arch.empty() && facts.arch != target.arch)
    return targetError("expected code for ", target.arch, ", got code for ", facts.arch);
  if (facts.warpSize && facts.warpSize != target.warpSize)
    return targetError("expected wavefronts of ", target.warpSize, " threads, got ",
                       facts.warpSize);
  return llvm::Error::success();
}

llvm::Error compareThreads(const Facts &facts, const LaunchFacts &launch) {
  const auto &threads = facts.requiredThreads;
  if (threads[0] == 0 || threads == std::array<uint32_t, 3>{launch.threadsPerBlock, 1, 1})
    return llvm::Error::success();
  return targetError("expected blocks of ", launch.threadsPerBlock, " threads, got ", threads[0],
                     " x ", threads[1], " x ", threads[2]);
}

/// `isPlaced`: by ptxas, which aligns what is aligned to more than 16 bytes in the constant bank,
/// where the block begins at an offset of the architecture's.
llvm::Error compareParameters(const Facts &facts, llvm::ArrayRef<ExpectedParameter> expected,
                              bool isPlaced) {
  if (facts.hiddenParameters)
    return targetError("expected no hidden parameters, got ", facts.hiddenParameters);
  if (facts.parameters.size() != expected.size())
    return targetError("expected ", expected.size(), " parameters, got ", facts.parameters.size());
  std::vector<KernelParameter> layout = naturalLayout(expected);
  for (size_t i = 0; i != layout.size(); ++i) {
    KernelParameter &want = layout[i];
    const KernelParameter &got = facts.parameters[i];
    uint32_t end = i ? layout[i - 1].offset + layout[i - 1].size : 0;
    if (isPlaced && expected[i].alignment > 16 && got.offset >= end &&
        got.offset < end + expected[i].alignment)
      want.offset = got.offset;
    if (want.offset != got.offset || want.size != got.size)
      return targetError("parameter ", i, " '", want.name, "': expected ", want.size,
                         " bytes at offset ", want.offset, ", got ", got.size, " bytes at offset ",
                         got.offset);
  }
  // AMD rounds the block up to its alignment; neither may end before the last parameter.
  uint32_t end = layout.empty() ? 0 : layout.back().offset + layout.back().size;
  if (facts.parameterBytes < end || facts.parameterBytes > llvm::alignTo(end, 8))
    return targetError("expected a parameter block of ", end, " bytes, got ", facts.parameterBytes);
  return llvm::Error::success();
}

} // namespace

std::vector<KernelParameter> naturalLayout(llvm::ArrayRef<ExpectedParameter> expected) {
  std::vector<KernelParameter> layout;
  uint32_t offset = 0;
  for (const ExpectedParameter &parameter : expected) {
    uint32_t alignment = parameter.alignment ? parameter.alignment : std::max(parameter.size, 1u);
    offset = static_cast<uint32_t>(llvm::alignTo(offset, alignment));
    layout.push_back({parameter.name, offset, parameter.size});
    offset += parameter.size;
  }
  return layout;
}

llvm::Error readBack(DeviceBinary &binary) {
  auto facts = readFacts(binary);
  if (!facts)
    return facts.takeError();
  std::vector<std::string> names;
  for (const KernelParameter &parameter : binary.parameters)
    names.push_back(parameter.name);
  binary.parameters = std::move(facts->parameters);
  for (size_t i = 0; i < binary.parameters.size() && i < names.size(); ++i)
    binary.parameters[i].name = names[i];
  binary.parameterBytes = facts->parameterBytes;
  // Spills on NVIDIA and everything about PTX are not in the binary: a report that is there stays.
  ResourceUsage &resources = binary.resources;
  if (binary.format == BinaryFormat::HSACO)
    resources = facts->resources;
  if (binary.format == BinaryFormat::Cubin) {
    resources.registers = facts->resources.registers;
    resources.stackBytes = facts->resources.stackBytes;
    resources.staticSharedBytes = facts->resources.staticSharedBytes;
  }
  return llvm::Error::success();
}

static llvm::Error verifyOne(const DeviceBinary &binary, llvm::ArrayRef<ExpectedParameter> expected,
                             const TargetInfo &target) {
  auto facts = readFacts(binary);
  if (!facts)
    return facts.takeError();
  if (llvm::Error error = compareArch(*facts, target))
    return error;
  if (llvm::Error error = compareThreads(*facts, binary.launch))
    return error;
  std::vector<ExpectedParameter> passed = expected.vec();
  for (const TensorMapFacts &map : binary.launch.tensorMaps)
    passed.push_back({map.name, kTensorMapBytes, kTensorMapAlignment});
  if (facts->checksParameters)
    return compareParameters(*facts, passed, binary.format == BinaryFormat::Cubin);
  return llvm::Error::success();
}

llvm::Error verifyAbi(const DeviceBinary &binary, llvm::ArrayRef<ExpectedParameter> expected,
                      const TargetInfo &target) {
  if (llvm::Error error = verifyOne(binary, expected, target))
    return error;
  if (!binary.fallback)
    return llvm::Error::success();
  if (llvm::Error error = verifyOne(*binary.fallback, expected, target))
    return targetError("the fallback without tensor maps of pointers: ",
                       llvm::toString(std::move(error)));
  return llvm::Error::success();
}

} // namespace kiln
