// Tile IR texts for the tests: templates with named holes, and kernels that several tests use.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_KERNELTEXT_H
#define KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_KERNELTEXT_H

#include <string>
#include <utility>
#include <vector>

namespace kiln::test {

/// `text` with each `${name}` replaced.
inline std::string fillIn(std::string text,
                          const std::vector<std::pair<std::string, std::string>> &holes) {
  for (const auto &[name, value] : holes) {
    std::string hole = "${" + name + "}";
    for (size_t at; (at = text.find(hole)) != std::string::npos;)
      text.replace(at, hole.size(), value);
  }
  return text;
}

/// z = x + y in blocks of `block`. Arguments: x, y, z, n (i32).
inline std::string vectorAddText(int block) {
  return fillIn(R"(
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %c = arith.constant ${n} : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c : i32
  %range = tile.arange 0, ${n} : tensor<${n}xi32>
  %s = tile.splat %start : i32 -> tensor<${n}xi32>
  %offs = arith.addi %s, %range : tensor<${n}xi32>
  %ns = tile.splat %n : i32 -> tensor<${n}xi32>
  %mask = arith.cmpi slt, %offs, %ns : tensor<${n}xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<${n}x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offs : tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<${n}x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offs : tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<${n}x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %offs : tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi32>
  %a = tile.load %xp mask %mask : (tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi1>) -> tensor<${n}xf32>
  %b = tile.load %yp mask %mask : (tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi1>) -> tensor<${n}xf32>
  %r = arith.addf %a, %b : tensor<${n}xf32>
  tile.store %zp, %r mask %mask : (tensor<${n}x!tile.ptr<f32>>, tensor<${n}xf32>, tensor<${n}xi1>) -> ()
  func.return
})",
                {{"n", std::to_string(block)}});
}

