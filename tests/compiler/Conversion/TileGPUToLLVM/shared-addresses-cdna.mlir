// On CDNA accesses whose constants differ in bits that no thread has share an address, as two of them are one instruction then, but those of
// 8 bytes not where a thread needs the registers for a second wave.
// RUN: kiln-opt %s --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed 's/registers = 100/registers = 300/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s
// RUN: sed 's/registers = 100/registers = 200/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=FULL
// RUN: sed 's/registers = 100/registers = 200/; s/register: 0,1 0,2 0,4 32,0; lane: 1,0 2,0 4,0 8,0 16,0 0,8/register: 0,1 0,4 32,0 16,0; lane: 1,0 2,0 4,0 8,0 0,2 0,8/' %s | kiln-opt --kiln-tilegpu-to-llvm | FileCheck %s --check-prefix=WORDS

#rows = #tilegpu.layout<"register: 0,1 0,2 0,4 32,0; lane: 1,0 2,0 4,0 8,0 16,0 0,8; warp: ; block: -> 64x16">
#swizzled = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 1,4 2,8 4,0 8,0 16,0 32,0 -> 64x16">

// The second piece of a row is an xor away; 32 rows on, 1024 bytes of either.
// CHECK: llvm.load
// CHECK: llvm.xor
// CHECK: %[[PIECE:.*]] = llvm.getelementptr
// CHECK: llvm.load %[[PIECE]]
// CHECK: llvm.getelementptr %{{.*}}[1024]
// CHECK-NOT: llvm.xor
// CHECK: %[[THERE:.*]] = llvm.getelementptr %[[PIECE]][1024]
// CHECK: llvm.load %[[THERE]] {{.*}} vector<4xf16>
// FULL: llvm.getelementptr %{{.*}}[1024]
// FULL: llvm.xor
// FULL: %[[WHOLE:.*]] = llvm.getelementptr
// FULL-NEXT: llvm.load %[[WHOLE]] {{.*}} vector<4xf16>
// Words do in any case.
// WORDS: llvm.xor
// WORDS: %[[FIRST:.*]] = llvm.getelementptr
// WORDS: llvm.load %[[FIRST]] {{.*}} vector<2xf16>
// WORDS: llvm.xor
// WORDS: %[[OTHER:.*]] = llvm.getelementptr
// WORDS: llvm.load %[[OTHER]]
// WORDS-NOT: llvm.xor
// WORDS: llvm.getelementptr %[[FIRST]][1024]
// WORDS: llvm.getelementptr %[[OTHER]][1024]
// WORDS: llvm.getelementptr %[[FIRST]][512]
// WORDS: llvm.getelementptr %[[OTHER]][512]
module attributes {tilegpu.target = "hip:gfx942"} {
func.func @reads(%p: tensor<64x16x!tile.ptr<f16>, #rows>) attributes {tile.kernel, tile.num_warps = 1 : i32, tilegpu.registers = 100 : i32, tilegpu.shared_bytes = 2048 : i32} {
  %buffer = tilegpu.alloc {tilegpu.offset = 0 : i32} : <64x16xf16, #swizzled>
  %x = tilegpu.shared_load %buffer : <64x16xf16, #swizzled> -> tensor<64x16xf16, #rows>
  tile.store %p, %x : (tensor<64x16x!tile.ptr<f16>, #rows>, tensor<64x16xf16, #rows>) -> ()
  return
}
}
