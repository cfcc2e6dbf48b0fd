// Asynchronous copies as they are expanded: all or nothing is a predicate, anything between a
// number of bytes; copies of some threads stand under another.
// RUN: kiln-opt %s --kiln-expand-target-operations | FileCheck %s

module attributes {tilegpu.target = "cuda:sm_80"} {
// CHECK-LABEL: @all_or_nothing
// CHECK-NOT: nvvm.cp.async
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "{
// CHECK-SAME: not.pred ignored, $2;
// CHECK-SAME: cp.async.cg.shared.global [$0], [$1], 16, ignored;
// CHECK-SAME: "l,l,b,~{memory}" %arg0, %arg1, %arg2
// CHECK: cp.async.ca.shared.global [$0], [$1], 4, ignored;
llvm.func @all_or_nothing(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %copied: i1) {
  %none = llvm.mlir.constant(0 : i32) : i32
  %whole = llvm.mlir.constant(16 : i32) : i32
  %word = llvm.mlir.constant(4 : i32) : i32
  %bytes = llvm.select %copied, %whole, %none : i1, i32
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32
  %wordBytes = llvm.select %copied, %word, %none : i1, i32
  nvvm.cp.async.shared.global %to, %from, 4, cache = ca, %wordBytes : !llvm.ptr<3>, !llvm.ptr<1>, i32
  llvm.return
}

// CHECK-LABEL: @of_some_threads
// CHECK-NOT: tilegpu.global_copy
// CHECK: "@$2 cp.async.cg.shared.global [$0], [$1], 16;", "l,l,b,~{memory}" %arg0, %arg1, %arg2
// CHECK: "{
// CHECK-SAME: not.pred ignored, $3;
// CHECK-SAME: @$2 cp.async.ca.shared.global [$0], [$1], 8, ignored;
// CHECK-SAME: "l,l,b,b,~{memory}" %arg0, %arg1, %arg2, %arg3
// CHECK: "@$2 cp.async.ca.shared.global [$0], [$1], 4, $3;", "l,l,b,r,~{memory}" %arg0, %arg1, %arg2, %arg4
llvm.func @of_some_threads(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %mine: i1, %copied: i1, %some: i32) {
  %none = llvm.mlir.constant(0 : i32) : i32
  %pair = llvm.mlir.constant(8 : i32) : i32
  tilegpu.global_copy %to, %from predicate %mine {bytes = 16 : i32} : (!llvm.ptr<3>, !llvm.ptr<1>, i1) -> ()
  %bytes = llvm.select %copied, %pair, %none : i1, i32
  tilegpu.global_copy %to, %from predicate %mine copied %bytes {bytes = 8 : i32} : (!llvm.ptr<3>, !llvm.ptr<1>, i1, i32) -> ()
  tilegpu.global_copy %to, %from predicate %mine copied %some {bytes = 4 : i32} : (!llvm.ptr<3>, !llvm.ptr<1>, i1, i32) -> ()
  llvm.return
}

// CHECK-LABEL: @parts
// CHECK-NOT: llvm.inline_asm
// CHECK-COUNT-4: nvvm.cp.async.shared.global
// CHECK-NOT: llvm.inline_asm
llvm.func @parts(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %copied: i1, %some: i32) {
  %none = llvm.mlir.constant(0 : i32) : i32
  %half = llvm.mlir.constant(8 : i32) : i32
  %whole = llvm.mlir.constant(16 : i32) : i32
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %some : !llvm.ptr<3>, !llvm.ptr<1>, i32
  %a = llvm.select %copied, %half, %none : i1, i32
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %a : !llvm.ptr<3>, !llvm.ptr<1>, i32
  %b = llvm.select %copied, %whole, %half : i1, i32
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %b : !llvm.ptr<3>, !llvm.ptr<1>, i32
  llvm.return
}
}
