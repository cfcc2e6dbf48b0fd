// A loop that runs a known number of times is one block that branches back to itself.
// RUN: kiln-opt --tile-to-cpu=vector-bits=512 %s | FileCheck %s

// CHECK-LABEL: llvm.func @chain
// CHECK: llvm.br ^[[BODY:bb[0-9]+]](%{{.*}} : i64)
// CHECK: ^[[BODY]](%[[AT:.*]]: i64):
// CHECK-NOT: llvm.br
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: %[[NEXT:.*]] = llvm.add %[[AT]], %{{.*}} overflow<nsw, nuw> : i64
// CHECK: %[[END:.*]] = llvm.mlir.constant(1024 : i64)
// CHECK: %[[MORE:.*]] = llvm.icmp "ne" %[[NEXT]], %[[END]]
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY]](%[[NEXT]] : i64), ^[[AFTER:bb[0-9]+]]
// CHECK: ^[[AFTER]]:
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.return
func.func @chain(%x: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %p : (tensor<1024x!tile.ptr<f32>>) -> tensor<1024xf32>
  %y = arith.mulf %v, %v : tensor<1024xf32>
  tile.store %p, %y : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>) -> ()
  func.return
}
