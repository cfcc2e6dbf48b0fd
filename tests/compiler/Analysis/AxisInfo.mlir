// Facts that decide vector widths.
// RUN: kiln-opt --kiln-print-axis-info --split-input-file --verify-diagnostics %s

// pid * 128 + arange, compared with a size that is a multiple of 16, and the address.
func.func @vector_add(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  // expected-remark @+1 {{constant = 128}}
  %block = arith.constant 128 : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], non-negative}}
  %pid = tile.program_id 0 : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [128], constancy = [1], non-negative}}
  %start = arith.muli %pid, %block : i32
  // expected-remark @+1 {{contiguity = [128], divisibility = [1099511627776], constancy = [1], non-negative}}
  %range = tile.arange 0, 128 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [128], constancy = [128], non-negative}}
  %starts = tile.splat %start : i32 -> tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [128], constancy = [1], non-negative}}
  %offsets = arith.addi %starts, %range : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [128]}}
  %limit = tile.splat %n : i32 -> tensor<128xi32>
  // expected-remark @+1 {{constancy = [16]}}
  %mask = arith.cmpi slt, %offsets, %limit : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [128]}}
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  // expected-remark @+1 {{contiguity = [128], divisibility = [16], constancy = [1]}}
  %address = tile.addptr %base, %offsets : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  return
}

// -----
// A wrapped offset keeps groups of the size's divisor; an index from a division is equal in groups.
func.func @wrapped(%m: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{divisibility = [16], constancy = [64]}}
  %ms = tile.splat %m : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1], non-negative}}
  %wrapped = arith.remsi %range, %ms : tensor<64xi32>
  // expected-remark @+1 {{constant = 8}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [8], non-negative}}
  %row = arith.divsi %range, %eight : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [8], divisibility = [8], constancy = [1], non-negative}}
  %column = arith.remsi %range, %eight : tensor<64xi32>
  return
}

// -----
// An index that may be negative rounds towards zero: its neighbours below zero do not group.
func.func @maybe_negative(%start: i32 {tile.divisibility = 64 : i32}) attributes {tile.kernel} {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [64], constancy = [1]}}
  %index = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark @+1 {{constant = 8}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @+1 {{constancy = [1]}}
  %row = arith.divsi %index, %eight : tensor<64xi32>
  return
}

// -----
// An assumption in the outermost block gives what the argument does not say.
func.func @assumed(%stride: i32) attributes {tile.kernel} {
  // expected-remark @+1 {{constant = 8}}
  %eight = arith.constant 8 : i32
  // expected-remark @+1 {{constant = 0}}
  %zero = arith.constant 0 : i32
  // expected-remark @+1 {{contiguity}}
  %rest = arith.remsi %stride, %eight : i32
  // expected-remark @+1 {{contiguity}}
  %divides = arith.cmpi eq, %rest, %zero : i32
  tile.assume %divides : i1
  // expected-remark @+1 {{divisibility = [64]}}
  %scaled = arith.muli %stride, %eight : i32
  return
}

// -----
// An assumption in a loop holds for what its block computes, and not for what comes from outside. What
// is missing to the next multiple is not negative, where what it is missing to is not.
func.func @assumed_in_a_loop(%n: i32, %m: i32) attributes {tile.kernel} {
  // expected-remark @+1 {{constant = 0}}
  %zero = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 1}}
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], non-negative}}
    %tile = arith.subi %n, %i : i32
    // expected-remark @+1 {{contiguity}}
    %begins = arith.cmpi sge, %tile, %zero : i32
    tile.assume %begins : i1
    // expected-remark @+1 {{contiguity}}
    %other = arith.cmpi sge, %m, %zero : i32
    tile.assume %other : i1
    // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
    %outside = arith.addi %m, %one : i32
    // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], non-negative}}
    %rest = arith.remsi %tile, %m : i32
    // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], non-negative}}
    %left = arith.subi %m, %rest : i32
    // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
    %unknown = arith.remsi %outside, %m : i32
    // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
    %apart = arith.subi %m, %unknown : i32
  }
  return
}

