// Global accesses as they are expanded: one predicated PTX instruction each.
// RUN: kiln-opt %s --kiln-expand-target-operations | FileCheck %s

module attributes {tilegpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: @plain
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
llvm.func @plain(%p: !llvm.ptr<1>) {
  %v = tilegpu.global_load %p : (!llvm.ptr<1>) -> vector<4xf32>
  tilegpu.global_store %p, %v : (!llvm.ptr<1>, vector<4xf32>) -> ()
  llvm.return
}

// CHECK-LABEL: @predicated
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b"
llvm.func @predicated(%p: !llvm.ptr<1>, %c: i1, %other: vector<8xf16>) {
  %v = tilegpu.global_load %p predicate %c other %other : (!llvm.ptr<1>, i1, vector<8xf16>) -> vector<8xf16>
  tilegpu.global_store %p, %v predicate %c : (!llvm.ptr<1>, vector<8xf16>, i1) -> ()
  llvm.return
}

// CHECK-LABEL: @widths
// CHECK: "@$2 ld.global.b8 $0, [$1];", "=h,l,b,0"
// CHECK: "@$2 ld.global.b16 $0, [$1];", "=h,l,b,0"
// CHECK: "@$2 ld.global.b64 $0, [$1];", "=l,l,b,0"
// CHECK: "@$3 ld.global.v2.b64 {$0, $1}, [$2];", "=l,=l,l,b,0,1"
llvm.func @widths(%p: !llvm.ptr<1>, %c: i1) {
  %a = tilegpu.global_load %p predicate %c : (!llvm.ptr<1>, i1) -> i8
  %b = tilegpu.global_load %p predicate %c : (!llvm.ptr<1>, i1) -> bf16
  %d = tilegpu.global_load %p predicate %c : (!llvm.ptr<1>, i1) -> f64
  %e = tilegpu.global_load %p predicate %c : (!llvm.ptr<1>, i1) -> vector<2xi64>
  llvm.return
}

// CHECK-LABEL: @modifiers
// CHECK: "ld.global.cg.b32 $0, [$1];"
// CHECK: "ld.global.L1::evict_last.b32 $0, [$1];"
// CHECK: "@$2 ld.volatile.global.b32 $0, [$1];"
// CHECK: "st.global.wt.b32 [$0], $1;"
llvm.func @modifiers(%p: !llvm.ptr<1>, %c: i1) {
  %a = tilegpu.global_load %p {cache = #tile.cache<cg>} : (!llvm.ptr<1>) -> i32
  %b = tilegpu.global_load %p {evict = #tile.evict<evict_last>} : (!llvm.ptr<1>) -> i32
  %d = tilegpu.global_load %p predicate %c {is_volatile} : (!llvm.ptr<1>, i1) -> i32
  tilegpu.global_store %p, %a {cache = #tile.cache<wt>} : (!llvm.ptr<1>, i32) -> ()
  llvm.return
}

// CHECK-LABEL: @reductions
// CHECK: "@$5 red.relaxed.gpu.global.add.noftz.v4.f16x2 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b"
// CHECK: "red.relaxed.cta.global.add.noftz.v2.bf16x2 [$0], {$1, $2};", "l,r,r"
// CHECK: "@$2 red.relaxed.sys.global.add.noftz.f16x2 [$0], $1;", "l,r,b"
// CHECK: "red.relaxed.gpu.global.add.noftz.bf16 [$0], $1;", "l,h"
// CHECK: "red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r"
// CHECK: "@$2 red.relaxed.gpu.global.add.f32 [$0], $1;", "l,r,b"
llvm.func @reductions(%p: !llvm.ptr<1>, %c: i1, %h8: vector<8xf16>, %b4: vector<4xbf16>, %h2: vector<2xf16>, %b: bf16,
                      %f4: vector<4xf32>, %f: f32) {
  tilegpu.global_reduce %p, %h8 predicate %c : (!llvm.ptr<1>, vector<8xf16>, i1) -> ()
  tilegpu.global_reduce %p, %b4 {scope = #tile.scope<cta>} : (!llvm.ptr<1>, vector<4xbf16>) -> ()
  tilegpu.global_reduce %p, %h2 predicate %c {scope = #tile.scope<sys>} : (!llvm.ptr<1>, vector<2xf16>, i1) -> ()
  tilegpu.global_reduce %p, %b : (!llvm.ptr<1>, bf16) -> ()
  tilegpu.global_reduce %p, %f4 : (!llvm.ptr<1>, vector<4xf32>) -> ()
  tilegpu.global_reduce %p, %f predicate %c : (!llvm.ptr<1>, f32, i1) -> ()
  llvm.return
}
}
