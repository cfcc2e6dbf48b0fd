// Every operation, attribute and type prints what it parses.
// RUN: kiln-opt %s | kiln-opt | FileCheck %s
// RUN: kiln-opt --mlir-print-op-generic %s | kiln-opt | FileCheck %s

#rows = #tilegpu.layout<"register: 0,1; lane: 0,2 1,0 2,0 4,0 8,0; warp:; block: -> 16x4">
#columns = #tilegpu.layout<"register: 1,0; lane: 2,0 4,0 8,0 0,1 0,2; warp:; block: -> 16x4">
#plain = #tilegpu.shared<"offset: 0,1 0,2 1,0 2,0 4,0 8,0 -> 16x4">
#padded = #tilegpu.shared<"offset: 0,1 0,2 1,0 2,0 4,0 8,0 -> 16x4", pad 4 + 1>

// CHECK-DAG: #[[ROWS:.*]] = #tilegpu.layout<"register: 0,1; lane: 0,2 1,0 2,0 4,0 8,0; warp:; block: -> 16x4">
// CHECK-DAG: #[[COLUMNS:.*]] = #tilegpu.layout<"register: 1,0; lane: 2,0 4,0 8,0 0,1 0,2; warp:; block: -> 16x4">
// CHECK-DAG: #[[PADDED:.*]] = #tilegpu.shared<"offset: 0,1 0,2 1,0 2,0 4,0 8,0 -> 16x4", pad 4 + 1>

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<16x4xf16, #rows>) -> tensor<16x4xf16, #columns> {
  // CHECK: tilegpu.convert_layout %{{.*}} : tensor<16x4xf16, #[[ROWS]]> -> tensor<16x4xf16, #[[COLUMNS]]>
  %y = tilegpu.convert_layout %x : tensor<16x4xf16, #rows> -> tensor<16x4xf16, #columns>
  return %y : tensor<16x4xf16, #columns>
}

// CHECK-LABEL: func.func @shared
func.func @shared(%p: tensor<16x4x!tile.ptr<f16>, #rows>, %m: tensor<16x4xi1, #rows>, %x: tensor<16x4xf16, #rows>)
    -> tensor<16x4xf16, #columns> {
  // CHECK: %[[B:.*]] = tilegpu.alloc : <16x4xf16, #[[PLAIN:.*]]>
  %b = tilegpu.alloc : !tilegpu.buffer<16x4xf16, #plain>
  // CHECK: tilegpu.alloc {tilegpu.offset = 128 : i32} : <16x4xf16, #[[PADDED]]>
  %q = tilegpu.alloc {tilegpu.offset = 128 : i32} : !tilegpu.buffer<16x4xf16, #padded>
  // CHECK: tilegpu.shared_store %{{.*}}, %{{.*}} : tensor<16x4xf16, #[[ROWS]]>, <16x4xf16, #[[PADDED]]>
  tilegpu.shared_store %x, %q : tensor<16x4xf16, #rows>, !tilegpu.buffer<16x4xf16, #padded>
  // CHECK: tilegpu.barrier
  tilegpu.barrier
  // CHECK: tilegpu.shared_load %[[B]] : <16x4xf16, #[[PLAIN]]> -> tensor<16x4xf16, #[[COLUMNS]]>
  %y = tilegpu.shared_load %b : !tilegpu.buffer<16x4xf16, #plain> -> tensor<16x4xf16, #columns>
  return %y : tensor<16x4xf16, #columns>
}