// -----
// A pointer that a loop moves by a multiple of 64 elements keeps its argument's alignment.
func.func @moved_pointer(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  // expected-remark @+1 {{constant = 0}}
  %zero = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 64}}
  %step = arith.constant 64 : i32
  // expected-remark @+1 {{divisibility = [16]}}
  %last = scf.for %i = %zero to %n step %step iter_args(%q = %p) -> (!tile.ptr<f16>) : i32 {
    // expected-remark @+1 {{contiguity = [1], divisibility = [64], constancy = [1], non-negative}}
    %k = arith.addi %i, %zero : i32
    // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1]}}
    %r = tile.addptr %q, %step : !tile.ptr<f16>, i32
    scf.yield %r : !tile.ptr<f16>
  }
  return
}

// -----
// A narrower number has another sign: 2^31 is not negative, its low 32 bits are. Neighbours below zero
// do not group in a division.
func.func @truncated(%start: i64 {tile.divisibility = 64 : i32}) attributes {tile.kernel} {
  // expected-remark @+1 {{constant = 0}}
  %zero = arith.constant 0 : i64
  // expected-remark @+1 {{non-negative}}
  %wide = arith.maxsi %start, %zero : i64
  // expected-remark-re @+1 {{contiguity = [1], divisibility = [64], constancy = [1]{{$}}}}
  %narrow = arith.trunci %wide : i64 to i32
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %starts = tile.splat %narrow : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [64], constancy = [1]}}
  %index = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark @+1 {{constant = 8}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @+1 {{constancy = [1]}}
  %row = arith.divsi %index, %eight : tensor<64xi32>
  // expected-remark @+1 {{non-negative}}
  %wider = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  return
}

// -----
// What an index is divided by at run time is taken as positive (AxisInfo.h): products find their tile by
// `pid % a // b`. A constant that is not is not.
func.func @unknown_divisor(%n: i32, %x: i32) attributes {tile.kernel} {
  // expected-remark @+1 {{non-negative}}
  %pid = tile.program_id 0 : i32
  // expected-remark @+1 {{non-negative}}
  %quotient = arith.divsi %pid, %n : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %unknown = arith.divsi %x, %n : i32
  // expected-remark @+1 {{constant = -2}}
  %minus = arith.constant -2 : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %negative = arith.divsi %pid, %minus : i32
  return
}

// -----
// Below a limit that is no multiple of anything the first neighbours come first; a second limit, another axis and a
// bound on a row change nothing about that. Above a limit they come last.
func.func @prefix(%n: i32, %m: i32) attributes {tile.kernel} {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %ms = tile.splat %m : i32 -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [1], prefix = [64]}}
  %below = arith.cmpi slt, %range, %ns : tensor<64xi32>
  // expected-remark @+1 {{constancy = [1], prefix = [64]}}
  %above = arith.cmpi sge, %ms, %range : tensor<64xi32>
  // expected-remark @+1 {{constancy = [1], prefix = [64]}}
  %both = arith.andi %below, %above : tensor<64xi1>
  // expected-remark @+1 {{constancy = [1], prefix = [64]}}
  %either = arith.ori %below, %above : tensor<64xi1>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %behind = arith.cmpi sge, %range, %ns : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %between = arith.andi %both, %behind : tensor<64xi1>
  // expected-remark @+1 {{constancy = [1, 1], prefix = [1, 64]}}
  %row = tile.expand_dims %both, 0 : tensor<64xi1> -> tensor<1x64xi1>
  // expected-remark @+1 {{constancy = [4, 1], prefix = [4, 64]}}
  %tile = tile.broadcast %row : tensor<1x64xi1> -> tensor<4x64xi1>
  // expected-remark @+1 {{constancy = [1, 4], prefix = [64, 4]}}
  %turned = tile.trans %tile, [1, 0] : tensor<4x64xi1> -> tensor<64x4xi1>
  return
}

