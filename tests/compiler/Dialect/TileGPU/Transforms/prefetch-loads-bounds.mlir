// What a load has beyond its mask is chosen where it is used, if hardware bounds see to the mask: loads ahead ask for nothing else.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=hip:gfx942},canonicalize,cse,func.func(kiln-prefetch-loads))" %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-prefetch-loads))" %s | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func @largest
// CHECK: tile.load %{{.*}} mask %{{[0-9]+}} :
// CHECK: scf.for {{.*}} iter_args(%{{[a-z0-9]+}} = %{{.*}}, %[[NOW:[a-z0-9]+]] = %{{[0-9]+}})
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}} mask %{{[0-9]+}} :
// CHECK: %[[MASK:.*]] = arith.cmpi slt
// CHECK: %[[CHOSEN:.*]] = arith.select %[[MASK]], %[[NOW]], %{{.*}}
// CHECK: tile.reduce(%[[CHOSEN]])
// CHECK: scf.yield %{{.*}}, %[[NEXT]]

// OTHER-LABEL: func.func @largest
// OTHER-COUNT-2: tile.load %{{.*}} mask %{{[0-9]+}} other
// OTHER-NOT: arith.select
// OTHER: return
func.func @largest(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 128 : i32
  %none = arith.constant 0xFF800000 : f32
  %others = arith.constant dense<0xFF800000> : tensor<128xf32>
  %i = tile.arange 0, 128 : tensor<128xi32>
  %end = tile.splat %n : i32 -> tensor<128xi32>
  %pt = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %largest = scf.for %k = %c0 to %n step %step iter_args(%before = %none) -> (f32) : i32 {
    %ks = tile.splat %k : i32 -> tensor<128xi32>
    %at = arith.addi %ks, %i : tensor<128xi32>
    %mask = arith.cmpi slt, %at, %end : tensor<128xi32>
    %pi = tile.addptr %pt, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %x = tile.load %pi mask %mask other %others : (tensor<128x!tile.ptr<f32>>, tensor<128xi1>, tensor<128xf32>) -> tensor<128xf32>
    %m = tile.reduce(%x) axis 0 : (tensor<128xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %max = arith.maxnumf %l, %r : f32
      tile.yield %max : f32
    }
    %larger = arith.maxnumf %before, %m : f32
    scf.yield %larger : f32
  } {tile.num_stages = 2 : i32}
  tile.store %q, %largest : (!tile.ptr<f32>, f32) -> ()
  return
}
