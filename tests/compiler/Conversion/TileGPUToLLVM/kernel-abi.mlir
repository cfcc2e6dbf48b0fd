// The kernel's signature and attributes, and the shared-memory symbol: where operands are copied into swizzled
// rows, the pattern begins at multiples of 1024 bytes.
// RUN: sed s/TARGET/cuda:sm_80/ %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: sed s/TARGET/hip:gfx942/ %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefixes=CHECK,ROCDL

// NVVM: llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// ROCDL: llvm.mlir.global internal @kiln_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i8>

// CHECK: llvm.func @kernel(%{{[^:]*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[FLAG:[^:]*]]: i8, %{{[^:]*}}: bf16, %{{[^:]*}}: i64)
// NVVM-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>
// ROCDL-SAME: rocdl.flat_work_group_size = "512,512", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 512, 1, 1>
// CHECK: llvm.trunc %[[FLAG]] : i8 to i1
// NVVM: nvvm.read.ptx.sreg.ctaid.y
// ROCDL: rocdl.workgroup.id.y
// NVVM: nvvm.read.ptx.sreg.nctaid.x
// ROCDL: llvm.call_intrinsic "llvm.amdgcn.dispatch.ptr"()
module attributes {tilegpu.target = "TARGET"} {
func.func @kernel(%p: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %flag: i1, %x: bf16, %n: i64)
    attributes {tile.kernel, tile.num_warps = 8 : i32, tilegpu.shared_bytes = 64 : i32} {
  %y = tile.program_id 1 : i32
  %g = tile.num_programs 0 : i32
  %s = arith.addi %y, %g : i32
  %t = arith.select %flag, %s, %y : i32
  tile.store %p, %t : (!tile.ptr<i32>, i32) -> ()
  return
}
}