// -----
// Neighbours along an axis of a reshaped tile are those along the axis with as many elements between.
func.func @reshaped(%n: i32) attributes {tile.kernel} {
  // expected-remark @+1 {{contiguity = [4]}}
  %range = tile.arange 0, 4 : tensor<4xi32>
  // expected-remark @+1 {{contiguity = [1, 4]}}
  %row = tile.expand_dims %range, 0 : tensor<4xi32> -> tensor<1x4xi32>
  // expected-remark @+1 {{contiguity = [1, 4], divisibility = [1, 1099511627776], constancy = [128, 1], non-negative}}
  %tile = tile.broadcast %row : tensor<1x4xi32> -> tensor<128x4xi32>
  // expected-remark @+1 {{contiguity = [4], divisibility = [1099511627776], constancy = [1], non-negative}}
  %flat = tile.reshape %tile : tensor<128x4xi32> -> tensor<512xi32>
  // expected-remark @+1 {{contiguity = [1, 2], divisibility = [1, 2], constancy = [1, 1], non-negative}}
  %pairs = tile.reshape %tile : tensor<128x4xi32> -> tensor<256x2xi32>
  // expected-remark @+1 {{contiguity = [1, 1, 4], divisibility = [1, 1, 1099511627776], constancy = [1, 32, 1], non-negative}}
  %split = tile.reshape %tile : tensor<128x4xi32> -> tensor<4x32x4xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %any = tile.reshape %tile any_order : tensor<128x4xi32> -> tensor<512xi32>
  return
}

// -----
// As unsigned numbers, neighbours may wrap from the largest to zero.
func.func @unsigned_prefix(%start: i32, %n: i32) attributes {tile.kernel} {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [1], prefix = [64]}}
  %below = arith.cmpi ult, %range, %ns : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64]}}
  %index = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %wraps = arith.cmpi ult, %index, %ns : tensor<64xi32>
  return
}

// -----
// Rows whose numbers are loaded, and brought to other threads: their columns are neighbours all the same.
#loaded = #tilegpu.layout<"register:; lane: 1,0 2,0 4,0 8,0 16,0; warp:; block: -> 32x1">
#wanted = #tilegpu.layout<"register: 8,0 16,0; lane: 0,0 0,0 1,0 2,0 4,0; warp:; block: -> 32x1">
func.func @loaded_rows(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %rows: tensor<32x1xi32, #loaded>) attributes {tile.kernel} {
  // expected-remark @+1 {{divisibility = [64, 64]}}
  %c64 = arith.constant dense<64> : tensor<32x1xi32, #loaded>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [64, 64]}}
  %starts = arith.muli %rows, %c64 : tensor<32x1xi32, #loaded>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [64, 64]}}
  %moved = tilegpu.convert_layout %starts : tensor<32x1xi32, #loaded> -> tensor<32x1xi32, #wanted>
  return
}

// -----
// A remainder that is written out is not negative where what it is taken of is not, so that quotients of it are equal
// in groups. Another difference may be negative.
func.func @written_out_remainder(%n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{divisibility = [16], constancy = [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [16], non-negative}}
  %quotient = arith.divsi %range, %ns : tensor<64xi32>
  // expected-remark @+1 {{constancy = [16]}}
  %multiple = arith.muli %ns, %quotient : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1], non-negative}}
  %rest = arith.subi %range, %multiple : tensor<64xi32>
  // expected-remark @+1 {{constancy = [16], non-negative}}
  %row = arith.divsi %rest, %ns : tensor<64xi32>
  // expected-remark-re @+1 {{contiguity = [16], divisibility = [16], constancy = [1]{{$}}}}
  %other = arith.subi %rest, %multiple : tensor<64xi32>
  return
}

