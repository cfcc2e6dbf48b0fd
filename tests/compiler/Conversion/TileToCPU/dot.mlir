// The micro-kernel: its size does not depend on the tile's, and sums stay in one array across the loop.
// RUN: kiln-opt --tile-cpu-loops="vector-bits=256 vector-registers=16" %s | FileCheck %s
// RUN: kiln-opt --tile-cpu-loops="vector-bits=256 vector-registers=16 fma=false" %s | FileCheck %s --check-prefix=NOFMA
// NOFMA-NOT: math.fma
// RUN: kiln-opt --tile-cpu-plan="vector-bits=256 vector-registers=16" %s | FileCheck %s --check-prefix=PLAN

// The sums stay in the loop's buffer, from which the store reads them.
// PLAN-LABEL: loop plan of @matmul, vectors of 256 bits
// PLAN: = scf.for
// PLAN-NEXT: {{^}}  fill buffer [[SUMS:[0-9]+]] with
// PLAN: {{^}}  carried in [[SUMS]]
// PLAN: = tile.dot
// PLAN-NEXT: {{^}}    fill buffer [[ROWS:[0-9]+]] with %[[A:.*]]: nest [64, 32], axis 1 in vectors of 8
// PLAN: {{^}}    fill buffer [[PANELS:[0-9]+]] with %[[B:.*]] in panels: nest [32, 128], axis 1 in vectors of 8
// PLAN: {{^}}    tile of 4 x 16 in vectors of 8, rows in buffer [[ROWS]], panels in buffer [[PANELS]]
// PLAN-NEXT: {{^}}    results in [[SUMS]]
// PLAN-NEXT: {{^}}  scf.yield
// PLAN-NEXT: {{^}}tile.store
// PLAN: reads %{{.*}} from buffer [[SUMS]]

// One array for a (64 x 32), one for b in panels (32 x 128), one for the sums (64 x 128).
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: tile.cpu_arena_bytes = 57344
// The sums start as zeros; then the loop over K.
// CHECK: scf.for {{.*}} -> (i64, i64)
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-8: math.fma {{.*}} : vector<8xf32>
// CHECK-NOT: math.fma
func.func @matmul(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %K: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %rm = tile.arange 0, 64 : tensor<64xi32>
  %rn = tile.arange 0, 128 : tensor<128xi32>
  %rk = tile.arange 0, 32 : tensor<32xi32>
  %m1 = tile.expand_dims %rm, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %n1 = tile.expand_dims %rn, 0 : tensor<128xi32> -> tensor<1x128xi32>
  %kc = tile.expand_dims %rk, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %kr = tile.expand_dims %rk, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %Ks = tile.splat %K : i32 -> tensor<64x1xi32>
  %ar = arith.muli %m1, %Ks : tensor<64x1xi32>
  %arb = tile.broadcast %ar : tensor<64x1xi32> -> tensor<64x32xi32>
  %kcb = tile.broadcast %kc : tensor<1x32xi32> -> tensor<64x32xi32>
  %ao = arith.addi %arb, %kcb : tensor<64x32xi32>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %ap0 = tile.addptr %as, %ao : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  %c128 = arith.constant dense<128> : tensor<32x1xi32>
  %br = arith.muli %kr, %c128 : tensor<32x1xi32>
  %brb = tile.broadcast %br : tensor<32x1xi32> -> tensor<32x128xi32>
  %nb = tile.broadcast %n1 : tensor<1x128xi32> -> tensor<32x128xi32>
  %bo = arith.addi %brb, %nb : tensor<32x128xi32>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<32x128x!tile.ptr<f32>>
  %bp0 = tile.addptr %bs, %bo : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xi32>
  %acc0 = arith.constant dense<0.0> : tensor<64x128xf32>
  %sa = arith.constant dense<32> : tensor<64x32xi32>
  %sb = arith.constant dense<4096> : tensor<32x128xi32>
  %r:3 = scf.for %k = %zero to %K step %step iter_args(%acc = %acc0, %ap = %ap0, %bp = %bp0) -> (tensor<64x128xf32>, tensor<64x32x!tile.ptr<f32>>, tensor<32x128x!tile.ptr<f32>>) : i32 {
    %at = tile.load %ap : (tensor<64x32x!tile.ptr<f32>>) -> tensor<64x32xf32>
    %bt = tile.load %bp : (tensor<32x128x!tile.ptr<f32>>) -> tensor<32x128xf32>
    %d = tile.dot %at, %bt, %acc : (tensor<64x32xf32>, tensor<32x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %an = tile.addptr %ap, %sa : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
    %bn = tile.addptr %bp, %sb : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xi32>
    scf.yield %d, %an, %bn : tensor<64x128xf32>, tensor<64x32x!tile.ptr<f32>>, tensor<32x128x!tile.ptr<f32>>
  }
  %mo = tile.broadcast %m1 : tensor<64x1xi32> -> tensor<64x128xi32>
  %cs128 = arith.constant dense<128> : tensor<64x128xi32>
  %cr = arith.muli %mo, %cs128 : tensor<64x128xi32>
  %nb2 = tile.broadcast %n1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %co = arith.addi %cr, %nb2 : tensor<64x128xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  %cp = tile.addptr %cs, %co : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xi32>
  tile.store %cp, %r#0 : (tensor<64x128x!tile.ptr<f32>>, tensor<64x128xf32>) -> ()
  func.return
}
