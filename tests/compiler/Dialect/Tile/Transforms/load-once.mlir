// Which loads read each address once, and how their values come back to the tile's shape.
// RUN: kiln-opt %s --kiln-load-once --split-input-file | FileCheck %s

// Words of 8 rows each: 4 of 32 rows are loaded.
// CHECK-LABEL: @packed
// CHECK-NOT: tile.load {{.*}} -> tensor<32x64xi32>
// CHECK: %[[SOME:.*]] = tile.load %{{.*}} {evict = #tile.evict<evict_first>} : (tensor<4x64x!tile.ptr<i32>>) -> tensor<4x64xi32>
// CHECK: %[[APART:.*]] = tile.expand_dims %[[SOME]], 1 : tensor<4x64xi32> -> tensor<4x1x64xi32>
// CHECK: %[[EQUAL:.*]] = tile.broadcast %[[APART]] : tensor<4x1x64xi32> -> tensor<4x8x64xi32>
// CHECK: %[[WORD:.*]] = tile.reshape %[[EQUAL]] : tensor<4x8x64xi32> -> tensor<32x64xi32>
// CHECK: arith.shrsi %[[WORD]]
func.func @packed(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %j = tile.arange 0, 64 : tensor<64xi32>
  %eight = arith.constant dense<8> : tensor<32xi32>
  %word = arith.divsi %i, %eight : tensor<32xi32>
  %column = tile.expand_dims %word, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %stride = tile.splat %n : i32 -> tensor<32x1xi32>
  %rows = arith.muli %column, %stride : tensor<32x1xi32>
  %rows2 = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x64xi32>
  %row = tile.expand_dims %j, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tile.broadcast %row : tensor<1x64xi32> -> tensor<32x64xi32>
  %at = arith.addi %rows2, %columns : tensor<32x64xi32>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x64x!tile.ptr<i32>>
  %from = tile.addptr %ps, %at : tensor<32x64x!tile.ptr<i32>>, tensor<32x64xi32>
  %x = tile.load %from {evict = #tile.evict<evict_first>} : (tensor<32x64x!tile.ptr<i32>>) -> tensor<32x64xi32>
  %shift = arith.remsi %i, %eight : tensor<32xi32>
  %shift1 = tile.expand_dims %shift, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %shifts = tile.broadcast %shift1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %y = arith.shrsi %x, %shifts : tensor<32x64xi32>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<32x64x!tile.ptr<i32>>
  %to = tile.addptr %qs, %at : tensor<32x64x!tile.ptr<i32>>, tensor<32x64xi32>
  tile.store %to, %y : (tensor<32x64x!tile.ptr<i32>>, tensor<32x64xi32>) -> ()
  func.return
}

// -----

// A mask that is the same for a pair is thinned out with the addresses, and `other`. A range that starts elsewhere keeps its start.
// CHECK-LABEL: @masked
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2> : tensor<16xi32>
// CHECK-DAG: %[[START:.*]] = arith.constant dense<64> : tensor<16xi32>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<7.000000e+00> : tensor<16xf32>
// CHECK: %[[COUNT:.*]] = tile.arange 0, 16 : tensor<16xi32>
// CHECK: %[[STEPS:.*]] = arith.muli %[[COUNT]], %[[TWO]]
// CHECK: %[[EVEN:.*]] = arith.addi %[[STEPS]], %[[START]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[EVEN]], %{{.*}} : tensor<16xi32>
// CHECK: tile.load %{{.*}} mask %[[IN]] other %[[NONE]] : {{.*}} -> tensor<16xf32>
func.func @masked(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %i = tile.arange 64, 96 : tensor<32xi32>
  %two = arith.constant dense<2> : tensor<32xi32>
  %other = arith.constant dense<7.0> : tensor<32xf32>
  %pair = arith.divsi %i, %two : tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %from = tile.addptr %ps, %pair : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %x = tile.load %from mask %m other %other : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>, tensor<32xf32>) -> tensor<32xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %to, %x : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
  func.return
}

// -----

// Where a mask ends within a pair, its first element is read, and the second one is `other`.
// CHECK-LABEL: @prefix
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}} : tensor<32xi32>
// CHECK: %[[SOME:.*]] = tile.load %{{.*}} mask %{{.*}} other %{{.*}} -> tensor<16xf32>
// CHECK: %[[ALL:.*]] = tile.reshape %{{.*}} -> tensor<32xf32>
// CHECK: arith.select %[[IN]], %[[ALL]], %{{.*}} : tensor<32xi1>, tensor<32xf32>
// CHECK-NOT: tile.load
func.func @prefix(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %two = arith.constant dense<2> : tensor<32xi32>
  %other = arith.constant dense<7.0> : tensor<32xf32>
  %pair = arith.divsi %i, %two : tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %from = tile.addptr %ps, %pair : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %x = tile.load %from mask %m other %other : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>, tensor<32xf32>) -> tensor<32xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %to, %x : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
  func.return
}

