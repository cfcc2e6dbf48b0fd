// Every operation prints what it parses.
// RUN: kiln-opt %s | kiln-opt | FileCheck %s
// RUN: kiln-opt --mlir-print-op-generic %s | kiln-opt | FileCheck %s

// CHECK-LABEL: func.func @grid
func.func @grid() -> (i32, i32) attributes {tile.kernel} {
  // CHECK: tile.program_id 0 : i32
  %p = tile.program_id 0 : i32
  // CHECK: tile.num_programs 2 : i32
  %n = tile.num_programs 2 : i32
  // CHECK: tile.cluster_rank : i32
  %r = tile.cluster_rank : i32
  return %p, %n : i32, i32
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%s: f32) -> tensor<32x16xf32> {
  // CHECK: tile.arange 0, 16 : tensor<16xi32>
  %r = tile.arange 0, 16 : tensor<16xi32>
  // CHECK: tile.expand_dims %{{.*}}, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %e = tile.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK: tile.broadcast %{{.*}} : tensor<16x1xi32> -> tensor<16x32xi32>
  %b = tile.broadcast %e : tensor<16x1xi32> -> tensor<16x32xi32>
  // CHECK: tile.reshape %{{.*}} any_order : tensor<16x32xi32> -> tensor<512xi32>
  %f = tile.reshape %b any_order : tensor<16x32xi32> -> tensor<512xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<16x32xf32>
  %t = tile.splat %s : f32 -> tensor<16x32xf32>
  // CHECK: tile.trans %{{.*}}, [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %x = tile.trans %t, [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  return %x : tensor<32x16xf32>
}

