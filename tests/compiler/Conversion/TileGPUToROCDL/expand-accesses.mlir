// Global accesses as they are expanded: loads of zeros where a mask is off, branches around stores.
// RUN: kiln-opt %s --kiln-expand-target-operations | FileCheck %s

module attributes {tilegpu.target = "hip:gfx942"} {
// CHECK: llvm.mlir.global internal constant @kiln_zeros() {addr_space = 1 : i32, alignment = 16 : i64
// CHECK-LABEL: @predicated
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[C:.*]]: i1, %[[OTHER:.*]]: vector<4xf32>)
// CHECK: %[[ZEROS:.*]] = llvm.mlir.addressof @kiln_zeros
// CHECK-NEXT: %[[FROM:.*]] = llvm.select %[[C]], %[[P]], %[[ZEROS]]
// CHECK-NEXT: %[[V:.*]] = llvm.load %[[FROM]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT: %[[R:.*]] = llvm.select %[[C]], %[[V]], %[[OTHER]]
// CHECK-NEXT: llvm.cond_br %[[C]], ^[[STORE:.*]], ^[[END:.*]]
// CHECK: ^[[STORE]]:
// CHECK-NEXT: llvm.store %[[R]], %[[P]] {alignment = 16 : i64}
// CHECK-NEXT: llvm.br ^[[END]]
llvm.func @predicated(%p: !llvm.ptr<1>, %c: i1, %other: vector<4xf32>) {
  %v = tilegpu.global_load %p predicate %c other %other : (!llvm.ptr<1>, i1, vector<4xf32>) -> vector<4xf32>
  tilegpu.global_store %p, %v predicate %c : (!llvm.ptr<1>, vector<4xf32>, i1) -> ()
  llvm.return
}

// Zeros are what is read; nothing need be selected.
// CHECK-LABEL: @zeros
// CHECK: %[[FROM:.*]] = llvm.select
// CHECK-NEXT: %[[V:.*]] = llvm.load %[[FROM]]
// CHECK-NEXT: llvm.return %[[V]]
llvm.func @zeros(%p: !llvm.ptr<1>, %c: i1) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %v = tilegpu.global_load %p predicate %c other %zero : (!llvm.ptr<1>, i1, i32) -> i32
  llvm.return %v : i32
}

// A mask that ends within a vector: all of it is read, and of each word stays what is there, of the first one at least
// the first half, as lanes that lack that read zeros.
// CHECK-LABEL: @elements
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[A:.*]]: i1, %[[B:.*]]: i1, %[[C:.*]]: i1, %[[D:.*]]: i1)
// CHECK: %[[FROM:.*]] = llvm.select %[[A]], %[[P]], %{{.*}} : i1, !llvm.ptr<1>
// CHECK: %[[V:.*]] = llvm.load %[[FROM]] {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xf16>
// CHECK: %[[WORDS:.*]] = llvm.bitcast %[[V]] : vector<4xf16> to vector<2xi32>
// CHECK: %[[W0:.*]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[W1:.*]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[LOW:.*]] = llvm.mlir.constant(65535 : i32) : i32
// CHECK: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32) : i32
// CHECK: %[[M0:.*]] = llvm.select %[[B]], %[[ALL]], %[[LOW]] : i1, i32
// CHECK: llvm.and %[[W0]], %[[M0]]
// CHECK: %[[THIRD:.*]] = llvm.select %[[C]], %{{.*}}, %{{.*}} : i1, i32
// CHECK: %[[M1:.*]] = llvm.select %[[D]], %{{.*}}, %[[THIRD]] : i1, i32
// CHECK: llvm.and %[[W1]], %[[M1]]
// CHECK: llvm.bitcast %{{.*}} : vector<2xi32> to vector<4xf16>
llvm.func @elements(%p: !llvm.ptr<1>, %a: i1, %b: i1, %c: i1, %d: i1) -> vector<4xf16> {
  %zeros = llvm.mlir.constant(dense<0.0> : vector<4xf16>) : vector<4xf16>
  %v = tilegpu.global_load %p predicate %a other %zeros elements %a, %b, %c, %d : (!llvm.ptr<1>, i1, vector<4xf16>, i1, i1, i1, i1) -> vector<4xf16>
  llvm.return %v : vector<4xf16>
}

// Others than zeros are chosen element by element, and none where the rest may be anything.
// CHECK-LABEL: @otherElements
// CHECK: %[[V:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, f32
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, f32
// CHECK: %[[W:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-NEXT: llvm.return
llvm.func @otherElements(%p: !llvm.ptr<1>, %a: i1, %b: i1, %other: vector<2xf32>) -> vector<2xf32> {
  %v = tilegpu.global_load %p predicate %a other %other elements %a, %b : (!llvm.ptr<1>, i1, vector<2xf32>, i1, i1) -> vector<2xf32>
  %w = tilegpu.global_load %p predicate %a elements %a, %b : (!llvm.ptr<1>, i1, i1, i1) -> vector<2xf32>
  llvm.return %w : vector<2xf32>
}

// CHECK-LABEL: @streaming
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64, nontemporal} : !llvm.ptr<1> -> i32
// CHECK: llvm.load volatile
llvm.func @streaming(%p: !llvm.ptr<1>) {
  %a = tilegpu.global_load %p {cache = #tile.cache<cs>} : (!llvm.ptr<1>) -> i32
  %b = tilegpu.global_load %p {is_volatile} : (!llvm.ptr<1>) -> i32
  llvm.return
}

// By the caches that others' stores do not reach, 8 bytes at once.
// CHECK-LABEL: @scopes
// CHECK: llvm.load %{{.*}} atomic syncscope("agent") monotonic {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// CHECK: llvm.load %{{.*}} atomic syncscope("agent") monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.load %{{.*}} atomic syncscope("agent") monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.store %{{.*}} atomic monotonic {alignment = 8 : i64} : i64
// CHECK: llvm.store %{{.*}} atomic monotonic {alignment = 8 : i64} : i64
llvm.func @scopes(%p: !llvm.ptr<1>) -> f16 {
  %a = tilegpu.global_load %p {cache = #tile.cache<cg>} : (!llvm.ptr<1>) -> f16
  %b = tilegpu.global_load %p {cache = #tile.cache<cg>} : (!llvm.ptr<1>) -> vector<4xf32>
  tilegpu.global_store %p, %b {cache = #tile.cache<wt>} : (!llvm.ptr<1>, vector<4xf32>) -> ()
  llvm.return %a : f16
}

// Additions of pairs: one atomic, which the back end has an instruction for, or makes a loop of.
// CHECK-LABEL: @reduce
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("agent") monotonic {alignment = 4 : i64, rocdl.ignore_denormal_mode, rocdl.no_fine_grained_memory, rocdl.no_remote_memory} : !llvm.ptr<1>, vector<2xf16>
// CHECK: llvm.cond_br
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("agent") monotonic {alignment = 4 : i64, rocdl.ignore_denormal_mode} : !llvm.ptr<1>, f32
llvm.func @reduce(%p: !llvm.ptr<1>, %v: vector<2xf16>, %f: f32, %c: i1) {
  tilegpu.global_reduce %p, %v {is_device_memory} : (!llvm.ptr<1>, vector<2xf16>) -> ()
  tilegpu.global_reduce %p, %f predicate %c : (!llvm.ptr<1>, f32, i1) -> ()
  llvm.return
}
}