// -----

// A number that only the launch knows, a multiple of 16: in a loop two divisions of 32, and remainders that count up. Another one
// divides each, and so does any in front of the loop.
// CHECK-LABEL: @divided
// CHECK: arith.remsi %{{.*}} : tensor<32xi32>
// CHECK: scf.for
// CHECK-DAG: arith.divsi %{{.*}} : tensor<2xi32>
// CHECK-DAG: arith.remsi %{{.*}} : tensor<2xi32>
// CHECK-DAG: arith.divsi %{{.*}} : tensor<32xi32>
// CHECK-NOT: arith.remsi
func.func @divided(%q: !tile.ptr<i32>, %n: i32 {tile.divisibility = 16 : i32}, %m: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %i = tile.arange 0, 32 : tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %ms = tile.splat %m : i32 -> tensor<32xi32>
  %before = arith.remsi %i, %ns : tensor<32xi32>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  scf.for %t = %zero to %m step %step : i32 {
    %ts = tile.splat %t : i32 -> tensor<32xi32>
    %j = arith.addi %i, %ts : tensor<32xi32>
    %a = arith.divsi %j, %ns : tensor<32xi32>
    %b = arith.remsi %j, %ns : tensor<32xi32>
    %c = arith.divsi %j, %ms : tensor<32xi32>
    %ab = arith.muli %a, %b : tensor<32xi32>
    %abc = arith.addi %ab, %c : tensor<32xi32>
    %x = arith.addi %abc, %before : tensor<32xi32>
    %to = tile.addptr %qs, %j : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
    tile.store %to, %x : (tensor<32x!tile.ptr<i32>>, tensor<32xi32>) -> ()
  }
  func.return
}

// -----

// A mask of other elements may hold for the second of a pair alone; what a volatile load reads may change in between.
// CHECK-LABEL: @kept
// CHECK: tile.load %{{.*}} mask %{{.*}} -> tensor<32xf32>
// CHECK: tile.load %{{.*}} {is_volatile} {{.*}} -> tensor<32xf32>
// CHECK-NOT: tile.load
func.func @kept(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %two = arith.constant dense<2> : tensor<32xi32>
  %pair = arith.divsi %i, %two : tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %m = arith.cmpi sge, %i, %ns : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %from = tile.addptr %ps, %pair : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %x = tile.load %from mask %m : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
  %y = tile.load %from {is_volatile} : (tensor<32x!tile.ptr<f32>>) -> tensor<32xf32>
  %z = arith.addf %x, %y : tensor<32xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %to, %z : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
  func.return
}

// -----

// Equal along the whole axis: one row, broadcast. The pointers that the loop moves are few, too, and start where they did; those of
// the store, which differ everywhere, are carried as they were.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (tensor<8x32x!tile.ptr<f32>>, i64)
// CHECK: %[[MOVED:.*]] = tile.splat %{{.*}} : i64 -> tensor<1x32xi64>
// CHECK: %[[FROM:.*]] = tile.addptr %{{.*}}, %[[MOVED]] : tensor<1x32x!tile.ptr<f32>>
// CHECK: %[[ROW:.*]] = tile.load %[[FROM]] : {{.*}} -> tensor<1x32xf32>
// CHECK: tile.broadcast %[[ROW]] : tensor<1x32xf32> -> tensor<8x32xf32>
func.func @carried(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = arith.constant dense<32> : tensor<8x32xi32>
  %j = tile.arange 0, 32 : tensor<32xi32>
  %row = tile.expand_dims %j, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %columns = tile.broadcast %row : tensor<1x32xi32> -> tensor<8x32xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x32x!tile.ptr<f32>>
  %from = tile.addptr %ps, %columns : tensor<8x32x!tile.ptr<f32>>, tensor<8x32xi32>
  %i = tile.arange 0, 8 : tensor<8xi32>
  %i1 = tile.expand_dims %i, 1 : tensor<8xi32> -> tensor<8x1xi32>
  %ns = tile.splat %n : i32 -> tensor<8x1xi32>
  %down = arith.muli %i1, %ns : tensor<8x1xi32>
  %rows = tile.broadcast %down : tensor<8x1xi32> -> tensor<8x32xi32>
  %at = arith.addi %rows, %columns : tensor<8x32xi32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<8x32x!tile.ptr<f32>>
  %to = tile.addptr %qs, %at : tensor<8x32x!tile.ptr<f32>>, tensor<8x32xi32>
  scf.for %t = %zero to %n step %one iter_args(%a = %from, %b = %to) -> (tensor<8x32x!tile.ptr<f32>>, tensor<8x32x!tile.ptr<f32>>) : i32 {
    %x = tile.load %a : (tensor<8x32x!tile.ptr<f32>>) -> tensor<8x32xf32>
    tile.store %b, %x : (tensor<8x32x!tile.ptr<f32>>, tensor<8x32xf32>) -> ()
    %c = tile.addptr %a, %steps : tensor<8x32x!tile.ptr<f32>>, tensor<8x32xi32>
    %d = tile.addptr %b, %steps : tensor<8x32x!tile.ptr<f32>>, tensor<8x32xi32>
    scf.yield %c, %d : tensor<8x32x!tile.ptr<f32>>, tensor<8x32x!tile.ptr<f32>>
  }
  func.return
}

