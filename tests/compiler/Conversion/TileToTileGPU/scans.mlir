// Scans have elements side by side in threads, where that is as good for memory: one of each thread's goes from lane to
// lane, and fewer between warps.
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx1100 --canonicalize --cse %s | FileCheck %s
// RUN: kiln-opt --kiln-tile-to-tilegpu=target=hip:gfx942 --canonicalize --cse %s | FileCheck %s

// Numbers of blocks, stored to a row that begins at any element: by single elements, whoever has them.
// CHECK: #[[L:.*]] = #tilegpu.layout<"register: 1{{.*}}; lane: {{.*}}; warp: {{.*}}; block: -> 512">
// CHECK-LABEL: func.func @offsets
// CHECK: tile.scan{{.*}} axis 0 : (tensor<512xi32, #[[L]]>)
func.func @offsets(%sizes: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %out: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32})
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %none = arith.constant dense<0> : tensor<512xi32>
  %row = tile.program_id 0 : i32
  %r = tile.arange 0, 512 : tensor<512xi32>
  %ps = tile.splat %sizes : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>>
  %o0 = tile.addptr %out, %row : !tile.ptr<i32>, i32
  %os = tile.splat %o0 : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>>
  %total = scf.for %first = %zero to %n step %step iter_args(%before = %none) -> (tensor<512xi32>) : i32 {
    %at = tile.splat %first : i32 -> tensor<512xi32>
    %i = arith.addi %at, %r : tensor<512xi32>
    %pi = tile.addptr %ps, %i : tensor<512x!tile.ptr<i32>>, tensor<512xi32>
    %x = tile.load %pi : (tensor<512x!tile.ptr<i32>>) -> tensor<512xi32>
    %y = tile.scan (%x) axis 0 : (tensor<512xi32>) -> tensor<512xi32> {
    ^bb0(%l: i32, %m: i32):
      %s = arith.addi %l, %m : i32
      tile.yield %s : i32
    }
    %sum = tile.reduce (%x) axis 0 : (tensor<512xi32>) -> i32 {
    ^bb0(%l: i32, %m: i32):
      %s = arith.addi %l, %m : i32
      tile.yield %s : i32
    }
    %starts = arith.addi %y, %before : tensor<512xi32>
    %oi = tile.addptr %os, %i : tensor<512x!tile.ptr<i32>>, tensor<512xi32>
    tile.store %oi, %starts : (tensor<512x!tile.ptr<i32>>, tensor<512xi32>) -> ()
    %sums = tile.splat %sum : i32 -> tensor<512xi32>
    %next = arith.addi %before, %sums : tensor<512xi32>
    scf.yield %next : tensor<512xi32>
  }
  return
}
