//===- Emit.cpp - From LLVM IR to a device binary ------------------------------===//

#include "compiler/Target/Emission/Emit.h"
#include "compiler/Target/AMD/EmitAMD.h"
#include "compiler/Target/CPU/EmitCPU.h"
#include "compiler/Target/Emission/VerifyAbi.h"
#include "compiler/Target/NVIDIA/EmitNVIDIA.h"
#include "compiler/Target/NVIDIA/Ptxas.h"
#include "llvm/IR/Module.h"

namespace kiln {

static llvm::Expected<DeviceBinary> emitForBackend(llvm::Module &module, const KernelFacts &facts,
                                                   const TargetInfo &target,
                                                   const EmitOptions &options,
                                                   const std::function<void()> &whileAssembling) {
  if (target.emulated)
    return emitCPU(module, facts, hostOfEmulated(target), options);
  switch (target.backend) {
  case Backend::CUDA:
    return emitNVIDIA(module, facts, target, options, whileAssembling);
  case Backend::HIP:
    return emitAMD(module, facts, target, options);
  case Backend::CPU:
    return emitCPU(module, facts, target, options);
  }
  llvm_unreachable("every backend has an emitter");
}

llvm::Expected<DeviceBinary> emitDeviceBinary(std::unique_ptr<llvm::Module> module,
                                              const KernelFacts &facts, const TargetInfo &target,
                                              const EmitOptions &options,
                                              const std::function<void()> &whileAssembling) {
  auto binary = emitForBackend(*module, facts, target, options, whileAssembling);
  if (!binary)
    return binary;
  binary->launch.warpSize = target.warpSize;
  for (const std::string &name : facts.parameterNames)
    binary->parameters.push_back({name, 0, 0});
  if (llvm::Error error = readBack(*binary))
    return std::move(error);
  return binary;
}

static bool makesCubin(const TargetInfo &target, const EmitOptions &options) {
  return target.backend == Backend::CUDA && !target.emulated && !target.ptxOnly &&
         options.cudaEmit != CudaEmit::PTX;
}

llvm::Error checkTools(const TargetInfo &target, const EmitOptions &options) {
  return makesCubin(target, options) ? checkPtxas(target, options) : llvm::Error::success();
}

llvm::Expected<std::string> findTool(const TargetInfo &target, const EmitOptions &options) {
  return makesCubin(target, options) ? findPtxas(options.ptxasPath) : std::string();
}

} // namespace kiln
