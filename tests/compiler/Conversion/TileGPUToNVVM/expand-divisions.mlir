// Divisions of several numbers by one: what hangs on the divisor alone stands behind it, once.
// RUN: kiln-opt %s --kiln-expand-target-operations | FileCheck %s

module attributes {tilegpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: @by_one
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[D:.*]]: f32)
// CHECK: %[[SIZE:.*]] = llvm.intr.fabs(%[[D]])
// CHECK: %[[ENLARGED:.*]] = llvm.select
// CHECK: %[[SCALE:.*]] = llvm.select %{{.*}}, %{{.*}}, %[[ENLARGED]]
// CHECK: %[[SCALED:.*]] = llvm.fmul %[[D]], %[[SCALE]]
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[SCALED]])
// CHECK: %[[XS:.*]] = llvm.fmul %[[X]], %[[SCALE]]
// CHECK: %[[QX:.*]] = llvm.call_intrinsic "llvm.nvvm.mul.rn.f"(%[[XS]], %[[R]])
// CHECK: %[[YS:.*]] = llvm.fmul %[[Y]], %[[SCALE]]
// CHECK: %[[QY:.*]] = llvm.call_intrinsic "llvm.nvvm.mul.rn.f"(%[[YS]], %[[R]])
// CHECK: llvm.fadd %[[QX]], %[[QY]]
// CHECK-NOT: div.full
llvm.func @by_one(%x: f32, %y: f32, %d: f32) -> f32 {
  %a = llvm.call_intrinsic "llvm.nvvm.div.full"(%x, %d) : (f32, f32) -> f32
  %b = llvm.call_intrinsic "llvm.nvvm.div.full"(%y, %d) : (f32, f32) -> f32
  %sum = llvm.fadd %a, %b : f32
  %c = llvm.call_intrinsic "llvm.nvvm.div.full"(%sum, %d) : (f32, f32) -> f32
  %e = llvm.call_intrinsic "llvm.nvvm.div.full"(%c, %d) : (f32, f32) -> f32
  llvm.return %e : f32
}

// Few quotients of one divisor, or many of a constant, which ptxas knows.
// CHECK-LABEL: @few
// CHECK-COUNT-7: "llvm.nvvm.div.full"
// CHECK-NOT: rcp
llvm.func @few(%x: f32, %d: f32) -> f32 {
  %three = llvm.mlir.constant(3.0 : f32) : f32
  %a = llvm.call_intrinsic "llvm.nvvm.div.full"(%x, %d) : (f32, f32) -> f32
  %b = llvm.call_intrinsic "llvm.nvvm.div.full"(%a, %d) : (f32, f32) -> f32
  %c = llvm.call_intrinsic "llvm.nvvm.div.full"(%b, %d) : (f32, f32) -> f32
  %e = llvm.call_intrinsic "llvm.nvvm.div.full"(%c, %three) : (f32, f32) -> f32
  %f = llvm.call_intrinsic "llvm.nvvm.div.full"(%e, %three) : (f32, f32) -> f32
  %g = llvm.call_intrinsic "llvm.nvvm.div.full"(%f, %three) : (f32, f32) -> f32
  %h = llvm.call_intrinsic "llvm.nvvm.div.full"(%g, %three) : (f32, f32) -> f32
  llvm.return %h : f32
}
}
