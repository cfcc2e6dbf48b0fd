// A sum that a loop begins anew: the product starts from zero by a flag that the loop carries, where the unit can.
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_90a},canonicalize,cse,func.func(kiln-stage-operands,kiln-reset-sums))" %s | FileCheck %s --check-prefix=SM90
// RUN: kiln-opt --pass-pipeline="builtin.module(kiln-tile-to-tilegpu{target=cuda:sm_80},canonicalize,cse,func.func(kiln-stage-operands,kiln-reset-sums))" %s | FileCheck %s --check-prefix=SM80

// SM90: %[[NO:.*]] = arith.constant false
// SM90: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[BEGINS:.*]] = %[[NO]])
// SM90: %[[START:.*]] = arith.select %[[BEGINS]], %{{.*}}, %[[SUM]]
// SM90: %[[NEXT:.*]] = tilegpu.dot %{{.*}}, %{{.*}}, %[[START]]
// SM90: %[[LAST:.*]] = arith.cmpi eq
// SM90-NOT: arith.select
// SM90: scf.yield %[[NEXT]], %[[LAST]]
// SM90: arith.select %[[LOOP]]#1, %{{.*}}, %[[LOOP]]#0
// SM80: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{[^,]*}})
// SM80: tilegpu.dot %{{.*}}, %{{.*}}, %[[SUM]]
// SM80: %[[CHOSEN:.*]] = arith.select
// SM80: scf.yield %[[CHOSEN]]
func.func @tiles(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 3 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %seven = arith.constant 7 : i32
  %size = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %line = arith.constant dense<64> : tensor<64x1xi32>
  %r = tile.arange 0, 64 : tensor<64xi32>
  %r1 = tile.expand_dims %r, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %line : tensor<64x1xi32>
  %r3 = tile.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c1 = tile.expand_dims %r, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tile.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %r3, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %place = arith.muli %i, %size : i32
    %pa0 = tile.addptr %a, %place : !tile.ptr<f16>, i32
    %pa1 = tile.splat %pa0 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %pa = tile.addptr %pa1, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %pa : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %d = tile.dot %x, %x, %s : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %within = arith.andi %i, %seven : i32
    %last = arith.cmpi eq, %within, %seven : i32
    %next = arith.select %last, %none, %d : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %o1 = tile.splat %o : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %po = tile.addptr %o1, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %po, %sum : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
