// The one place that knows which targets there are.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"
#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"

namespace kiln {

std::unique_ptr<TargetLowering> makeTargetLowering(const TargetInfo &info) {
  switch (info.backend) {
  case Backend::CUDA:
    return makeNVVMLowering(info);
  case Backend::HIP:
    return makeROCDLLowering(info);
  case Backend::CPU:
    return nullptr;
  }
  llvm_unreachable("unknown backend");
}

} // namespace kiln
