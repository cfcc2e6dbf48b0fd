// What the verifiers refuse.
// RUN: kiln-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a pointee of whole bytes, got 'i1' (booleans in memory are bytes: !tile.ptr<i8>)}}
func.func private @bool_pointer(!tile.ptr<i1>)

// -----
func.func @arange() -> tensor<8xi32> {
  // expected-error @+1 {{expected a result of shape 16, got 'tensor<8xi32>'}}
  %r = tile.arange 0, 16 : tensor<8xi32>
  return %r : tensor<8xi32>
}

// -----
func.func @empty_arange() -> tensor<8xi32> {
  // expected-error @+1 {{expected start < end, got 8 and 8}}
  %r = tile.arange 8, 8 : tensor<8xi32>
  return %r : tensor<8xi32>
}

// -----
func.func @broadcast(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected axis 0 of extent 1 or 8, got 4}}
  %b = tile.broadcast %x : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----
func.func @trans(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected an order that permutes 0 to 1, got [0, 0]}}
  %b = tile.trans %x, [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @load(%p: tensor<8x!tile.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{expected a mask of the shape of 'tensor<8x!tile.ptr<f32>>', got 'tensor<4xi1>'}}
  %x = tile.load %p mask %m : (tensor<8x!tile.ptr<f32>>, tensor<4xi1>) -> tensor<8xf32>
  return
}

// -----
func.func @other_without_mask(%p: tensor<8x!tile.ptr<f32>>, %o: tensor<8xf32>) {
  // expected-error @+1 {{expected a mask beside `other`}}
  %x = tile.load %p other %o : (tensor<8x!tile.ptr<f32>>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----
func.func @store(%p: tensor<8x!tile.ptr<f32>>, %v: tensor<8xf16>) {
  // expected-error @+1 {{expected a value of 'f32', got 'f16'}}
  tile.store %p, %v : (tensor<8x!tile.ptr<f32>>, tensor<8xf16>) -> ()
  return
}

// -----
func.func @atomic(%p: !tile.ptr<f32>, %v: f32) {
  // expected-error @+1 {{expected elements that `add` combines, got 'f32'}}
  %x = tile.atomic_rmw <add> %p, %v : (!tile.ptr<f32>, f32) -> f32
  return
}

// -----
func.func @dot(%a: tensor<16x32xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expected 32 rows of b, got 16}}
  %d = tile.dot %a, %b, %c : (tensor<16x32xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// -----
func.func @scales_of_pairs(%a: tensor<32x32xi8>, %c: tensor<32x32xf32>, %s: tensor<32x1xi8>) {
  // expected-error @+1 {{expected 32x2 scales of i8, got 'tensor<32x1xi8>'}}
  %d = tile.dot %a, %a, %c scales %s, %s : (tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xf32>, tensor<32x1xi8>, tensor<32x1xi8>) -> tensor<32x32xf32>
  return
}

// -----
func.func @scales_of_halves(%a: tensor<32x32xf16>, %c: tensor<32x32xf32>, %s: tensor<32x1xi8>) {
  // expected-error @+1 {{expected scales of both operands, these of rank 2 and 8 bits}}
  %d = tile.dot %a, %a, %c scales %s, %s : (tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>, tensor<32x1xi8>, tensor<32x1xi8>) -> tensor<32x32xf32>
  return
}

// -----
func.func @reduce_shape(%x: tensor<16x32xf32>) {
  // expected-error @+1 {{expected a result of shape [16], got 'tensor<32xf32>'}}
  %s = tile.reduce (%x) axis 1 : (tensor<16x32xf32>) -> tensor<32xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l : f32
  }
  return
}

// -----
func.func @reduce_region(%x: tensor<16x32xf32>) {
  // expected-error @+1 {{expected the region to yield 'f32'}}
  %s = tile.reduce (%x) axis 1 : (tensor<16x32xf32>) -> tensor<16xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %l, %r : f32, f32
  }
  return
}

// -----
func.func @hint(%x: tensor<16x32xi32>) {
  // expected-error @+1 {{expected 2 numbers, one per axis, got 1}}
  %h = tile.hint %x divisibility = [16] : tensor<16x32xi32>
  return
}

// -----
func.func @gather_indices(%x: tensor<16x32xf16>, %i: tensor<8x8xi32>) {
  // expected-error @+1 {{expected indices of the shape of 'tensor<16x32xf16>' except along axis 1, got 'tensor<8x8xi32>'}}
  %y = tile.gather %x, %i axis 1 : (tensor<16x32xf16>, tensor<8x8xi32>) -> tensor<8x8xf16>
  return
}

// -----
func.func @gather_axis(%x: tensor<16xf16>, %i: tensor<8xi32>) {
  // expected-error @+1 {{expected an axis of at most 0, got 1}}
  %y = tile.gather %x, %i axis 1 : (tensor<16xf16>, tensor<8xi32>) -> tensor<8xf16>
  return
}

