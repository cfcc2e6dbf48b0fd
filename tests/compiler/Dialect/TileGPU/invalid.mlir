// What the verifiers refuse.
// RUN: kiln-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expected a coordinate below 4, got '9'}}
func.func @coordinate(%x: tensor<4xf32, #tilegpu.layout<"register: 9; lane: ; warp:; block: -> 4">>) { return }

// -----
// expected-error @+1 {{expected the input 'block' in a tensor's layout}}
func.func @inputs(%x: tensor<4xf32, #tilegpu.layout<"register: 1 2; lane: ; warp: -> 4">>) { return }

// -----
// expected-error @+1 {{expected a layout that holds every element}}
func.func @surjective(%x: tensor<4xf32, #tilegpu.layout<"register: 1; lane: ; warp:; block: -> 4">>) { return }

// -----
// expected-error @+1 {{expected a bijection from 'offset'}}
func.func @bijection(%b: !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 0 -> 4">>) { return }

// -----
// expected-error @+1 {{expected a shared layout of the buffer's shape}}
func.func @shape(%b: !tilegpu.buffer<8xf32, #tilegpu.shared<"offset: 1 2 -> 4">>) { return }

// -----
// expected-error @+1 {{expected a name of MatrixUnits.def, got "mma.nothing"}}
func.func private @unit() attributes {u = #tilegpu.matrix_unit<"mma.nothing", warps 1 x 1>}

// -----
// expected-error @+1 {{expected powers of two of warps, got 3 x 1}}
func.func private @warps() attributes {u = #tilegpu.matrix_unit<"mma.m16n8k16.f16.f32", warps 3 x 1>}

// -----
// expected-error @+1 {{expected a power of two of neighbours, got 3}}
func.func private @neighbours() attributes {u = #tilegpu.matrix_unit<"wmma.16x16x16.f16.f32" swapped, neighbours 3, warps 2 x 1>}

// -----
#l = #tilegpu.layout<"register: 1 2; lane: ; warp:; block: -> 4">
func.func @convert(%x: tensor<4xf32, #l>) {
  // expected-error @+1 {{expected a result with a layout, got 'tensor<4xf32>'}}
  %y = tilegpu.convert_layout %x : tensor<4xf32, #l> -> tensor<4xf32>
  return
}

// -----
#l = #tilegpu.layout<"register: 1 2; lane: ; warp:; block: -> 4">
func.func @convertShape(%x: tensor<4xf32, #l>) {
  // expected-error @+1 {{that differs from 'tensor<4xf32, #tilegpu.layout<}}
  %y = tilegpu.convert_layout %x : tensor<4xf32, #l> -> tensor<4xf16, #l>
  return
}

// -----
#l = #tilegpu.layout<"register: 1 2; lane: ; warp:; block: -> 4">
func.func @layoutShape(%x: tensor<8xf32, #l>) {
  // expected-error @+1 {{expected a source with a layout of its shape}}
  %y = tilegpu.convert_layout %x : tensor<8xf32, #l> -> tensor<8xf32>
  return
}

// -----
#l = #tilegpu.layout<"register: 1 2; lane: ; warp:; block: -> 4">
func.func @store(%x: tensor<4xf16, #l>, %b: !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">>) {
  // expected-error @+1 {{expected a tensor of the buffer's shape and element type}}
  tilegpu.shared_store %x, %b : tensor<4xf16, #l>, !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">>
  return
}

// -----
#l = #tilegpu.layout<"register: 1 2; lane: ; warp:; block: -> 4">
func.func @copy(%p: tensor<4x!tile.ptr<f16>, #l>, %b: !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">>) {
  // expected-error @+1 {{expected pointers to the buffer's elements}}
  tilegpu.copy_async %p, %b vector 1 : tensor<4x!tile.ptr<f16>, #l>, !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">>
  return
}

// -----
#l = #tilegpu.layout<"register: 1 2; lane: ; warp:; block: -> 4">
#m = #tilegpu.layout<"register: 2 1; lane: ; warp:; block: -> 4">
func.func @copyMask(%p: tensor<4x!tile.ptr<f32>, #l>, %m: tensor<4xi1, #m>, %b: !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">>) {
  // expected-error @+1 {{expected a mask of the pointers' shape and layout}}
  tilegpu.copy_async %p, %b mask %m vector 1 : tensor<4x!tile.ptr<f32>, #l>, !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">>, tensor<4xi1, #m>
  return
}

// -----
func.func @transBuffer(%b: !tilegpu.buffer<4x2xf32, #tilegpu.shared<"offset: 1,0 2,0 0,1 -> 4x2">>) {
  // expected-error @+1 {{expected an order that permutes the axes of '!tilegpu.buffer<4x2xf32}}
  %t = tilegpu.trans_buffer %b, [1, 1] : !tilegpu.buffer<4x2xf32, #tilegpu.shared<"offset: 1,0 2,0 0,1 -> 4x2">>
  return
}

// -----
// expected-error @+1 {{expected at least one slot, got 0}}
func.func @slots(%b: !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">, slots 0>) { return }

// -----
#a = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 16x16">
#c = #tilegpu.layout<"register: 0,1 8,0; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 16x8">
#s = #tilegpu.shared<"offset: 0,1 0,2 0,4 1,0 2,0 4,0 8,0 -> 16x8">
func.func @dotBuffer(%a: tensor<16x16xf16, #a>, %b: !tilegpu.buffer<16x8xf16, #s>, %c: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{expected a unit that reads buffers, or tensors as operands, got '!tilegpu.buffer<16x8xf16}}
  %d = tilegpu.dot %a, %b, %c unit <"mma.m16n8k16.f16.f32", warps 1 x 1>
      : (tensor<16x16xf16, #a>, !tilegpu.buffer<16x8xf16, #s>, tensor<16x8xf32, #c>) -> tensor<16x8xf32, #c>
  return
}

// -----
#a = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 16x16">
#b = #tilegpu.layout<"register: 1,0 8,0; lane: 2,0 4,0 0,1 0,2 0,4; warp:; block: -> 16x8">
#c = #tilegpu.layout<"register: 0,1 8,0; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 16x8">
func.func @dotAsync(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #b>, %c: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{expected buffers as operands of an asynchronous dot}}
  %d = tilegpu.dot async %a, %b, %c unit <"mma.m16n8k16.f16.f32", warps 1 x 1>
      : (tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>) -> tensor<16x8xf32, #c>
  return
}

// -----
#a = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 8,0; lane: 1,0 2,0 4,0; warp:; block: -> 16x16">
#c = #tilegpu.layout<"register: 0,1 0,2 0,4 8,0; lane: 1,0 2,0 4,0; warp:; block: -> 16x8">
func.func @dotLayout(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #c>, %c: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{expected operand layout register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp:; block: -> 16x16}}
  %d = tilegpu.dot %a, %b, %c unit <"mma.m16n8k16.f16.f32", warps 1 x 1>
      : (tensor<16x16xf16, #a>, tensor<16x8xf16, #c>, tensor<16x8xf32, #c>) -> tensor<16x8xf32, #c>
  return
}

// -----
#a = #tilegpu.layout<"register: 0,1 0,2 0,4 0,8 8,0; lane: 1,0 2,0 4,0; warp:; block: -> 16x16">
#c = #tilegpu.layout<"register: 0,1 0,2 0,4 8,0; lane: 1,0 2,0 4,0; warp:; block: -> 16x8">
func.func @dotShape(%a: tensor<16x16xf16, #a>, %c: tensor<16x8xf32, #c>) {
  // expected-error @+1 {{expected shapes M x K, K x N and M x N}}
  %d = tilegpu.dot %a, %a, %c : (tensor<16x16xf16, #a>, tensor<16x16xf16, #a>, tensor<16x8xf32, #c>) -> tensor<16x8xf32, #c>
  return
}

// -----
func.func @width(%p: !llvm.ptr<1>) {
  // expected-error @+1 {{expected a value of 8, 16, 32, 64 or 128 bits, got 'vector<8xf32>'}}
  %v = tilegpu.global_load %p : (!llvm.ptr<1>) -> vector<8xf32>
  return
}

// -----
func.func @other(%p: !llvm.ptr<1>, %z: f16) {
  // expected-error @+1 {{expected a predicate beside `other`, got none}}
  %v = tilegpu.global_load %p other %z : (!llvm.ptr<1>, f16) -> f16
  return
}

// -----
func.func @elements(%p: !llvm.ptr<1>, %c: i1) {
  // expected-error @+1 {{expected a predicate and a condition for each element of a vector, got 1 conditions for 'vector<2xf32>'}}
  %v = tilegpu.global_load %p predicate %c elements %c : (!llvm.ptr<1>, i1, i1) -> vector<2xf32>
  return
}

// -----
func.func @elementsAlone(%p: !llvm.ptr<1>, %c: i1) {
  // expected-error @+1 {{expected a predicate and a condition for each element of a vector, got 2 conditions for 'vector<2xf32>'}}
  %v = tilegpu.global_load %p elements %c, %c : (!llvm.ptr<1>, i1, i1) -> vector<2xf32>
  return
}

// -----
func.func @reducedIntegers(%p: !llvm.ptr<1>, %v: vector<4xi32>) {
  // expected-error @+1 {{expected a value of f16, bf16 or f32, got 'vector<4xi32>'}}
  tilegpu.global_reduce %p, %v : (!llvm.ptr<1>, vector<4xi32>) -> ()
  return
}

// -----
func.func @reducedSize(%p: !llvm.ptr<1>, %v: vector<3xf16>) {
  // expected-error @+1 {{expected a value of 8, 16, 32, 64 or 128 bits, got 'vector<3xf16>'}}
  tilegpu.global_reduce %p, %v : (!llvm.ptr<1>, vector<3xf16>) -> ()
  return
}

// -----
func.func @copiedBytes(%s: !llvm.ptr<3>, %p: !llvm.ptr<1>, %c: i1) {
  // expected-error @+1 {{expected 4, 8 or 16 bytes, got 2}}
  tilegpu.global_copy %s, %p predicate %c {bytes = 2 : i32} : (!llvm.ptr<3>, !llvm.ptr<1>, i1) -> ()
  return
}

// -----
func.func @wgmmaOperand(%x: i64, %c: f32) {
  // expected-error @+1 {{expected the operand type f16, bf16, tf32, s8, u8, e4m3 or e5m2, got "f64"}}
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "f64", accumulator = "f32"}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaAccumulator(%x: i64, %c: f32) {
  // expected-error @+1 {{expected accumulators of f32 or f16 for operands of e4m3, got "s32"}}
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "e4m3", accumulator = "s32"}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaSize(%x: i64, %c: i32) {
  // expected-error @+1 {{expected n to be a multiple of 8 from 8 to 256 (of integers 8, 24 or a multiple of 16), got 40}}
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 40 : i32, operand = "s8", accumulator = "s32"}
      : (i64, i64, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  return
}

// -----
func.func @wgmmaCount(%x: i64, %c: f32) {
  // expected-error @+1 {{expected 8 accumulators of 'f32', got 4}}
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 16 : i32, operand = "bf16", accumulator = "f32"}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaType(%x: i64, %c: f32) {
  // expected-error @+1 {{expected accumulators of 'vector<2xf16>', got 'f32'}}
  %d:2 = tilegpu.wgmma a(%x) b(%x) into(%c, %c) {n = 8 : i32, operand = "f16", accumulator = "f16"}
      : (i64, i64, f32, f32) -> (f32, f32)
  return
}

// -----
func.func @wgmmaSteps(%x: i64, %r: i32, %c: f32) {
  // expected-error @+1 {{expected 8 operands a for 2 steps (one descriptor or four registers each), got 4}}
  %d:4 = tilegpu.wgmma a(%r, %r, %r, %r) b(%x, %x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "bf16", accumulator = "f32"}
      : (i32, i32, i32, i32, i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaMixed(%x: i64, %r: i32, %c: f32) {
  // expected-error @+1 {{expected operands a of one type, got 'i64' and 'i32'}}
  %d:4 = tilegpu.wgmma a(%x, %r) b(%x, %x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "bf16", accumulator = "f32"}
      : (i64, i32, i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaHalves(%x: i64, %r: vector<2xf16>, %c: f32) {
  // expected-error @+1 {{expected registers of a of i32 for bf16, got 'vector<2xf16>'}}
  %d:4 = tilegpu.wgmma a(%r, %r, %r, %r) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "bf16", accumulator = "f32"}
      : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaNoSteps(%c: f32) {
  // expected-error @+1 {{expected a descriptor of b for each step, got none}}
  %d:4 = tilegpu.wgmma a() b() into(%c, %c, %c, %c) {n = 8 : i32, operand = "bf16", accumulator = "f32"}
      : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaTransposedBytes(%x: i64, %c: f32) {
  // expected-error @+1 {{expected 16-bit operands of a transposed matrix, got "e5m2"}}
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "e5m2", accumulator = "f32", transpose_b}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaTransposedRegisters(%x: i64, %r: i32, %c: f32) {
  // expected-error @+1 {{expected a transposed A in shared memory, got registers}}
  %d:4 = tilegpu.wgmma a(%r, %r, %r, %r) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "bf16", accumulator = "f32", transpose_a}
      : (i32, i32, i32, i32, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----
func.func @wgmmaUse(%x: i64, %c: f32) -> f32 {
  // expected-error @+1 {{to be used by tilegpu.wgmma as accumulators, or by tilegpu.wgmma_wait, got a use by 'arith.addf'}}
  %d:4 = tilegpu.wgmma a(%x) b(%x) into(%c, %c, %c, %c) {n = 8 : i32, operand = "bf16", accumulator = "f32"}
      : (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %e = arith.addf %d#0, %c : f32
  return %e : f32
}

// -----
func.func @wgmmaPending(%c: f32) {
  // expected-error @+1 {{expected 0 to 7 groups pending, got 8}}
  %r = tilegpu.wgmma_wait %c pending 8 : f32
  return
}

// -----
#wc = #tilegpu.layout<"register: 0,1 8,0 0,8; lane: 0,2 0,4 1,0 2,0 4,0; warp: 16,0 32,0; block: -> 64x16">
#sa = #tilegpu.shared<"offset: 0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 -> 64x16">
#sb = #tilegpu.shared<"offset: 1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 -> 16x16">
func.func @sumOfDotInFlight(%a: !tilegpu.buffer<64x16xf16, #sa>, %b: !tilegpu.buffer<16x16xf16, #sb>, %c: tensor<64x16xf32, #wc>) {
  // expected-error @+1 {{expected no sum_depth but of a dot that is waited for, on a unit that reads shared memory, got 16}}
  %d = tilegpu.dot async %a, %b, %c unit <"wgmma.m64n16k16.f16.f32", warps 1 x 1> {sum_depth = 16 : i32}
      : (!tilegpu.buffer<64x16xf16, #sa>, !tilegpu.buffer<16x16xf16, #sb>, tensor<64x16xf32, #wc>) -> tensor<64x16xf32, #wc>
  return
}
