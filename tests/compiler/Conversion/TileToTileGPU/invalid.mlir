// What layout assignment refuses.
// RUN: kiln-opt --kiln-tile-to-tilegpu --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expected the module to have 'tilegpu.target', got none}}
module {
}

// -----
// expected-error @+1 {{nowhere}}
module attributes {tilegpu.target = "nowhere"} {
}

// -----
module attributes {tilegpu.target = "cuda:sm_80"} {
// expected-error @+1 {{expected a kernel of scalars and pointers, got tensors}}
func.func @argument(%x: tensor<4xf32>) { return }
}

// -----
module attributes {tilegpu.target = "cuda:sm_80"} {
func.func @unknown(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %x = tile.load %ps : (tensor<4x!tile.ptr<f32>>) -> tensor<4xf32>
  // expected-error @+1 {{expected an operation whose layouts are known, got one on tensors of different shapes}}
  %y = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<2xf64>
  return
}
}

// -----
module attributes {tilegpu.target = "cuda:sm_80"} {
func.func @not_padded() {
  // expected-error @+1 {{expected extents that are powers of two, got 'tensor<48xi32>'}}
  %r = tile.arange 0, 48 : tensor<48xi32>
  return
}
}