// -----
func.func @gather_result(%x: tensor<16xf16>, %i: tensor<8xi32>) {
  // expected-error @+1 {{expected a result of 'f16', got 'f32'}}
  %y = tile.gather %x, %i axis 0 : (tensor<16xf16>, tensor<8xi32>) -> tensor<8xf32>
  return
}

// -----
func.func @histogram_mask(%x: tensor<16xi32>, %m: tensor<8xi1>) {
  // expected-error @+1 {{expected a mask of the shape of 'tensor<16xi32>', got 'tensor<8xi1>'}}
  %y = tile.histogram %x, %m : (tensor<16xi32>, tensor<8xi1>) -> tensor<4xi32>
  return
}

// -----
func.func @assembly_shapes(%x: tensor<16xi32>, %y: tensor<8xi32>) {
  // expected-error @+1 {{expected a source or result of the shape of 'tensor<16xi32>', got 'tensor<8xi32>'}}
  %z = tile.assembly "" "=r,r,r"(%x, %y) : (tensor<16xi32>, tensor<8xi32>) -> tensor<16xi32>
  return
}

// -----
func.func @assembly_scalar_result(%x: tensor<16xi32>) {
  // expected-error @+1 {{expected tensors as results beside tensors}}
  %z = tile.assembly "" "=r,r"(%x) : (tensor<16xi32>) -> i32
  return
}

