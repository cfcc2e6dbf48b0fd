// What becomes an array, and what is computed on the way.
// RUN: kiln-opt --tile-cpu-loops=vector-bits=512 --split-input-file %s | FileCheck %s

// An elementwise chain in place is one loop without any array; masked lanes are not touched.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: tile.cpu_arena_bytes = 0
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<16xi32>
// CHECK: llvm.intr.masked.load %{{.*}}, %[[MASK]],
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[MASK]]
func.func @chain(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %p mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %w = arith.addf %v, %v : tensor<1024xf32>
  %y = arith.mulf %w, %v : tensor<1024xf32>
  tile.store %p, %y mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  func.return
}

// -----

// The exponential is used twice: computed once, while the first user, the sum, runs.
// CHECK-LABEL: func.func @exponentials
// CHECK-SAME: tile.cpu_arena_bytes = 4096
// CHECK: scf.for {{.*}} iter_args
// CHECK: llvm.intr.masked.load
// CHECK: llvm.store {{.*}} : vector<32xf32>
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: arith.divf
// CHECK: llvm.intr.masked.store
func.func @exponentials(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %p mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %e = math.exp %v : tensor<1024xf32>
  %s = tile.reduce (%e) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  %ss = tile.splat %s : f32 -> tensor<1024xf32>
  %q = arith.divf %e, %ss : tensor<1024xf32>
  tile.store %p, %q mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  func.return
}

// -----

// Strided and indirect loads are gathers; a row's mask that is the same in all lanes is a branch.
// CHECK-LABEL: func.func @accesses
// CHECK: llvm.intr.masked.gather
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> vector<16xf32>
func.func @accesses(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 16 : tensor<16xi32>
  %three = arith.constant dense<3> : tensor<16xi32>
  %o = arith.muli %i, %three : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %p = tile.addptr %xs, %o : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %v = tile.load %p : (tensor<16x!tile.ptr<f32>>) -> tensor<16xf32>
  %zero = arith.constant 0 : i32
  %some = arith.cmpi sgt, %n, %zero : i32
  %m = tile.splat %some : i1 -> tensor<16xi1>
  %q = tile.addptr %xs, %i : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %w = tile.load %q mask %m : (tensor<16x!tile.ptr<f32>>, tensor<16xi1>) -> tensor<16xf32>
  %s = arith.addf %v, %w : tensor<16xf32>
  %t = tile.reduce (%s) axis 0 : (tensor<16xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %u = arith.addf %l, %r : f32
    tile.yield %u : f32
  }
  tile.store %y, %t : (!tile.ptr<f32>, f32) -> ()
  func.return
}