// -----

// Steps divided by the step count by one: bytes of two nibbles each are side by side.
// CHECK-LABEL: @nibbles
// CHECK-DAG: %[[HALF:.*]] = arith.constant 16 : i32
// CHECK: %[[COUNT:.*]] = tile.arange 0, 16 : tensor<16xi32>
// CHECK: scf.for %[[T:.*]] =
// CHECK-NOT: arith.divsi
// CHECK-NOT: arith.shrsi
// CHECK: %[[START:.*]] = arith.muli %[[T]], %[[HALF]] : i32
// CHECK: %[[STARTS:.*]] = tile.splat %[[START]] : i32 -> tensor<16xi32>
// CHECK: %[[BYTE:.*]] = arith.addi %[[COUNT]], %[[STARTS]] : tensor<16xi32>
// CHECK: %[[FROM:.*]] = tile.addptr %{{.*}}, %[[BYTE]]
// CHECK: tile.load %[[FROM]] : {{.*}} -> tensor<16xi8>
// CHECK: tile.load %{{.*}} : {{.*}} -> tensor<16xi8>
func.func @nibbles(%p: !tile.ptr<i8>, %q: !tile.ptr<i8>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = arith.constant 32 : i32
  %i = tile.arange 0, 32 : tensor<32xi32>
  %two = arith.constant dense<2> : tensor<32xi32>
  %bit = arith.constant dense<1> : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<32x!tile.ptr<i8>>
  %qs = tile.splat %q : !tile.ptr<i8> -> tensor<32x!tile.ptr<i8>>
  scf.for %t = %zero to %n step %one : i32 {
    %start = arith.muli %t, %steps : i32
    %starts = tile.splat %start : i32 -> tensor<32xi32>
    %at = arith.addi %i, %starts : tensor<32xi32>
    %byte = arith.divsi %at, %two : tensor<32xi32>
    %from = tile.addptr %ps, %byte : tensor<32x!tile.ptr<i8>>, tensor<32xi32>
    %x = tile.load %from : (tensor<32x!tile.ptr<i8>>) -> tensor<32xi8>
    %half = arith.shrsi %at, %bit : tensor<32xi32>
    %too = tile.addptr %qs, %half : tensor<32x!tile.ptr<i8>>, tensor<32xi32>
    %y = tile.load %too : (tensor<32x!tile.ptr<i8>>) -> tensor<32xi8>
    %z = arith.addi %x, %y : tensor<32xi8>
    %to = tile.addptr %ps, %at : tensor<32x!tile.ptr<i8>>, tensor<32xi32>
    tile.store %to, %z : (tensor<32x!tile.ptr<i8>>, tensor<32xi8>) -> ()
  }
  func.return
}

// -----

// A hint that the neighbours count up says nothing of every second one.
// CHECK-LABEL: @hinted
// CHECK: tile.hint %{{.*}} divisibility = [1] contiguity = [1] : tensor<16xi32>
// CHECK: tile.load {{.*}} -> tensor<16xf32>
func.func @hinted(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %hinted = tile.hint %i divisibility = [32] contiguity = [32] : tensor<32xi32>
  %two = arith.constant dense<2> : tensor<32xi32>
  %pair = arith.divsi %hinted, %two : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %from = tile.addptr %ps, %pair : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %x = tile.load %from : (tensor<32x!tile.ptr<f32>>) -> tensor<32xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %to = tile.addptr %qs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  tile.store %to, %x : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
  func.return
}
