// The threads of a block meet at its barrier; those of a block of one warp as a warp does, for which no load has to have come.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s

module attributes {tilegpu.target = "cuda:sm_80"} {
// CHECK-LABEL: llvm.func @two_warps
// CHECK: nvvm.barrier0
func.func @two_warps(%p: !tile.ptr<i32>, %x: i32) attributes {tile.kernel, tile.num_warps = 2 : i32} {
  tile.store %p, %x : (!tile.ptr<i32>, i32) -> ()
  tilegpu.barrier
  tile.store %p, %x : (!tile.ptr<i32>, i32) -> ()
  func.return
}

// CHECK-LABEL: llvm.func @one_warp
// CHECK-NOT: nvvm.barrier0
// CHECK: nvvm.bar.warp.sync
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @one_warp(%p: !tile.ptr<i32>, %x: i32) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  tile.store %p, %x : (!tile.ptr<i32>, i32) -> ()
  tilegpu.barrier
  tile.store %p, %x : (!tile.ptr<i32>, i32) -> ()
  func.return
}
}
