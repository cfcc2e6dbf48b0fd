// What allocation, barriers and the lowering ask of any operation.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TILEGPUINTERFACES_TD
#define KILN_COMPILER_DIALECT_TILEGPU_TILEGPUINTERFACES_TD

include "mlir/IR/OpBase.td"

def TileGPU_ScratchOpInterface : OpInterface<"ScratchOpInterface"> {
  let cppNamespace = "::kiln::tilegpu";
  let description = [{
    An operation whose threads may have to meet while it runs. With scratch, it writes that, waits for all threads of the block at
    a barrier of its own, and reads it; its address is the kernel's shared memory plus the operation's `tilegpu.offset`. Barriers
    between operations are the barrier pass's. Operations of the tile dialect have models in Scratch.cpp.
  }];
  let methods = [
    InterfaceMethod<"Bytes of shared memory that it needs on a target, 0 for none.",
      "int64_t", "getScratchBytes", (ins "const ::kiln::TargetInfo &":$target)>,
    InterfaceMethod<"Its lowering has a barrier before its accesses to global memory.",
      "bool", "startsWithBarrier", (ins), "", "return false;">,
    InterfaceMethod<"Its lowering has a barrier behind its accesses to global memory, whether there is scratch or not.",
      "bool", "endsWithBarrier", (ins), "", "return false;">,
  ];
}

#endif