// -----
func.func @map_shapes(%x: tensor<16xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{expected a source or result of the shape of 'tensor<16xf32>', got 'tensor<8xf32>'}}
  %z = tile.map(%x, %y) : (tensor<16xf32>, tensor<8xf32>) -> tensor<16xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @map_yield(%x: tensor<16xf32>) {
  // expected-error @+1 {{expected the region to yield 'f16'}}
  %z = tile.map(%x) : (tensor<16xf32>) -> tensor<16xf16> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----
func.func @map_effects(%p: tensor<16x!tile.ptr<f32>>) {
  // expected-error @+1 {{expected a region without effects on memory}}
  %z = tile.map(%p) : (tensor<16x!tile.ptr<f32>>) -> tensor<16xf32> {
  ^bb0(%a: !tile.ptr<f32>):
    %v = tile.load %a : (!tile.ptr<f32>) -> f32
    tile.yield %v : f32
  }
  return
}

// -----
func.func @print_half(%x: f16) {
  // expected-error @+1 {{expected i32, i64, f32, f64 or pointers, got 'f16'}}
  tile.print " x: %f"(%x) : f16
  return
}

// -----
func.func @narrow_double(%x: f64) {
  // expected-error @+1 {{'tile.narrow' op operand #0 must be f16, bf16 or f32}}
  %y = tile.narrow %x : f64 to f8E5M2
  return
}

// -----
func.func @narrow_to_half(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.narrow' op result #0 must be float of 8 bits}}
  %y = tile.narrow %x : tensor<4xf32> to tensor<4xf16>
  return
}

// -----
func.func @descriptor_pointee(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error @+1 {{expected a pointer to 'f16', got '!tile.ptr<f32>'}}
  %d = tile.make_descriptor %p, [%n, %n], [%n] : !tile.ptr<f32> -> !tile.descriptor<16x32xf16>
  return
}

// -----
func.func @descriptor_extents(%p: !tile.ptr<f16>, %n: i64) {
  // expected-error @+1 {{expected 2 extents, got 1}}
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16>
  return
}

// -----
func.func @descriptor_strides(%p: !tile.ptr<f16>, %n: i64) {
  // expected-error @+1 {{expected 1 strides (that of the last axis is 1), got 2}}
  %d = tile.make_descriptor %p, [%n, %n], [%n, %n] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16>
  return
}

// -----
func.func @descriptor_offsets(%d: !tile.descriptor<16x32xf16>, %n: i64) {
  // expected-error @+1 {{expected 2 coordinates, got 1}}
  %x = tile.descriptor_load %d[%n] : !tile.descriptor<16x32xf16> -> tensor<16x32xf16>
  return
}

// -----
func.func @descriptor_result(%d: !tile.descriptor<16x32xf16>, %n: i64) {
  // expected-error @+1 {{expected a result of type 'tensor<16x32xf16>', got 'tensor<32x16xf16>'}}
  %x = tile.descriptor_load %d[%n, %n] : !tile.descriptor<16x32xf16> -> tensor<32x16xf16>
  return
}

// -----
func.func @descriptor_value(%d: !tile.descriptor<16x32xf16>, %n: i64, %x: tensor<16x32xf32>) {
  // expected-error @+1 {{expected a value of type 'tensor<16x32xf16>', got 'tensor<16x32xf32>'}}
  tile.descriptor_store %d[%n, %n], %x : !tile.descriptor<16x32xf16>, tensor<16x32xf32>
  return
}

// -----
func.func @descriptor_kind(%d: !tile.descriptor<16x32xf16>, %n: i64, %x: tensor<16x32xf16>) {
  // expected-error @+1 {{expected elements that `xor` combines, got 'f16'}}
  tile.descriptor_reduce <xor> %d[%n, %n], %x : !tile.descriptor<16x32xf16>, tensor<16x32xf16>
  return
}

// -----
func.func @descriptor_exchange(%d: !tile.descriptor<16x32xf16>, %n: i64, %x: tensor<16x32xf16>) {
  // expected-error @+1 {{expected elements that `xchg` combines, got 'f16'}}
  tile.descriptor_reduce <xchg> %d[%n, %n], %x : !tile.descriptor<16x32xf16>, tensor<16x32xf16>
  return
}

// -----
func.func @descriptor_rows(%d: !tile.descriptor<16x32xf16>, %n: i64, %r: tensor<8xi32>) {
  // expected-error @+1 {{expected a descriptor of blocks of one row, got '!tile.descriptor<16x32xf16>'}}
  %x = tile.descriptor_gather %d[%r, %n] : !tile.descriptor<16x32xf16>, tensor<8xi32> -> tensor<8x32xf16>
  return
}

// -----
func.func @descriptor_row_numbers(%d: !tile.descriptor<1x32xf16>, %n: i64, %r: tensor<8x1xi32>) {
  // expected-error @+1 {{expected a vector of row numbers, got 'tensor<8x1xi32>'}}
  %x = tile.descriptor_gather %d[%r, %n] : !tile.descriptor<1x32xf16>, tensor<8x1xi32> -> tensor<8x32xf16>
  return
}

// -----
func.func @descriptor_scattered(%d: !tile.descriptor<1x32xf16>, %n: i64, %r: tensor<8xi32>, %x: tensor<4x32xf16>) {
  // expected-error @+1 {{expected a value of type 'tensor<8x32xf16>', got 'tensor<4x32xf16>'}}
  tile.descriptor_scatter %d[%r, %n], %x : !tile.descriptor<1x32xf16>, tensor<8xi32>, tensor<4x32xf16>
  return
}

// -----
func.func @descriptor_axis(%d: !tile.descriptor<16x32xf16>) {
  // expected-error @+1 {{expected an axis of at most 1, got 2}}
  %n = tile.descriptor_extent %d, 2 : !tile.descriptor<16x32xf16>
  return
}

// -----
// expected-error @+1 {{expected blocks of rank 1 to 5, got 6}}
func.func @descriptor_rank(%d: !tile.descriptor<1x1x1x1x1x8xf16>) {
  return
}

// -----
// expected-error @+1 {{expected blocks of positive extents, got [0, 8]}}
func.func @descriptor_shape(%d: !tile.descriptor<0x8xf16>) {
  return
}

// -----
// expected-error @+1 {{expected a pointee of whole bytes, got 'i1'}}
func.func @descriptor_bools(%d: !tile.descriptor<16xi1>) {
  return
}

// -----
// expected-error @+1 {{expected elements that are integers or floats, got '!tile.ptr<f32>'}}
func.func @descriptor_pointers(%d: !tile.descriptor<16x!tile.ptr<f32>>) {
  return
}

// -----
// expected-error @+1 {{expected floats beside NaN as padding, got 'i32'}}
func.func @descriptor_nan(%d: !tile.descriptor<16xi32, nan>) {
  return
}

// -----
// expected-error @+1 {{expected the padding zero or nan, got one}}
func.func @descriptor_padding(%d: !tile.descriptor<16xf32, one>) {
  return
}

// -----

// Pairs of one operand alone: it has half as many rows.
func.func @rows_of_pairs(%a: tensor<32x64xf8E4M3FN>, %b: tensor<64x32xi8>, %c: tensor<32x32xf32>, %s: tensor<32x2xi8>) {
  // expected-error @+1 {{expected 32 rows of b, got 64}}
  %d = tile.dot %a, %b, %c scales %s, %s : (tensor<32x64xf8E4M3FN>, tensor<64x32xi8>, tensor<32x32xf32>, tensor<32x2xi8>, tensor<32x2xi8>) -> tensor<32x32xf32>
  return
}

// -----

func.func @upper_of_one(%x: tensor<8xf8E5M2>, %s: tensor<8xi8>) {
  // expected-error @+1 {{expected pairs of numbers beside `upper`, i8, got 'f8E5M2'}}
  %y = tile.widen_scaled upper %x by %s : tensor<8xf8E5M2>, tensor<8xi8> to tensor<8xf16>
  return
}