// CHECK-LABEL: func.func @copies
func.func @copies(%p: tensor<16x4x!tile.ptr<f16>, #rows>, %m: tensor<16x4xi1, #rows>, %i: i32) {
  // CHECK: %[[R:.*]] = tilegpu.alloc : <16x4xf16, #[[PLAIN:.*]], slots 3>
  %r = tilegpu.alloc : !tilegpu.buffer<16x4xf16, #plain, slots 3>
  // CHECK: %[[S:.*]] = tilegpu.slot %[[R]][%{{.*}}] : <16x4xf16, #[[PLAIN]], slots 3>
  %s = tilegpu.slot %r[%i] : !tilegpu.buffer<16x4xf16, #plain, slots 3>
  // CHECK: tilegpu.trans_buffer %[[S]], [1, 0] : <16x4xf16, #[[PLAIN]]>
  %t = tilegpu.trans_buffer %s, [1, 0] : !tilegpu.buffer<16x4xf16, #plain>
  // CHECK: tilegpu.copy_async %{{.*}}, %[[S]] mask %{{.*}} vector 2 {cache = #tile.cache<cg>} : tensor<16x4x!tile.ptr<f16>, #[[ROWS]]>, !tilegpu.buffer<16x4xf16, #[[PLAIN]]>, tensor<16x4xi1, #[[ROWS]]>
  tilegpu.copy_async %p, %s mask %m vector 2 {cache = #tile.cache<cg>} : tensor<16x4x!tile.ptr<f16>, #rows>, !tilegpu.buffer<16x4xf16, #plain>, tensor<16x4xi1, #rows>
  // CHECK: tilegpu.commit
  tilegpu.commit
  // CHECK: tilegpu.wait pending 1 for %[[R]] : !tilegpu.buffer<16x4xf16, #[[PLAIN]], slots 3>
  tilegpu.wait pending 1 for %r : !tilegpu.buffer<16x4xf16, #plain, slots 3>
  // CHECK: tilegpu.wait pending 0
  tilegpu.wait pending 0
  // CHECK: tilegpu.proxy_fence
  tilegpu.proxy_fence
  return
}

#a = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 16x16">
#bf = #tilegpu.layout<"register: 1,0 8,0; lane: 2,0 4,0 0,1 0,2 0,4; warp:; block: -> 16x8">
#c = #tilegpu.layout<"register: 0,1 8,0; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 16x8">

// CHECK-LABEL: func.func @dot
func.func @dot(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #bf>, %c: tensor<16x8xf32, #c>) -> tensor<16x8xf32, #c> {
  // CHECK: tilegpu.dot %{{.*}}, %{{.*}}, %{{.*}} unit <"mma.m16n8k16.f16.f32", warps 1 x 1> : (
  %d = tilegpu.dot %a, %b, %c unit <"mma.m16n8k16.f16.f32", warps 1 x 1>
      : (tensor<16x16xf16, #a>, tensor<16x8xf16, #bf>, tensor<16x8xf32, #c>) -> tensor<16x8xf32, #c>
  return %d : tensor<16x8xf32, #c>
}

#wc = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x16">
#sa = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 -> 64x16">
#sb = #tilegpu.shared<"offset: 1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 -> 16x16">

// CHECK-LABEL: func.func @dotInFlight
func.func @dotInFlight(%a: !tilegpu.buffer<64x16xf16, #sa>, %b: !tilegpu.buffer<16x16xf16, #sb>, %c: tensor<64x16xf32, #wc>)
    -> tensor<64x16xf32, #wc> {
  // CHECK: tilegpu.dot async %{{.*}}, %{{.*}}, %{{.*}} unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1> : (!tilegpu.buffer
  %d = tilegpu.dot async %a, %b, %c unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1>
      : (!tilegpu.buffer<64x16xf16, #sa>, !tilegpu.buffer<16x16xf16, #sb>, tensor<64x16xf32, #wc>) -> tensor<64x16xf32, #wc>
  // CHECK: tilegpu.dot_wait pending 1
  tilegpu.dot_wait pending 1
  // CHECK: tilegpu.dot_wait pending 0 for %{{.*}} : tensor<64x16xf32
  %r = tilegpu.dot_wait pending 0 for %d : tensor<64x16xf32, #wc>
  return %r : tensor<64x16xf32, #wc>
}

// CHECK-LABEL: func.func @accesses
func.func @accesses(%p: !llvm.ptr<1>, %c: i1, %z: vector<4xf32>, %s: !llvm.ptr<3>, %n: i32) {
  // CHECK: tilegpu.global_load %{{.*}} predicate %{{.*}} other %{{.*}} {cache = #tile.cache<cg>} : (!llvm.ptr<1>, i1, vector<4xf32>) -> vector<4xf32>
  %v = tilegpu.global_load %p predicate %c other %z {cache = #tile.cache<cg>} : (!llvm.ptr<1>, i1, vector<4xf32>) -> vector<4xf32>
  // CHECK: tilegpu.global_load %{{.*}} predicate %[[C:.*]] elements %[[C]], %[[C]] : (!llvm.ptr<1>, i1, i1, i1) -> vector<2xf32>
  %w = tilegpu.global_load %p predicate %c elements %c, %c : (!llvm.ptr<1>, i1, i1, i1) -> vector<2xf32>
  // CHECK: tilegpu.global_store %{{.*}}, %{{.*}} predicate %{{.*}} : (!llvm.ptr<1>, vector<4xf32>, i1) -> ()
  tilegpu.global_store %p, %v predicate %c : (!llvm.ptr<1>, vector<4xf32>, i1) -> ()
  // CHECK: tilegpu.global_reduce %{{.*}}, %{{.*}} predicate %{{.*}} {scope = #tile.scope<sys>} : (!llvm.ptr<1>, vector<4xf32>, i1) -> ()
  tilegpu.global_reduce %p, %v predicate %c {scope = #tile.scope<sys>} : (!llvm.ptr<1>, vector<4xf32>, i1) -> ()
  // CHECK: tilegpu.global_copy %{{.*}}, %{{.*}} predicate %{{.*}} copied %{{.*}} {bytes = 16 : i32} : (!llvm.ptr<3>, !llvm.ptr<1>, i1, i32) -> ()
  tilegpu.global_copy %s, %p predicate %c copied %n {bytes = 16 : i32} : (!llvm.ptr<3>, !llvm.ptr<1>, i1, i32) -> ()
  return
}

// CHECK-LABEL: func.func @warpGroups
func.func @warpGroups(%x: i64, %r: i32, %adds: i1, %zero: f32, %i: i32, %n: i32) -> f32 {
  // Products in flight may go around a loop.
  // CHECK: scf.for
  %c:4 = scf.for %k = %i to %n step %i iter_args(%c0 = %zero, %c1 = %zero, %c2 = %zero, %c3 = %zero) -> (f32, f32, f32, f32) : i32 {
    // CHECK: tilegpu.wgmma a(%{{.*}}) b(%{{.*}}) into(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) if %{{.*}} {accumulator = "f32", n = 8 : i32, operand = "f16", transpose_a} : (i64, i64, f32, f32, f32, f32, i1) -> (f32, f32, f32, f32)
    %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c0, %c1, %c2, %c3) if %adds {n = 8 : i32, operand = "f16", accumulator = "f32", transpose_a}
        : (i64, i64, f32, f32, f32, f32, i1) -> (f32, f32, f32, f32)
    // CHECK: tilegpu.wgmma a(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) b(%{{.*}}) into
    %e:4 = tilegpu.wgmma a(%r, %r, %r, %r) b(%x) into(%d#0, %d#1, %d#2, %d#3) {n = 8 : i32, operand = "bf16", accumulator = "f32"}
        : (i32, i32, i32, i32, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    scf.yield %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
  }
  // CHECK: tilegpu.wgmma_wait %{{.*}}#0, %{{.*}}#1, %{{.*}}#2, %{{.*}}#3 pending 0 : f32, f32, f32, f32
  %w:4 = tilegpu.wgmma_wait %c#0, %c#1, %c#2, %c#3 pending 0 : f32, f32, f32, f32
  return %w#0 : f32
}