// -----
// A loop that runs up to `cdiv(n, 64)` has a positive `n` in its body, so that what it carries from a multiple of `n` on
// counts up from 0 or more, and quotients are equal in groups. From anything else on nothing is known.
func.func @counted_loop(%n: i32 {tile.divisibility = 16 : i32}, %x: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  // expected-remark @+1 {{constant = 0}}
  %zero = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 1}}
  %one = arith.constant 1 : i32
  // expected-remark @+1 {{constant = 63}}
  %c63 = arith.constant 63 : i32
  // expected-remark @+1 {{constant = 64}}
  %c64 = arith.constant 64 : i32
  // expected-remark @+1 {{constant = 16}}
  %c16 = arith.constant dense<16> : tensor<64xi32>
  // expected-remark @+1 {{constant = 64}}
  %step = arith.constant dense<64> : tensor<64xi32>
  // expected-remark @+1 {{divisibility = [1]}}
  %sum = arith.addi %n, %c63 : i32
  // expected-remark @+1 {{divisibility = [1]}}
  %count = arith.divsi %sum, %c64 : i32
  // expected-remark @+1 {{non-negative}}
  %pid = tile.program_id 0 : i32
  // expected-remark-re @+1 {{divisibility = [16], constancy = [1]{{$}}}}
  %start = arith.muli %pid, %n : i32
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  // expected-remark-re @+1 {{contiguity = [64], divisibility = [16], constancy = [1]{{$}}}}
  %first = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %xs = tile.splat %x : i32 -> tensor<64xi32>
  // expected-remark-re @+1 {{contiguity = [64], divisibility = [16], constancy = [1]{{$}}}}
  %other = arith.addi %xs, %range : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64]}}
  %last:2 = scf.for %i = %zero to %count step %one iter_args(%index = %first, %unknown = %other) -> (tensor<64xi32>, tensor<64xi32>) : i32 {
    // expected-remark @+1 {{constancy = [16], non-negative}}
    %row = arith.divsi %index, %c16 : tensor<64xi32>
    // expected-remark-re @+1 {{constancy = [1]{{$}}}}
    %rows = arith.divsi %unknown, %c16 : tensor<64xi32>
    // expected-remark @+1 {{contiguity = [64], divisibility = [16], constancy = [1], non-negative}}
    %next = arith.addi %index, %step : tensor<64xi32>
    // expected-remark-re @+1 {{contiguity = [64], divisibility = [16], constancy = [1]{{$}}}}
    %after = arith.addi %unknown, %step : tensor<64xi32>
    scf.yield %next, %after : tensor<64xi32>, tensor<64xi32>
  }
  return
}

// -----
// A running mean's weights are the same for all elements, also as what a loop carries; what is loaded is not.
func.func @weights(%p: !tile.ptr<f32>, %n: i32, %any: i1) {
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %one = arith.constant dense<1.0> : tensor<32xf32>
  // expected-remark @+1 {{constant = 0}}
  %start = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 1}}
  %step = arith.constant 1 : i32
  // expected-remark @+1 {{constancy = [32]}}
  %mask = tile.splat %any : i1 -> tensor<32xi1>
  // expected-remark @+1 {{contiguity = [32]}}
  %i = tile.arange 0, 32 : tensor<32xi32>
  // expected-remark @+1 {{constancy = [32]}}
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  // expected-remark @+1 {{contiguity = [32]}}
  %at = tile.addptr %ps, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %w:2 = scf.for %k = %start to %n step %step iter_args(%weight = %zero, %mean = %zero) -> (tensor<32xf32>, tensor<32xf32>) : i32 {
    %x = tile.load %at : (tensor<32x!tile.ptr<f32>>) -> tensor<32xf32>
    %more = arith.addf %weight, %one : tensor<32xf32>
    %next = arith.select %mask, %more, %weight : tensor<32xi1>, tensor<32xf32>
    %part = arith.divf %x, %more : tensor<32xf32>
    %sum = arith.addf %mean, %part : tensor<32xf32>
    // expected-remark @+1 {{constancy = [32]}}
    %isMore = arith.cmpf ogt, %more, %one : tensor<32xf32>
    // expected-remark @+1 {{constancy = [1]}}
    %isLarge = arith.cmpf ogt, %part, %one : tensor<32xf32>
    scf.yield %next, %sum : tensor<32xf32>, tensor<32xf32>
  }
  return
}

