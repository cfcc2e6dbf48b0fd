// What a kernel prints is a record in the runtime's buffer, its first word last; an assertion that fails
// writes one, too, and ends the wave.
// RUN: kiln-opt %s --kiln-expand-target-operations | FileCheck %s

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK: llvm.mlir.global external @kiln_messages() {addr_space = 1 : i32, alignment = 8 : i64} : !llvm.ptr<1>
// Room is taken for whole words; without a buffer, or beyond its end, there is none.
// CHECK-LABEL: llvm.func internal @kiln_reserve_message
// CHECK-SAME: (%[[BYTES:.*]]: i64) -> !llvm.ptr<1> attributes {{.*}}alwaysinline
// CHECK: %[[VARIABLE:.*]] = llvm.mlir.addressof @kiln_messages
// CHECK: %[[BUFFER:.*]] = llvm.load %[[VARIABLE]]
// CHECK: llvm.cond_br %{{.*}}, ^[[FOUND:.*]], ^[[NONE:.*]]
// CHECK: ^[[FOUND]]:
// CHECK: %[[AT:.*]] = llvm.atomicrmw add %[[BUFFER]], %[[BYTES]] monotonic
// CHECK: llvm.mlir.constant(1048512 : i64)
// CHECK: llvm.mlir.constant(64 : i64)
// CHECK: llvm.cond_br %{{.*}}, ^[[ROOM:.*]], ^[[FULL:.*]]
// CHECK: ^[[ROOM]]:
// CHECK-NEXT: llvm.return
// CHECK: ^[[FULL]]:
// CHECK: llvm.atomicrmw add
// CHECK: llvm.mlir.constant(12884901896 : i64)
// CHECK: llvm.fence release
// CHECK-NEXT: llvm.store %{{.*}} atomic monotonic

// Two words, three values, "%i %f %x\n" in two words: 56 bytes.
// CHECK-LABEL: llvm.func @prints
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(56 : i64)
// CHECK: %[[RECORD:.*]] = llvm.call @kiln_reserve_message(%[[SIZE]])
// CHECK: %[[HAS:.*]] = llvm.icmp "ne" %[[RECORD]]
// CHECK: llvm.cond_br %[[HAS]], ^[[WRITE:.*]], ^[[AFTER:.*]]
// CHECK: ^[[WRITE]]:
// CHECK-COUNT-6: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : i64
// CHECK: %[[HEADER:.*]] = llvm.mlir.constant(4294967352 : i64)
// CHECK-NEXT: llvm.fence release
// CHECK-NEXT: llvm.store %[[HEADER]], %[[RECORD]] atomic monotonic {alignment = 8 : i64}
// CHECK-NEXT: llvm.br ^[[AFTER]]
llvm.func @prints(%i: i32, %f: f64, %l: i64) {
  tilegpu.print "%i %f %x\n"(%i, %f, %l) : i32, f64, i64
  llvm.return
}

// CHECK-LABEL: llvm.func @fails
// CHECK: rocdl.workgroup.id.x
// CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[LAST:.*]]
// CHECK: ^[[LAST]]:
// CHECK-NEXT: llvm.call_intrinsic "llvm.amdgcn.endpgm"
llvm.func @fails() {
  tilegpu.fail "x > 0"
  llvm.return
}
}
