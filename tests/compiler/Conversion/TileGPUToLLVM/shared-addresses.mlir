// Accesses of 16 bytes whose constants differ in bits that no thread has share an address on RDNA, where registers are scarce, or few are needed.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed 's/registers = 200/registers = 150/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=SPARE
// RUN: sed 's/registers = 200/registers = 100/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed 's/registers = 200/registers = 300/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s

#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 16,0; lane: 1,0 2,0 4,0 8,0 0,0; warp: ; block: -> 32x16">
#swizzled = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 16,0 1,8 2,0 4,0 8,0 -> 32x16">

// The second piece of a row is an xor away; 16 rows on, 32 bytes of either.
// CHECK: llvm.xor
// CHECK: %[[PIECE:.*]] = llvm.getelementptr
// CHECK: llvm.load %[[PIECE]]
// CHECK: llvm.getelementptr %{{.*}}[32]
// CHECK-NOT: llvm.xor
// CHECK: %[[THERE:.*]] = llvm.getelementptr %[[PIECE]][32]
// CHECK: llvm.load %[[THERE]] {{.*}} vector<8xf16>
// SPARE: llvm.getelementptr %{{.*}}[32]
// SPARE: llvm.xor
// SPARE: %[[WHOLE:.*]] = llvm.getelementptr
// SPARE-NEXT: llvm.load %[[WHOLE]] {{.*}} vector<8xf16>
module attributes {tilegpu.target = "hip:gfx1100"} {
func.func @reads(%p: tensor<32x16x!tile.ptr<f16>, #rows>) attributes {tile.kernel, tile.num_warps = 1 : i32, tilegpu.registers = 200 : i32, tilegpu.shared_bytes = 1024 : i32} {
  %buffer = tilegpu.alloc {tilegpu.offset = 0 : i32} : <32x16xf16, #swizzled>
  %x = tilegpu.shared_load %buffer : <32x16xf16, #swizzled> -> tensor<32x16xf16, #rows>
  tile.store %p, %x : (tensor<32x16x!tile.ptr<f16>, #rows>, tensor<32x16xf16, #rows>) -> ()
  return
}
}
