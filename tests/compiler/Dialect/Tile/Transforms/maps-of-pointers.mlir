// Loads through pointers of blocks of arrays become loads of described blocks, whose tensor maps the launcher makes.
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-use-tensor-maps{of-pointers=true}, canonicalize, cse))' %s | FileCheck %s
// RUN: kiln-opt --pass-pipeline='builtin.module(func.func(kiln-use-tensor-maps))' %s | FileCheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: tile.tensor_map

// Rows are kept inside by a remainder, and never stored beyond %m; columns of A and rows of B are masked. B lies along k.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[M:[a-z0-9]+]]: i32, %[[K:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tile.descriptor<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = 0, extentArguments = [3, 4], extents = [1, 1], strideArguments = [5], strideFactors = [-1], strides = [1]>}
// CHECK-SAME: %[[B:[a-z0-9]+]]: !tile.descriptor<64x64xf16> {tile.tensor_map = #tile.tensor_map<base = 1, extentArguments = [-1, 4], extents = [2147483647, 1], strideArguments = [-1], strideFactors = [-1], strides = [128]>}
// CHECK-SAME: tile.maps_of_pointers
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c64_i32
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-DAG: %[[AT:.*]] = arith.muli %[[I]], %c64_i32
// CHECK-DAG: %[[ROW:.*]] = arith.extsi %[[FIRST]] : i32 to i64
// CHECK-DAG: %[[COLUMN:.*]] = arith.extsi %[[AT]] : i32 to i64
// CHECK: tile.descriptor_load %[[A]][%[[ROW]], %[[COLUMN]]]
// CHECK: %[[Y:.*]] = tile.descriptor_load %[[B]][%c0_i64, %[[COLUMN]]]
// CHECK: tile.trans %[[Y]], [1, 0]
// CHECK: tile.dot
func.func @product(%pa: !tile.ptr<f16>, %pb: !tile.ptr<f16>, %pc: !tile.ptr<f32>, %m: i32, %k: i32, %stride: i32) attributes {tile.num_stages = 3 : i32, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %step = arith.constant dense<64> : tensor<64x64xi32>
  %c128 = arith.constant dense<128> : tensor<1x64xi32>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %pid = tile.program_id 0 : i32
  %first = arith.muli %pid, %c64 : i32
  %range = tile.arange 0, 64 : tensor<64xi32>
  %firsts = tile.splat %first : i32 -> tensor<64xi32>
  %i = arith.addi %firsts, %range : tensor<64xi32>
  %ms = tile.splat %m : i32 -> tensor<64xi32>
  %inside = arith.remsi %i, %ms : tensor<64xi32>
  %rows = tile.expand_dims %inside, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<64x1xi32>
  %rowOffsets = arith.muli %rows, %strides : tensor<64x1xi32>
  %l = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %lb = tile.broadcast %l : tensor<1x64xi32> -> tensor<64x64xi32>
  %ra = tile.broadcast %rowOffsets : tensor<64x1xi32> -> tensor<64x64xi32>
  %oa = arith.addi %ra, %lb : tensor<64x64xi32>
  %sa = tile.splat %pa : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %a = tile.addptr %sa, %oa : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  // B: element (l, j) at j * 128 + l.
  %down = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %downs = tile.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = arith.muli %l, %c128 : tensor<1x64xi32>
  %across = tile.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %ob = arith.addi %downs, %across : tensor<64x64xi32>
  %sb = tile.splat %pb : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %b = tile.addptr %sb, %ob : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %n = arith.divsi %k, %c64 : i32
  %sum:3 = scf.for %it = %c0 to %n step %c1 iter_args(%ai = %a, %bi = %b, %acc = %zero) -> (tensor<64x64x!tile.ptr<f16>>, tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf32>) : i32 {
    %done = arith.muli %it, %c64 : i32
    %left = arith.subi %k, %done : i32
    %leftA = tile.splat %left : i32 -> tensor<1x64xi32>
    %isA = arith.cmpi slt, %l, %leftA : tensor<1x64xi32>
    %maskA = tile.broadcast %isA : tensor<1x64xi1> -> tensor<64x64xi1>
    %leftB = tile.splat %left : i32 -> tensor<64x1xi32>
    %isB = arith.cmpi sgt, %leftB, %down : tensor<64x1xi32>
    %maskB = tile.broadcast %isB : tensor<64x1xi1> -> tensor<64x64xi1>
    %x = tile.load %ai mask %maskA other %none : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %y = tile.load %bi mask %maskB other %none : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %next = tile.dot %x, %y, %acc : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %an = tile.addptr %ai, %step : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %bn = tile.addptr %bi, %step : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    scf.yield %an, %bn, %next : tensor<64x64x!tile.ptr<f16>>, tensor<64x64x!tile.ptr<f16>>, tensor<64x64xf32>
  }
  %sc = tile.splat %pc : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %c = tile.addptr %sc, %lb : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %ie = tile.expand_dims %i, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %me = tile.splat %m : i32 -> tensor<64x1xi32>
  %isRow = arith.cmpi slt, %ie, %me : tensor<64x1xi32>
  %isStored = tile.broadcast %isRow : tensor<64x1xi1> -> tensor<64x64xi1>
  tile.store %c, %sum#2 mask %isStored : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>, tensor<64x64xi1>) -> ()
  return
}