// CHECK-LABEL: func.func @memory
func.func @memory(%p: tensor<128x!tile.ptr<f32>>, %m: tensor<128xi1>, %o: tensor<128xi32>, %z: tensor<128xf32>) {
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %q = tile.addptr %p, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  // CHECK: tile.load %{{.*}} mask %{{.*}} other %{{.*}} {cache = #tile.cache<cg>, evict = #tile.evict<evict_first>}
  %x = tile.load %q mask %m other %z {cache = #tile.cache<cg>, evict = #tile.evict<evict_first>} : (tensor<128x!tile.ptr<f32>>, tensor<128xi1>, tensor<128xf32>) -> tensor<128xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} mask %{{.*}} : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> ()
  tile.store %q, %x mask %m : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> ()
  // CHECK: tile.atomic_rmw <fadd> %{{.*}}, %{{.*}} {scope = #tile.scope<sys>, semantic = #tile.semantic<relaxed>}
  %a = tile.atomic_rmw <fadd> %q, %x {scope = #tile.scope<sys>, semantic = #tile.semantic<relaxed>} : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>) -> tensor<128xf32>
  // CHECK: tile.bitcast %{{.*}} : tensor<128x!tile.ptr<f32>> -> tensor<128x!tile.ptr<i32>>
  %i = tile.bitcast %q : tensor<128x!tile.ptr<f32>> -> tensor<128x!tile.ptr<i32>>
  // CHECK: tile.permute_bytes %{{.*}}, %{{.*}}, %{{.*}} : tensor<128xi32>
  %words = tile.bitcast %x : tensor<128xf32> -> tensor<128xi32>
  %bytes = tile.permute_bytes %words, %words, %words : tensor<128xi32>
  // CHECK: tile.narrow %{{.*}} : tensor<128xf32> to tensor<128xf8E4M3FN>
  %n = tile.narrow %x : tensor<128xf32> to tensor<128xf8E4M3FN>
  // CHECK: tile.widen_scaled %{{.*}} by %{{.*}} : tensor<128xf8E4M3FN>, tensor<128xi8> to tensor<128xbf16>
  %e = tile.bitcast %n : tensor<128xf8E4M3FN> -> tensor<128xi8>
  %w = tile.widen_scaled %n by %e : tensor<128xf8E4M3FN>, tensor<128xi8> to tensor<128xbf16>
  // CHECK: tile.widen_scaled upper %{{.*}} by %{{.*}} : tensor<128xi8>, tensor<128xi8> to tensor<128xf32>
  %v = tile.widen_scaled upper %e by %e : tensor<128xi8>, tensor<128xi8> to tensor<128xf32>
  // CHECK: tile.atomic_cas
  %c = tile.atomic_cas %i, %o, %o : (tensor<128x!tile.ptr<i32>>, tensor<128xi32>, tensor<128xi32>) -> tensor<128xi32>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.fence <gpu>{{$}}
  tile.fence <gpu>
  // CHECK: tile.fence <sys> sequential
  tile.fence <sys> sequential
  // CHECK: tile.read_register <nanoseconds> : i64
  %time = tile.read_register <nanoseconds> : i64
  // CHECK: tile.read_register <processor> : i32
  %processor = tile.read_register <processor> : i32
  return
}

// CHECK-LABEL: func.func @across
func.func @across(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> f32 {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {precision = #tile.precision<ieee>}
  %d = tile.dot %a, %b, %c {precision = #tile.precision<ieee>} : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
  // CHECK: tile.scan(%{{.*}}) axis 1 reverse
  %s = tile.scan (%d) axis 1 reverse : (tensor<16x16xf32>) -> tensor<16x16xf32> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  // CHECK: tile.reduce(%{{.*}}) axis 0 : (tensor<16x16xf32>) -> tensor<16xf32>
  %u = tile.reduce (%s) axis 0 : (tensor<16x16xf32>) -> tensor<16xf32> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.maxnumf %l, %r : f32
    tile.yield %t : f32
  }
  // CHECK: tile.reduce(%{{.*}}) axis 0 : (tensor<16xf32>) -> f32
  %v = tile.reduce (%u) axis 0 : (tensor<16xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  return %v : f32
}

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<16x32xf16>, %i: tensor<16x8xi32>) -> tensor<16x8xf16> {
  // CHECK: tile.gather %{{.*}}, %{{.*}} axis 1 : (tensor<16x32xf16>, tensor<16x8xi32>) -> tensor<16x8xf16>
  %y = tile.gather %x, %i axis 1 : (tensor<16x32xf16>, tensor<16x8xi32>) -> tensor<16x8xf16>
  return %y : tensor<16x8xf16>
}

// CHECK-LABEL: func.func @histogram
func.func @histogram(%x: tensor<16xi32>, %m: tensor<16xi1>) -> (tensor<4xi32>, tensor<8xi32>) {
  // CHECK: tile.histogram %{{.*}} : (tensor<16xi32>) -> tensor<4xi32>
  %a = tile.histogram %x : (tensor<16xi32>) -> tensor<4xi32>
  // CHECK: tile.histogram %{{.*}}, %{{.*}} : (tensor<16xi32>, tensor<16xi1>) -> tensor<8xi32>
  %b = tile.histogram %x, %m : (tensor<16xi32>, tensor<16xi1>) -> tensor<8xi32>
  return %a, %b : tensor<4xi32>, tensor<8xi32>
}

// CHECK-LABEL: func.func @assembly
func.func @assembly(%x: tensor<16xi32>, %n: i32) -> tensor<16xi32> {
  // CHECK: tile.assembly "mov.u32 $0, %laneid;" "=r"() pure : () -> i32
  %lane = tile.assembly "mov.u32 $0, %laneid;" "=r"() pure : () -> i32
  // CHECK: tile.assembly "bar.sync 0;" "~{memory}"() : () -> ()
  tile.assembly "bar.sync 0;" "~{memory}"() : () -> ()
  // CHECK: tile.assembly "add.u32 $0, $1, $2;" "=r,r,r"(%{{.*}}, %{{.*}}) : (tensor<16xi32>, i32) -> tensor<16xi32>
  %y = tile.assembly "add.u32 $0, $1, $2;" "=r,r,r"(%x, %n) : (tensor<16xi32>, i32) -> tensor<16xi32>
  return %y : tensor<16xi32>
}

// CHECK-LABEL: func.func @map
func.func @map(%x: tensor<16xf32>, %n: tensor<16xi32>) -> tensor<16xf16> {
  // CHECK: tile.map(%{{.*}}, %{{.*}}) : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf16> {
  // CHECK: scf.if
  // CHECK: tile.yield %{{.*}} : f16
  %y = tile.map(%x, %n) : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf16> {
  ^bb0(%e: f32, %k: i32):
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %k, %zero : i32
    %r = scf.if %c -> f32 {
      scf.yield %e : f32
    } else {
      %negative = arith.negf %e : f32
      scf.yield %negative : f32
    }
    %h = arith.truncf %r : f32 to f16
    tile.yield %h : f16
  }
  return %y : tensor<16xf16>
}

// CHECK-LABEL: func.func @messages
func.func @messages(%x: tensor<16xf32>, %c: tensor<16xi1>) {
  // CHECK: tile.print " x: %f"(%{{.*}}) : tensor<16xf32>
  tile.print " x: %f"(%x) : tensor<16xf32>
  // CHECK: tile.print " here"
  tile.print " here"
  // CHECK: tile.assert %{{.*}}, "x > 0" : tensor<16xi1>
  tile.assert %c, "x > 0" : tensor<16xi1>
  return
}

// CHECK-LABEL: func.func @facts
func.func @facts(%n: i32, %c: i1) -> i32 {
  // CHECK: tile.hint %{{.*}} divisibility = [16] contiguity = [1] : i32
  %h = tile.hint %n divisibility = [16] contiguity = [1] : i32
  // CHECK: tile.assume %{{.*}} : i1
  tile.assume %c : i1
  return %h : i32
}

// CHECK-LABEL: func.func @descriptors
func.func @descriptors(%p: !tile.ptr<f16>, %m: i64, %n: i64, %rows: tensor<8xi32>) -> (i64, i64) {
  // CHECK: tile.make_descriptor %{{.*}}, [%{{.*}}], [] : !tile.ptr<f16> -> !tile.descriptor<32xf16>
  %v = tile.make_descriptor %p, [%n], [] : !tile.ptr<f16> -> !tile.descriptor<32xf16>
  // CHECK: tile.make_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16, nan>
  %d = tile.make_descriptor %p, [%m, %n], [%n] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16, nan>
  // CHECK: tile.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] {cache = #tile.cache<cg>} : !tile.descriptor<16x32xf16, nan> -> tensor<16x32xf16>
  %x = tile.descriptor_load %d[%m, %n] {cache = #tile.cache<cg>} : !tile.descriptor<16x32xf16, nan> -> tensor<16x32xf16>
  // CHECK: tile.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<16x32xf16, nan>, tensor<16x32xf16>
  tile.descriptor_store %d[%m, %n], %x : !tile.descriptor<16x32xf16, nan>, tensor<16x32xf16>
  // CHECK: tile.descriptor_reduce <fmax> %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<16x32xf16, nan>, tensor<16x32xf16>
  tile.descriptor_reduce <fmax> %d[%m, %n], %x : !tile.descriptor<16x32xf16, nan>, tensor<16x32xf16>
  // CHECK: tile.make_descriptor {{.*}} -> !tile.descriptor<1x32xf16>
  %r = tile.make_descriptor %p, [%m, %n], [%n] : !tile.ptr<f16> -> !tile.descriptor<1x32xf16, zero>
  // CHECK: tile.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : !tile.descriptor<1x32xf16>, tensor<8xi32> -> tensor<8x32xf16>
  %g = tile.descriptor_gather %r[%rows, %n] : !tile.descriptor<1x32xf16>, tensor<8xi32> -> tensor<8x32xf16>
  // CHECK: tile.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<1x32xf16>, tensor<8xi32>, tensor<8x32xf16>
  tile.descriptor_scatter %r[%rows, %n], %g : !tile.descriptor<1x32xf16>, tensor<8xi32>, tensor<8x32xf16>
  // CHECK: tile.descriptor_extent %{{.*}}, 1 : !tile.descriptor<16x32xf16, nan>
  %e = tile.descriptor_extent %d, 1 : !tile.descriptor<16x32xf16, nan>
  // CHECK: tile.descriptor_stride %{{.*}}, 0 : !tile.descriptor<16x32xf16, nan>
  %s = tile.descriptor_stride %d, 0 : !tile.descriptor<16x32xf16, nan>
  return %e, %s : i64, i64
}

// CHECK-LABEL: func.func @scaled
func.func @scaled(%a: tensor<32x64xf8E4M3FN>, %b: tensor<64x32xf8E5M2>, %c: tensor<32x32xf32>, %s: tensor<32x2xi8>) -> tensor<32x32xf32> {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} scales %{{.*}}, %{{.*}} {precision = #tile.precision<ieee>}
  %d = tile.dot %a, %b, %c scales %s, %s {precision = #tile.precision<ieee>}
      : (tensor<32x64xf8E4M3FN>, tensor<64x32xf8E5M2>, tensor<32x32xf32>, tensor<32x2xi8>, tensor<32x2xi8>) -> tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}