/// Rows of out = softmax(rows of in), one row per instance, of at most `block` elements. Arguments:
/// out, in, the rows' stride and length (i32).
inline std::string softmaxText(int block) {
  return fillIn(R"(
func.func @softmax(%out: !tile.ptr<f32>, %in: !tile.ptr<f32>, %stride: i32, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0 : i32
  %row = arith.muli %pid, %stride : i32
  %offs = tile.arange 0, ${n} : tensor<${n}xi32>
  %ns = tile.splat %n : i32 -> tensor<${n}xi32>
  %mask = arith.cmpi slt, %offs, %ns : tensor<${n}xi32>
  %inrow = tile.addptr %in, %row : !tile.ptr<f32>, i32
  %ins = tile.splat %inrow : !tile.ptr<f32> -> tensor<${n}x!tile.ptr<f32>>
  %inp = tile.addptr %ins, %offs : tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi32>
  %ninf = arith.constant dense<0xFF800000> : tensor<${n}xf32>
  %x = tile.load %inp mask %mask other %ninf : (tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi1>, tensor<${n}xf32>) -> tensor<${n}xf32>
  %max = tile.reduce (%x) axis 0 : (tensor<${n}xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %m = arith.maxnumf %l, %r : f32
    tile.yield %m : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<${n}xf32>
  %d = arith.subf %x, %maxs : tensor<${n}xf32>
  %e = math.exp %d : tensor<${n}xf32>
  %sum = tile.reduce (%e) axis 0 : (tensor<${n}xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    tile.yield %m : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<${n}xf32>
  %q = arith.divf %e, %sums : tensor<${n}xf32>
  %outrow = tile.addptr %out, %row : !tile.ptr<f32>, i32
  %outs = tile.splat %outrow : !tile.ptr<f32> -> tensor<${n}x!tile.ptr<f32>>
  %outp = tile.addptr %outs, %offs : tensor<${n}x!tile.ptr<f32>>, tensor<${n}xi32>
  tile.store %outp, %q mask %mask : (tensor<${n}x!tile.ptr<f32>>, tensor<${n}xf32>, tensor<${n}xi1>) -> ()
  func.return
})",
                {{"n", std::to_string(block)}});
}

/// Which strides of a matrix product's operands are the constant 1.
enum class UnitStrides { None, RowMajor, ColumnMajorB };

struct MatmulShape {
  int m, n, k;
  /// Of the operands and of the result and sums, with the operation that adds nothing to a
  /// constant.
  std::string in = "f32", out = "f32", zero = "0.0";
};

/// c[M, N] = a[M, K] * b[K, N] by blocks, with masks everywhere and pointers that the loop moves.
/// Arguments: a, b, c, M, N, K (i32), and the strides am, ak, bk, bn, cm (i32; cn is 1). Grid: N
/// blocks, M blocks.
inline std::string matmulText(const MatmulShape &shape, UnitStrides unit = UnitStrides::None) {
  std::string text = R"(
func.func @matmul(%a: !tile.ptr<${in}>, %b: !tile.ptr<${in}>, %c: !tile.ptr<${out}>, %M: i32, %N: i32, %K: i32,
                  %am: i32, %aks: i32, %bkv: i32, %bns: i32, %cm: i32) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %BM = arith.constant ${m} : i32
  %BN = arith.constant ${n} : i32
  %BK = arith.constant ${k} : i32
  %ak = arith.muli %${ak}, %one : i32
  %bn = arith.muli %${bn}, %one : i32
  %bk = arith.muli %${bk}, %one : i32
  %pn = tile.program_id 0 : i32
  %pm = tile.program_id 1 : i32
  %m0 = arith.muli %pm, %BM : i32
  %n0 = arith.muli %pn, %BN : i32
  %rm = tile.arange 0, ${m} : tensor<${m}xi32>
  %rn = tile.arange 0, ${n} : tensor<${n}xi32>
  %rk = tile.arange 0, ${k} : tensor<${k}xi32>
  %m0s = tile.splat %m0 : i32 -> tensor<${m}xi32>
  %n0s = tile.splat %n0 : i32 -> tensor<${n}xi32>
  %offm1 = arith.addi %m0s, %rm : tensor<${m}xi32>
  %offn1 = arith.addi %n0s, %rn : tensor<${n}xi32>
  %offm = tile.expand_dims %offm1, 1 : tensor<${m}xi32> -> tensor<${m}x1xi32>
  %offn = tile.expand_dims %offn1, 0 : tensor<${n}xi32> -> tensor<1x${n}xi32>
  %kcol = tile.expand_dims %rk, 0 : tensor<${k}xi32> -> tensor<1x${k}xi32>
  %krow = tile.expand_dims %rk, 1 : tensor<${k}xi32> -> tensor<${k}x1xi32>

  %ams = tile.splat %am : i32 -> tensor<${m}x1xi32>
  %arow = arith.muli %offm, %ams : tensor<${m}x1xi32>
  %arowb = tile.broadcast %arow : tensor<${m}x1xi32> -> tensor<${m}x${k}xi32>
  %aks2 = tile.splat %ak : i32 -> tensor<1x${k}xi32>
  %acol = arith.muli %kcol, %aks2 : tensor<1x${k}xi32>
  %acolb = tile.broadcast %acol : tensor<1x${k}xi32> -> tensor<${m}x${k}xi32>
  %aoff = arith.addi %arowb, %acolb : tensor<${m}x${k}xi32>
  %abase = tile.splat %a : !tile.ptr<${in}> -> tensor<${m}x${k}x!tile.ptr<${in}>>
  %ap0 = tile.addptr %abase, %aoff : tensor<${m}x${k}x!tile.ptr<${in}>>, tensor<${m}x${k}xi32>

  %bks = tile.splat %bk : i32 -> tensor<${k}x1xi32>
  %brow = arith.muli %krow, %bks : tensor<${k}x1xi32>
  %browb = tile.broadcast %brow : tensor<${k}x1xi32> -> tensor<${k}x${n}xi32>
  %bns2 = tile.splat %bn : i32 -> tensor<1x${n}xi32>
  %bcol = arith.muli %offn, %bns2 : tensor<1x${n}xi32>
  %bcolb = tile.broadcast %bcol : tensor<1x${n}xi32> -> tensor<${k}x${n}xi32>
  %boff = arith.addi %browb, %bcolb : tensor<${k}x${n}xi32>
  %bbase = tile.splat %b : !tile.ptr<${in}> -> tensor<${k}x${n}x!tile.ptr<${in}>>
  %bp0 = tile.addptr %bbase, %boff : tensor<${k}x${n}x!tile.ptr<${in}>>, tensor<${k}x${n}xi32>

  %Ms = tile.splat %M : i32 -> tensor<${m}x1xi32>
  %mm = arith.cmpi slt, %offm, %Ms : tensor<${m}x1xi32>
  %Ns = tile.splat %N : i32 -> tensor<1x${n}xi32>
  %nm = arith.cmpi slt, %offn, %Ns : tensor<1x${n}xi32>
  %acc0 = arith.constant dense<${zero}> : tensor<${m}x${n}x${out}>
  %fa = arith.constant dense<${zero}> : tensor<${m}x${k}x${in}>
  %fb = arith.constant dense<${zero}> : tensor<${k}x${n}x${in}>
  %astep = arith.muli %ak, %BK : i32
  %asteps = tile.splat %astep : i32 -> tensor<${m}x${k}xi32>
  %bstep = arith.muli %bk, %BK : i32
  %bsteps = tile.splat %bstep : i32 -> tensor<${k}x${n}xi32>
  %r:3 = scf.for %k0 = %zero to %K step %BK iter_args(%acc = %acc0, %ap = %ap0, %bp = %bp0)
      -> (tensor<${m}x${n}x${out}>, tensor<${m}x${k}x!tile.ptr<${in}>>, tensor<${k}x${n}x!tile.ptr<${in}>>) : i32 {
    %left = arith.subi %K, %k0 : i32
    %leftc = tile.splat %left : i32 -> tensor<1x${k}xi32>
    %kmc = arith.cmpi slt, %kcol, %leftc : tensor<1x${k}xi32>
    %leftr = tile.splat %left : i32 -> tensor<${k}x1xi32>
    %kmr = arith.cmpi slt, %krow, %leftr : tensor<${k}x1xi32>
    %am1 = tile.broadcast %mm : tensor<${m}x1xi1> -> tensor<${m}x${k}xi1>
    %am2 = tile.broadcast %kmc : tensor<1x${k}xi1> -> tensor<${m}x${k}xi1>
    %amask = arith.andi %am1, %am2 : tensor<${m}x${k}xi1>
    %bm1 = tile.broadcast %kmr : tensor<${k}x1xi1> -> tensor<${k}x${n}xi1>
    %bm2 = tile.broadcast %nm : tensor<1x${n}xi1> -> tensor<${k}x${n}xi1>
    %bmask = arith.andi %bm1, %bm2 : tensor<${k}x${n}xi1>
    %at = tile.load %ap mask %amask other %fa : (tensor<${m}x${k}x!tile.ptr<${in}>>, tensor<${m}x${k}xi1>, tensor<${m}x${k}x${in}>) -> tensor<${m}x${k}x${in}>
    %bt = tile.load %bp mask %bmask other %fb : (tensor<${k}x${n}x!tile.ptr<${in}>>, tensor<${k}x${n}xi1>, tensor<${k}x${n}x${in}>) -> tensor<${k}x${n}x${in}>
    %sum = tile.dot %at, %bt, %acc : (tensor<${m}x${k}x${in}>, tensor<${k}x${n}x${in}>, tensor<${m}x${n}x${out}>) -> tensor<${m}x${n}x${out}>
    %an = tile.addptr %ap, %asteps : tensor<${m}x${k}x!tile.ptr<${in}>>, tensor<${m}x${k}xi32>
    %bnx = tile.addptr %bp, %bsteps : tensor<${k}x${n}x!tile.ptr<${in}>>, tensor<${k}x${n}xi32>
    scf.yield %sum, %an, %bnx : tensor<${m}x${n}x${out}>, tensor<${m}x${k}x!tile.ptr<${in}>>, tensor<${k}x${n}x!tile.ptr<${in}>>
  }
  %cms = tile.splat %cm : i32 -> tensor<${m}x1xi32>
  %crow = arith.muli %offm, %cms : tensor<${m}x1xi32>
  %crowb = tile.broadcast %crow : tensor<${m}x1xi32> -> tensor<${m}x${n}xi32>
  %ccolb = tile.broadcast %offn : tensor<1x${n}xi32> -> tensor<${m}x${n}xi32>
  %coff = arith.addi %crowb, %ccolb : tensor<${m}x${n}xi32>
  %cbase = tile.splat %c : !tile.ptr<${out}> -> tensor<${m}x${n}x!tile.ptr<${out}>>
  %cp = tile.addptr %cbase, %coff : tensor<${m}x${n}x!tile.ptr<${out}>>, tensor<${m}x${n}xi32>
  %cm1 = tile.broadcast %mm : tensor<${m}x1xi1> -> tensor<${m}x${n}xi1>
  %cm2 = tile.broadcast %nm : tensor<1x${n}xi1> -> tensor<${m}x${n}xi1>
  %cmask = arith.andi %cm1, %cm2 : tensor<${m}x${n}xi1>
  tile.store %cp, %r#0 mask %cmask : (tensor<${m}x${n}x!tile.ptr<${out}>>, tensor<${m}x${n}x${out}>, tensor<${m}x${n}xi1>) -> ()
  func.return
})";
  return fillIn(text, {{"m", std::to_string(shape.m)},
                       {"n", std::to_string(shape.n)},
                       {"k", std::to_string(shape.k)},
                       {"in", shape.in},
                       {"out", shape.out},
                       {"zero", shape.zero},
                       {"ak", unit == UnitStrides::None ? "aks" : "one"},
                       {"bn", unit == UnitStrides::RowMajor ? "one" : "bns"},
                       {"bk", unit == UnitStrides::ColumnMajorB ? "one" : "bkv"}});
}

} // namespace kiln::test

#endif // KILN_TESTS_COMPILER_CONVERSION_TILETOCPU_KERNELTEXT_H