// Of A whose rows are stored beyond %m, too, no zeros may come; B's rows are too short to be worth it; other than zeros beyond the end.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: tile.descriptor_load
// CHECK: return
func.func @others(%pa: !tile.ptr<f16>, %pb: !tile.ptr<f16>, %pc: !tile.ptr<f32>, %m: i32, %stride: i32) attributes {tile.num_stages = 3 : i32, tile.num_warps = 4 : i32} {
  %one = arith.constant dense<1.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x32xf32>
  %range = tile.arange 0, 64 : tensor<64xi32>
  %ms = tile.splat %m : i32 -> tensor<64xi32>
  %inside = arith.remsi %range, %ms : tensor<64xi32>
  %rows = tile.expand_dims %inside, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<64x1xi32>
  %rowOffsets = arith.muli %rows, %strides : tensor<64x1xi32>
  %l = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %lb = tile.broadcast %l : tensor<1x64xi32> -> tensor<64x64xi32>
  %ra = tile.broadcast %rowOffsets : tensor<64x1xi32> -> tensor<64x64xi32>
  %oa = arith.addi %ra, %lb : tensor<64x64xi32>
  %sa = tile.splat %pa : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %a = tile.addptr %sa, %oa : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %down = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %downOffsets = arith.muli %down, %strides : tensor<64x1xi32>
  %rd = tile.broadcast %downOffsets : tensor<64x1xi32> -> tensor<64x64xi32>
  %od = arith.addi %rd, %lb : tensor<64x64xi32>
  %sb = tile.splat %pb : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %b = tile.addptr %sb, %od : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %a : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %mb = tile.splat %m : i32 -> tensor<64x64xi32>
  %isB = arith.cmpi slt, %lb, %mb : tensor<64x64xi32>
  %y = tile.load %b mask %isB other %one : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %p = tile.dot %x, %y, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %short = tile.arange 0, 32 : tensor<32xi32>
  %ls = tile.expand_dims %short, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %lsb = tile.broadcast %ls : tensor<1x32xi32> -> tensor<64x32xi32>
  %rs = tile.broadcast %downOffsets : tensor<64x1xi32> -> tensor<64x32xi32>
  %os = arith.addi %rs, %lsb : tensor<64x32xi32>
  %ss = tile.splat %pb : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %s = tile.addptr %ss, %os : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %z = tile.load %s : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
  %q = tile.dot %x, %z, %zeros : (tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %sc = tile.splat %pc : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %c = tile.addptr %sc, %lb : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %c, %p : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  %scs = tile.splat %pc : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %cs = tile.addptr %scs, %lsb : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  tile.store %cs, %q : (tensor<64x32x!tile.ptr<f32>>, tensor<64x32xf32>) -> ()
  return
}

// What has to come from memory at its time, and zeros of the other sign.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: tile.descriptor_load
// CHECK: return
func.func @kept(%pa: !tile.ptr<f16>, %pb: !tile.ptr<f16>, %pc: !tile.ptr<f32>, %m: i32, %stride: i32) attributes {tile.num_stages = 3 : i32, tile.num_warps = 4 : i32} {
  %minus = arith.constant dense<-0.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tile.arange 0, 64 : tensor<64xi32>
  %down = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<64x1xi32>
  %rows = arith.muli %down, %strides : tensor<64x1xi32>
  %across = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %l = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %lb = tile.broadcast %l : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %across, %lb : tensor<64x64xi32>
  %sa = tile.splat %pa : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %a = tile.addptr %sa, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %sb = tile.splat %pb : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %b = tile.addptr %sb, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %ms = tile.splat %m : i32 -> tensor<64x64xi32>
  %mask = arith.cmpi slt, %lb, %ms : tensor<64x64xi32>
  %x = tile.load %a {cache = #tile.cache<cv>} : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %y = tile.load %b mask %mask other %minus : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %p = tile.dot %x, %y, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %sc = tile.splat %pc : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %c = tile.addptr %sc, %lb : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %c, %p : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// Offsets that all elements share are axes of one element: a batch and a head, whose strides are arguments; the product of two
// arguments and a constant; what an argument alone says, and a constant stride. Rows are as before.
// CHECK-LABEL: func.func @batches(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tile.descriptor<1x1x64x64xf16> {tile.tensor_map = #tile.tensor_map<base = 0, extentArguments = [-1, -1, 3, -1], extents = [2147483647, 2147483647, 1, 2147483647], strideArguments = [5, 6, 4], strideFactors = [-1, -1, -1], strides = [1, 1, 1]>}
// CHECK-SAME: %[[B:[a-z0-9]+]]: !tile.descriptor<1x1x1x64x64xf16> {tile.tensor_map = #tile.tensor_map<base = 1, extentArguments = [-1, -1, -1, -1, 3], extents = [2147483647, 2147483647, 2147483647, 2147483647, 1], strideArguments = [-1, 3, 5, 4], strideFactors = [-1, 4, -1, -1], strides = [16384, 64, 1, 1]>}
// CHECK-DAG: %[[QUOTIENT:.*]] = arith.divsi
// CHECK-DAG: %[[REST:.*]] = arith.remsi
// CHECK-DAG: %[[Z:.*]] = arith.trunci %[[QUOTIENT]] : i64 to i32
// CHECK-DAG: %[[H:.*]] = arith.trunci %[[REST]] : i64 to i32
// CHECK-DAG: %[[BATCH:.*]] = arith.extsi %[[Z]] : i32 to i64
// CHECK-DAG: %[[HEAD:.*]] = arith.extsi %[[H]] : i32 to i64
// CHECK: %[[X:.*]] = tile.descriptor_load %[[A]][%[[BATCH]], %[[HEAD]], %c0_i64, %c0_i64] : !tile.descriptor<1x1x64x64xf16> -> tensor<64x64xf16>
// CHECK: %[[Y:.*]] = tile.descriptor_load %[[B]][%[[HEAD]], %[[BATCH]], %c1_i64, %c0_i64, %c0_i64] : !tile.descriptor<1x1x1x64x64xf16> -> tensor<64x64xf16>
// CHECK: tile.dot %[[X]], %[[Y]]
func.func @batches(%pa: !tile.ptr<f16>, %pb: !tile.ptr<f16>, %pc: !tile.ptr<f32>, %m: i32, %stride: i32, %sz: i64, %sh: i64, %heads: i32) attributes {tile.num_stages = 3 : i32, tile.num_warps = 4 : i32} {
  %zeros = arith.constant dense<0.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c64 = arith.constant 64 : i64
  %c16384 = arith.constant 16384 : i64
  %pid = tile.program_id 0 : i32
  %instance = arith.extsi %pid : i32 to i64
  %of = arith.extsi %heads : i32 to i64
  %z = arith.divsi %instance, %of : i64
  %h = arith.remsi %instance, %of : i64
  %range = tile.arange 0, 64 : tensor<64xi32>
  %down = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<64x1xi32>
  %rows = arith.muli %down, %strides : tensor<64x1xi32>
  %rowsOfAll = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %l = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %lb = tile.broadcast %l : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rowsOfAll, %lb : tensor<64x64xi32>
  // A: z * sz + h * sh.
  %oz = arith.muli %z, %sz : i64
  %oh = arith.muli %h, %sh : i64
  %az = tile.addptr %pa, %oz : !tile.ptr<f16>, i64
  %ah = tile.addptr %az, %oh : !tile.ptr<f16>, i64
  %sa = tile.splat %ah : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %a = tile.addptr %sa, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  // B: z * m * stride * 64 + h * 16384 + sz.
  %mw = arith.extsi %m : i32 to i64
  %sw = arith.extsi %stride : i32 to i64
  %area = arith.muli %mw, %sw : i64
  %volume = arith.muli %area, %c64 : i64
  %bz = arith.muli %z, %volume : i64
  %bh = arith.muli %h, %c16384 : i64
  %b0 = tile.addptr %pb, %bz : !tile.ptr<f16>, i64
  %b1 = tile.addptr %b0, %bh : !tile.ptr<f16>, i64
  %b2 = tile.addptr %b1, %sz : !tile.ptr<f16>, i64
  %sb = tile.splat %b2 : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %b = tile.addptr %sb, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %ms = tile.splat %m : i32 -> tensor<64x1xi32>
  %isRow = arith.cmpi slt, %down, %ms : tensor<64x1xi32>
  %maskA = tile.broadcast %isRow : tensor<64x1xi1> -> tensor<64x64xi1>
  %mc = tile.splat %m : i32 -> tensor<1x64xi32>
  %isColumn = arith.cmpi slt, %l, %mc : tensor<1x64xi32>
  %maskB = tile.broadcast %isColumn : tensor<1x64xi1> -> tensor<64x64xi1>
  %x = tile.load %a mask %maskA other %zeros : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %y = tile.load %b mask %maskB other %zeros : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi1>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %p = tile.dot %x, %y, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %sc = tile.splat %pc : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %c = tile.addptr %sc, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %c, %p : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}

// What is loaded may be negative, or a number of more than 32 bits.
// CHECK-LABEL: func.func @unknown(
// CHECK-NOT: tile.descriptor_load
// CHECK: return
func.func @unknown(%pa: !tile.ptr<f16>, %pb: !tile.ptr<f16>, %pc: !tile.ptr<f32>, %table: !tile.ptr<i32>, %wide: !tile.ptr<i64>, %stride: i32) attributes {tile.num_stages = 3 : i32, tile.num_warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant 0 : i64
  %i = tile.load %table : (!tile.ptr<i32>) -> i32
  %j = tile.load %wide : (!tile.ptr<i64>) -> i64
  %isThere = arith.cmpi sge, %j, %none : i64
  tile.assume %isThere : i1
  %range = tile.arange 0, 64 : tensor<64xi32>
  %down = tile.expand_dims %range, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<64x1xi32>
  %rows = arith.muli %down, %strides : tensor<64x1xi32>
  %rowsOfAll = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %l = tile.expand_dims %range, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %lb = tile.broadcast %l : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rowsOfAll, %lb : tensor<64x64xi32>
  %oa = arith.muli %i, %stride : i32
  %wideStride = arith.extsi %stride : i32 to i64
  %ob = arith.muli %j, %wideStride : i64
  %da = tile.addptr %pa, %oa : !tile.ptr<f16>, i32
  %db = tile.addptr %pb, %ob : !tile.ptr<f16>, i64
  %sa = tile.splat %da : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %a = tile.addptr %sa, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %sb = tile.splat %db : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %b = tile.addptr %sb, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %a : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %y = tile.load %b : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
  %p = tile.dot %x, %y, %zero : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %sc = tile.splat %pc : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %c = tile.addptr %sc, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %c, %p : (tensor<64x64x!tile.ptr<f32>>, tensor<64x64xf32>) -> ()
  return
}
