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
  %t = tilegpu.copy_async %p, %b : (tensor<4x!tile.ptr<f16>, #l>, !tilegpu.buffer<4xf32, #tilegpu.shared<"offset: 1 2 -> 4">>) -> !tilegpu.token
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
