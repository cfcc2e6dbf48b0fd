// Conversions that need not be.
// RUN: kiln-opt --canonicalize %s | FileCheck %s

#a = #tilegpu.layout<"register: 1 2; lane: 4; warp:; block: -> 8">
#b = #tilegpu.layout<"register: 1 4; lane: 2; warp:; block: -> 8">

// CHECK-LABEL: func.func @sameLayout
// CHECK-NEXT: return %arg0
func.func @sameLayout(%x: tensor<8xf32, #a>) -> tensor<8xf32, #a> {
  %y = tilegpu.convert_layout %x : tensor<8xf32, #a> -> tensor<8xf32, #a>
  return %y : tensor<8xf32, #a>
}

// There and back is nothing.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: return %arg0
func.func @chain(%x: tensor<8xf32, #a>) -> tensor<8xf32, #a> {
  %y = tilegpu.convert_layout %x : tensor<8xf32, #a> -> tensor<8xf32, #b>
  %z = tilegpu.convert_layout %y : tensor<8xf32, #b> -> tensor<8xf32, #a>
  return %z : tensor<8xf32, #a>
}

// CHECK-LABEL: func.func @splats
// CHECK-DAG: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<8xf32, #[[B:.*]]>
// CHECK-DAG: %[[S:.*]] = tile.splat %arg0 : f32 -> tensor<8xf32, #[[B]]>
// CHECK: return %[[C]], %[[S]]
func.func @splats(%s: f32) -> (tensor<8xf32, #b>, tensor<8xf32, #b>) {
  %one = arith.constant dense<1.0> : tensor<8xf32, #a>
  %c = tilegpu.convert_layout %one : tensor<8xf32, #a> -> tensor<8xf32, #b>
  %t = tile.splat %s : f32 -> tensor<8xf32, #a>
  %d = tilegpu.convert_layout %t : tensor<8xf32, #a> -> tensor<8xf32, #b>
  return %c, %d : tensor<8xf32, #b>, tensor<8xf32, #b>
}