// -----
// What neighbours load from one address under one mask is equal, and so are rows that it names.
func.func @loaded(%p: !tile.ptr<i32> {tile.divisibility = 16 : i32}) {
  // expected-remark @+1 {{constant = 16}}
  %sixteen = arith.constant dense<16> : tensor<64xi32>
  // expected-remark @+1 {{constant = 8}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64]}}
  %i = tile.arange 0, 64 : tensor<64xi32>
  // expected-remark @+1 {{constancy = [16]}}
  %group = arith.divsi %i, %sixteen : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  // expected-remark @+1 {{constancy = [16]}}
  %at = tile.addptr %ps, %group : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  // expected-remark @+1 {{constancy = [16]}}
  %x = tile.load %at : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [1]}}
  %volatile = tile.load %at {is_volatile} : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [8]}}
  %mask = arith.cmpi slt, %i, %eight : tensor<64xi32>
  // expected-remark @+1 {{constancy = [8]}}
  %masked = tile.load %at mask %mask other %eight : (tensor<64x!tile.ptr<i32>>, tensor<64xi1>, tensor<64xi32>) -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [1]}}
  %others = tile.load %at mask %mask other %i : (tensor<64x!tile.ptr<i32>>, tensor<64xi1>, tensor<64xi32>) -> tensor<64xi32>
  // expected-remark @+1 {{constancy = [16]}}
  %row = arith.muli %x, %sixteen : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16]}}
  %column = arith.remsi %i, %sixteen : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16]}}
  %place = arith.addi %row, %column : tensor<64xi32>
  return
}

// -----
// Programs that share a total get something only where that is positive, so that what they begin at is not negative: in
// a loop up to their last number, as stream-K's, or over their numbers. In one to another end nothing is known.
func.func @shares(%total: i32, %n: i32 {tile.divisibility = 16 : i32}, %p: !tile.ptr<i32>) attributes {tile.kernel} {
  // expected-remark @+1 {{constant = 1}}
  %one = arith.constant 1 : i32
  // expected-remark @+1 {{constant = 304}}
  %c = arith.constant 304 : i32
  // expected-remark @+1 {{constancy = [1], non-negative}}
  %pid = tile.program_id 0 : i32
  // expected-remark @+1 {{constancy = [1], non-negative}}
  %next = arith.addi %pid, %one : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %full = arith.divsi %total, %c : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %rest = arith.remsi %total, %c : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %a = arith.muli %pid, %full : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %b = arith.minsi %pid, %rest : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %first = arith.addi %a, %b : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %d = arith.muli %next, %full : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %e = arith.minsi %next, %rest : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %last = arith.addi %d, %e : i32
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %end = scf.while (%at = %first) : (i32) -> i32 {
    // expected-remark-re @+1 {{constancy = [1]{{$}}}}
    %more = arith.cmpi slt, %at, %last : i32
    scf.condition(%more) %at : i32
  } do {
  ^bb0(%at: i32):
    // expected-remark @+1 {{constancy = [1], non-negative}}
    %part = arith.remsi %at, %n : i32
    // expected-remark @+1 {{constancy = [1], non-negative}}
    %left = arith.subi %n, %part : i32
    // expected-remark @+1 {{constancy = [1], non-negative}}
    %stop = arith.addi %at, %left : i32
    // expected-remark-re @+1 {{constancy = [1]{{$}}}}
    %now = arith.minsi %stop, %last : i32
    // expected-remark @+1 {{constancy = [1], non-negative}}
    %tile = arith.divsi %at, %n : i32
    tile.store %p, %tile : (!tile.ptr<i32>, i32) -> ()
    scf.yield %now : i32
  }
  // expected-remark-re @+1 {{constancy = [1]{{$}}}}
  %other = scf.while (%at = %first) : (i32) -> i32 {
    // expected-remark-re @+1 {{constancy = [1]{{$}}}}
    %more = arith.cmpi slt, %at, %d : i32
    scf.condition(%more) %at : i32
  } do {
  ^bb0(%at: i32):
    // expected-remark-re @+1 {{constancy = [1]{{$}}}}
    %tile = arith.divsi %at, %n : i32
    tile.store %p, %tile : (!tile.ptr<i32>, i32) -> ()
    // expected-remark-re @+1 {{constancy = [1]{{$}}}}
    %now = arith.addi %at, %one : i32
    scf.yield %now : i32
  }
  scf.for %at = %first to %last step %one : i32 {
    // expected-remark @+1 {{constancy = [1], non-negative}}
    %tile = arith.divsi %at, %n : i32
    tile.store %p, %tile : (!tile.ptr<i32>, i32) -> ()
  }
  return
}
