// Printing and assertions: one target operation, expanded to the driver's functions on
// NVIDIA; on AMD to records in a buffer, and the end of the wave that failed.
// RUN: sed s/TARGET/cuda:sm_90a/ %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=CUT
// RUN: sed s/TARGET/cuda:sm_90a/ %s | kiln-opt --kiln-tilegpu-to-llvm --kiln-expand-target-operations | FileCheck %s --check-prefix=NVVM
// RUN: sed s/TARGET/hip:gfx1100/ %s | kiln-opt --kiln-tilegpu-to-llvm --kiln-expand-target-operations 2>&1 | FileCheck %s --check-prefix=ROCDL

// CUT: tilegpu.print "pid (%i, %i, %i) idx (%2i) x: %f\0A"({{.*}}) : i32, i32, i32, i32, f64
// CUT: tilegpu.print "pid (%i, %i, %i) here\0A"({{.*}}) : i32, i32, i32
// CUT: tilegpu.fail "n > 0"

// NVVM-DAG: llvm.mlir.global internal constant @{{.*}}("pid (%i, %i, %i) idx (%2i) x: %f\0A\00")
// NVVM-DAG: llvm.mlir.global internal constant @{{.*}}("n > 0\00")
// NVVM: llvm.call @vprintf({{.*}}) : (!llvm.ptr, !llvm.ptr) -> i32
// NVVM: llvm.call @__assertfail({{.*}}) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) -> ()

// ROCDL-NOT: warning
// ROCDL-COUNT-4: llvm.call @kiln_reserve_message
// ROCDL: llvm.call_intrinsic "llvm.amdgcn.endpgm"

#l = #tilegpu.layout<"register: 1; lane: 2 4 8 16 0; warp: 0 0; block: -> 32">
module attributes {tilegpu.target = "TARGET"} {
func.func @messages(%x: f32, %n: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %t = tile.splat %x : f32 -> tensor<32xf32, #l>
  tile.print " x: %f"(%t) : tensor<32xf32, #l>
  tile.print " here"
  %zero = arith.constant 0 : i32
  %c = arith.cmpi sgt, %n, %zero : i32
  tile.assert %c, "n > 0" : i1
  return
}
}
