// A warp's copy to shared memory as text that LLVM does not count: its address in m0, zeros where a lane copies nothing.
// RUN: kiln-opt %s --kiln-expand-target-operations | FileCheck %s

module attributes {tilegpu.target = "hip:gfx950"} {
// CHECK-LABEL: @copy
// CHECK-SAME: (%[[TO:.*]]: !llvm.ptr<3>, %[[FROM:.*]]: !llvm.ptr<1>, %[[C:.*]]: i1)
// CHECK: %[[ZEROS:.*]] = llvm.mlir.addressof @kiln_zeros
// CHECK: %[[P:.*]] = llvm.select %[[C]], %[[FROM]], %[[ZEROS]]
// CHECK: %[[M0:.*]] = llvm.ptrtoint %[[TO]] : !llvm.ptr<3> to i32
// CHECK: llvm.inline_asm has_side_effects "s_mov_b32 m0, $1\0As_nop 0\0Aglobal_load_lds_dwordx4 $0, off", "v,s,~{m0},~{memory}" %[[P]], %[[M0]]
// CHECK: rocdl.s.waitcnt 3954
llvm.func @copy(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %c: i1) {
  tilegpu.warp_copy %to, %from predicate %c : (!llvm.ptr<3>, !llvm.ptr<1>, i1) -> ()
  rocdl.s.waitcnt 3954
  llvm.return
}

// A buffer's descriptor is what the wave has once, whatever LLVM computes it in, and is moved by scalar instructions: the copy
// waits for no vector instruction that has written it.
// CHECK-LABEL: @fromBuffer
// CHECK: %[[LOW:.*]] = rocdl.readfirstlane {{.*}} : i64
// CHECK: %[[HIGH:.*]] = rocdl.readfirstlane {{.*}} : i64
// CHECK: llvm.inline_asm has_side_effects "s_mov_b32 m0, $3\0As_mov_b64 s[96:97], $1\0As_mov_b64 s[98:99], $2\0Abuffer_load_dwordx4 $0, s[96:99], 0 offen lds", "v,s,s,s,~{s96},~{s97},~{s98},~{s99},~{m0},~{memory}" %{{.*}}, %[[LOW]], %[[HIGH]], %{{.*}}
llvm.func @fromBuffer(%to: !llvm.ptr<3>, %from: !llvm.ptr<8>, %offset: i32) {
  tilegpu.warp_buffer_copy %to, %from offset %offset : (!llvm.ptr<3>, !llvm.ptr<8>, i32) -> ()
  llvm.return
}
}
