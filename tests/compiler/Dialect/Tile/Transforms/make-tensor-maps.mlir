// Descriptors that only the running kernel knows get tensor maps that it makes.
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-make-tensor-maps))' %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-make-tensor-maps{of-arrays=true}))' %s | FileCheck %s --check-prefix=ARRAYS
// What stays are pointers.
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-make-tensor-maps, kiln-expand-descriptors))' %s | FileCheck %s --check-prefix=EXPANDED

// Pointers that are loaded: both loads of A have one map. That of C, not for the single store behind the loop, is for what is written; whether rows end with a piece of 16
// bytes, and where the block begins, is looked at where it is stored.
// CHECK-LABEL: func.func @loaded(
// CHECK: %[[A:.*]] = tile.make_tensor_map %{{.*}}, [%[[M:.*]], %{{.*}}], [%{{.*}}] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
// CHECK: %[[C:.*]] = tile.make_tensor_map written %{{.*}} : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
// CHECK: scf.for
// CHECK-COUNT-2: tile.descriptor_load %[[A]]
// CHECK: %[[REST:.*]] = arith.andi %[[M]], %{{.*}} : i64
// CHECK: %[[ENDS:.*]] = arith.cmpi eq, %[[REST]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi sge, %{{.*}}
// CHECK: %[[BOTH:.*]] = arith.andi %[[ENDS]], %[[INSIDE]] : i1
// CHECK: scf.if %[[BOTH]] {
// CHECK-NEXT: tile.descriptor_store %[[C]]
// CHECK-NEXT: } else {
// CHECK-NEXT: tile.descriptor_store %[[POINTERS:[0-9]+]][
// CHECK: tile.descriptor_store %[[POINTERS]][
// EXPANDED-LABEL: func.func @loaded(
// EXPANDED: tile.make_tensor_map
// EXPANDED: tile.descriptor_load
// EXPANDED: scf.if
// EXPANDED: tile.descriptor_store
// EXPANDED: } else {
// EXPANDED-NOT: descriptor
// EXPANDED: tile.store
func.func @loaded(%pa: !tile.ptr<!tile.ptr<f16>>, %pc: !tile.ptr<!tile.ptr<f32>>, %pm: !tile.ptr<i32>, %stride: i64, %at: i32) {
  %zero = arith.constant 0 : i64
  %from = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %pa : (!tile.ptr<!tile.ptr<f16>>) -> !tile.ptr<f16>
  %c = tile.load %pc : (!tile.ptr<!tile.ptr<f32>>) -> !tile.ptr<f32>
  %count = tile.load %pm : (!tile.ptr<i32>) -> i32
  %m = arith.extsi %count : i32 to i64
  %row = arith.extsi %at : i32 to i64
  %da = tile.make_descriptor %a, [%m, %m], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %dc = tile.make_descriptor %c, [%m, %m], [%stride] : !tile.ptr<f32> -> !tile.descriptor<64x64xf32>
  scf.for %k = %from to %count step %step : i32 {
    %column = arith.extsi %k : i32 to i64
    %x = tile.descriptor_load %da[%row, %column] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
    %y = tile.descriptor_load %da[%zero, %column] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
    %t = tile.trans %y, [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
    %p = tile.dot %x, %t, %none : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    tile.descriptor_store %dc[%row, %column], %p : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  }
  tile.descriptor_store %dc[%zero, %zero], %none : !tile.descriptor<64x64xf32>, tensor<64x64xf32>
  return
}

// The launcher's are not the kernel's; nor is one that the loop makes anew for each block, or of an extent of 64 bits.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: make_tensor_map
// ARRAYS-LABEL: func.func @others(
// ARRAYS-NOT: make_tensor_map
// EXPANDED-LABEL: func.func @others(
// EXPANDED-NOT: descriptor
func.func @others(%a: !tile.ptr<f16>, %pa: !tile.ptr<!tile.ptr<f16>>, %m: i32, %long: i64, %stride: i64) -> tensor<64x64xf32> {
  %from = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %loaded = tile.load %pa : (!tile.ptr<!tile.ptr<f16>>) -> !tile.ptr<f16>
  %rows = arith.extsi %m : i32 to i64
  %d = tile.make_descriptor %a, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %e = tile.make_descriptor %loaded, [%long, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<32x64xf16>
  %sum = scf.for %k = %from to %m step %step iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %column = arith.extsi %k : i32 to i64
    %moved = tile.addptr %loaded, %k : !tile.ptr<f16>, i32
    %f = tile.make_descriptor %moved, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
    %x = tile.descriptor_load %d[%zero, %column] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
    %y = tile.descriptor_load %e[%column, %zero] : !tile.descriptor<32x64xf16> -> tensor<32x64xf16>
    %z = tile.descriptor_load %f[%zero, %zero] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
    %p = tile.dot %x, %y, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %q = tile.dot %z, %y, %p : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %q : tensor<64x64xf32>
  }
  return %sum : tensor<64x64xf32>
}

// A place in an array: through pointers first, of which the launcher may have a map.
// CHECK-LABEL: func.func @arrays(
// CHECK-NOT: make_tensor_map
// ARRAYS-LABEL: func.func @arrays(
// ARRAYS: %[[MAP:.*]] = tile.make_tensor_map
// ARRAYS: tile.descriptor_load %[[MAP]]
func.func @arrays(%a: !tile.ptr<f16>, %m: i32, %batch: i64, %stride: i64) -> tensor<64x64xf32> {
  %from = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<32x64xf16>
  %rows = arith.extsi %m : i32 to i64
  %pid = tile.program_id 0 : i32
  %wide = arith.extsi %pid : i32 to i64
  %offset = arith.muli %wide, %batch : i64
  %moved = tile.addptr %a, %offset : !tile.ptr<f16>, i64
  %d = tile.make_descriptor %moved, [%rows, %rows], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>
  %sum = scf.for %k = %from to %m step %step iter_args(%s = %none) -> (tensor<64x64xf32>) : i32 {
    %column = arith.extsi %k : i32 to i64
    %x = tile.descriptor_load %d[%zero, %column] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>
    %p = tile.dot %x, %one, %s : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  return %sum : tensor<64x64xf32>
}
