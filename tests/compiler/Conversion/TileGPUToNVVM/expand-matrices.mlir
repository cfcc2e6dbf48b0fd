// Products of warp groups as they are expanded: the fence and all steps are one text, and so is
// a wait, with every accumulator in one register.
// RUN: kiln-opt %s --kiln-expand-target-operations | FileCheck %s

module attributes {tilegpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: @descriptors
// CHECK: %[[TRUE:.*]] = llvm.mlir.constant(true) : i1
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $5, $6, $4, 1, 1, 0, 1;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, $7, 1, 1, 0, 1;
// CHECK-SAME: "=f,=f,=f,=f,b,l,l,b,l,l,0,1,2,3,~{memory}" %arg2, %arg0, %arg1, %[[TRUE]], %arg1, %arg0,
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
llvm.func @descriptors(%x: i64, %y: i64, %adds: i1, %c: f32) {
  %d:4 = tilegpu.wgmma a(%x, %y) b(%y, %x) into(%c, %c, %c, %c) if %adds
      {n = 8 : i32, operand = "f16", accumulator = "f32", transpose_b}
      : (i64, i64, i64, i64, f32, f32, f32, f32, i1) -> (f32, f32, f32, f32)
  nvvm.wgmma.commit.group.sync.aligned
  %r:4 = tilegpu.wgmma_wait %d#0, %d#1, %d#2, %d#3 pending 1 : f32, f32, f32, f32
  llvm.return
}

// A in registers, halves in words; without a predicate every step adds.
// CHECK-LABEL: @registers
// CHECK-COUNT-6: llvm.bitcast %{{.*}} : vector<2xf16> to i32
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {$0, $1}, {$3, $4, $5, $6}, $7, $2, 1, 1, 0;
// CHECK-SAME: "=r,=r,b,r,r,r,r,l,0,1,~{memory}"
llvm.func @registers(%x: vector<2xf16>, %y: i64, %c: vector<2xf16>) {
  %d:2 = tilegpu.wgmma a(%x, %x, %x, %x) b(%y) into(%c, %c)
      {n = 8 : i32, operand = "f16", accumulator = "f16"}
      : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, i64, vector<2xf16>, vector<2xf16>) -> (vector<2xf16>, vector<2xf16>)
  llvm.return
}

// CHECK-LABEL: @types
// CHECK: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, $5, $6, $4, 1, 1;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {$0, $1, $2, $3}, $5, $6, $4, 1, 1;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, $5, $6, $4;
llvm.func @types(%x: i64, %c: f32, %i: i32) {
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "tf32", accumulator = "f32"}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %e:4 = tilegpu.wgmma a(%x) b(%x) into(%d#0, %d#1, %d#2, %d#3) {n = 8 : i32, operand = "e4m3", accumulator = "f32"}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %f:4 = tilegpu.wgmma a(%x) b(%x) into(%i, %i, %i, %i) {n = 8 : i32, operand = "s8", accumulator = "s32"}
      : (i64, i64, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  llvm.return
}
}
