// Kernels in Tile IR that several tests use.

#include "tests/compiler/Conversion/TileGPUToLLVM/SampleKernels.h"

namespace kiln::testing {

static const char *const vectorAdd = R"(
func.func @add(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
               %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 1024 : i32
  %b = arith.muli %pid, %c : i32
  %bs = tile.splat %b : i32 -> tensor<1024xi32>
  %r = tile.arange 0, 1024 : tensor<1024xi32>
  %off = arith.addi %bs, %r : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %off, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %off : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %xv = tile.load %xp mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %off : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %yv = tile.load %yp mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %s = arith.addf %xv, %yv : tensor<1024xf32>
  %os = tile.splat %o : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %op = tile.addptr %os, %off : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %op, %s mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  return
})";

static std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// One operand's tile of rows x columns at (row, column) of a matrix of extents (%R, %C), row-major
/// with leading dimension %L: pointers %NAMEp and mask %NAMEm.
static std::string tilePointers(const std::string &name, const std::string &row,
                                const std::string &column, int rows, int columns,
                                const std::string &extentR, const std::string &extentC,
                                const std::string &leading, const std::string &type) {
  std::string text = R"(
  %NAMEr = tile.arange 0, ROWS : tensor<ROWSxi32>
  %NAMErs = tile.splat ROW : i32 -> tensor<ROWSxi32>
  %NAMEro = arith.addi %NAMErs, %NAMEr : tensor<ROWSxi32>
  %NAMEre = tile.expand_dims %NAMEro, 1 : tensor<ROWSxi32> -> tensor<ROWSx1xi32>
  %NAMEc = tile.arange 0, COLS : tensor<COLSxi32>
  %NAMEcs = tile.splat COL : i32 -> tensor<COLSxi32>
  %NAMEco = arith.addi %NAMEcs, %NAMEc : tensor<COLSxi32>
  %NAMEce = tile.expand_dims %NAMEco, 0 : tensor<COLSxi32> -> tensor<1xCOLSxi32>
  %NAMEl = tile.splat LEAD : i32 -> tensor<ROWSx1xi32>
  %NAMErl = arith.muli %NAMEre, %NAMEl : tensor<ROWSx1xi32>
  %NAMErb = tile.broadcast %NAMErl : tensor<ROWSx1xi32> -> tensor<ROWSxCOLSxi32>
  %NAMEcb = tile.broadcast %NAMEce : tensor<1xCOLSxi32> -> tensor<ROWSxCOLSxi32>
  %NAMEo = arith.addi %NAMErb, %NAMEcb : tensor<ROWSxCOLSxi32>
  %NAMEs = tile.splat %NAME : !tile.ptr<TYPE> -> tensor<ROWSxCOLSx!tile.ptr<TYPE>>
  %NAMEp = tile.addptr %NAMEs, %NAMEo : tensor<ROWSxCOLSx!tile.ptr<TYPE>>, tensor<ROWSxCOLSxi32>
  %NAMExr = tile.splat EXTR : i32 -> tensor<ROWSx1xi32>
  %NAMEmr = arith.cmpi slt, %NAMEre, %NAMExr : tensor<ROWSx1xi32>
  %NAMEmrb = tile.broadcast %NAMEmr : tensor<ROWSx1xi1> -> tensor<ROWSxCOLSxi1>
  %NAMExc = tile.splat EXTC : i32 -> tensor<1xCOLSxi32>
  %NAMEmc = arith.cmpi slt, %NAMEce, %NAMExc : tensor<1xCOLSxi32>
  %NAMEmcb = tile.broadcast %NAMEmc : tensor<1xCOLSxi1> -> tensor<ROWSxCOLSxi1>
  %NAMEm = arith.andi %NAMEmrb, %NAMEmcb : tensor<ROWSxCOLSxi1>
)";
  const std::pair<std::string, std::string> words[] = {{"NAME", name},
                                                       {"ROWS", std::to_string(rows)},
                                                       {"COLS", std::to_string(columns)},
                                                       {"ROW", row},
                                                       {"COL", column},
                                                       {"LEAD", leading},
                                                       {"EXTR", extentR},
                                                       {"EXTC", extentC},
                                                       {"TYPE", type}};
  for (const auto &[from, to] : words)
    text = replaceAll(text, from, to);
  return text;
}

std::string productText(const Product &p, bool aligned) {
  std::string m = std::to_string(p.m), n = std::to_string(p.n), k = std::to_string(p.k);
  std::string tileA = m + "x" + k, tileB = p.transposedB ? n + "x" + k : k + "x" + n,
              tileC = m + "x" + n;
  std::string text =
      "func.func @matmul(%a: !tile.ptr<T> {tile.divisibility = 16 : i32}, %b: "
      "!tile.ptr<T> {tile.divisibility = 16 : i32}, %c: !tile.ptr<ACC> "
      "{tile.divisibility = 16 : i32}, %M: i32 FACT, %N: i32 FACT, %K: i32 FACT)\n attributes "
      "{tile.kernel, tile.num_warps = " +
      std::to_string(p.warps) + " : i32} {\n";
  text += R"(
  %pm = tile.program_id 0 : i32
  %pn = tile.program_id 1 : i32
  %sm = arith.constant )" +
          m + R"( : i32
  %sn = arith.constant )" +
          n + R"( : i32
  %sk = arith.constant )" +
          k + R"( : i32
  %zero = arith.constant 0 : i32
  %m0 = arith.muli %pm, %sm : i32
  %n0 = arith.muli %pn, %sn : i32
  %acc0 = arith.constant dense<ZERO> : tensor<TILECxACC>
  %za = arith.constant dense<ZEROT> : tensor<TILEAxT>
  %zb = arith.constant dense<ZEROT> : tensor<TILEBxT>
  %acc = scf.for %k0 = %zero to %K step %sk iter_args(%sum = %acc0) -> (tensor<TILECxACC>) : i32 {)";
  text += tilePointers("a", "%m0", "%k0", p.m, p.k, "%M", "%K", "%K", p.operand);
  if (p.transposedB)
    text += tilePointers("b", "%n0", "%k0", p.n, p.k, "%N", "%K", "%K", p.operand);
  else
    text += tilePointers("b", "%k0", "%n0", p.k, p.n, "%K", "%N", "%N", p.operand);
  text += R"(
    %at = tile.load %ap mask %am other %za : (tensor<TILEAx!tile.ptr<T>>, tensor<TILEAxi1>, tensor<TILEAxT>) -> tensor<TILEAxT>
    %bt = tile.load %bp mask %bm other %zb : (tensor<TILEBx!tile.ptr<T>>, tensor<TILEBxi1>, tensor<TILEBxT>) -> tensor<TILEBxT>
)";
  std::string right = "%bt";
  if (p.transposedB) {
    text +=
        "    %btt = tile.trans %bt, [1, 0] : tensor<TILEBxT> -> tensor<" + k + "x" + n + "xT>\n";
    right = "%btt";
  }
  text += "    %d = tile.dot %at, " + right + ", %sum {precision = #tile.precision<" + p.precision +
          ">} : (tensor<TILEAxT>, tensor<" + k + "x" + n +
          "xT>, tensor<TILECxACC>) -> tensor<TILECxACC>\n    scf.yield %d : tensor<TILECxACC>\n  }";
  text += tilePointers("c", "%m0", "%n0", p.m, p.n, "%M", "%N", "%N", p.accumulator);
  text += "  tile.store %cp, %acc mask %cm : (tensor<TILECx!tile.ptr<ACC>>, tensor<TILECxACC>, "
          "tensor<TILECxi1>) -> ()\n  return\n}\n";
  bool integer = p.operand[0] == 'i';
  const std::pair<std::string, std::string> words[] = {
      {"FACT", aligned ? "{tile.divisibility = 16 : i32}" : ""},
      {"TILEA", tileA},
      {"TILEB", tileB},
      {"TILEC", tileC},
      {"ACC", p.accumulator},
      {"ZEROT", integer ? "0" : "0.0"},
      {"ZERO", integer ? "0" : "0.0"}};
  for (const auto &[from, to] : words)
    text = replaceAll(text, from, to);
  text = replaceAll(text, "xT>", "x" + p.operand + ">");
  return replaceAll(text, "<T>", "<" + p.operand + ">");
}

std::string vectorAddText(bool aligned) {
  return aligned ? replaceAll(vectorAdd, "%n: i32", "%n: i32 {tile.divisibility = 16 : i32}")
                 : vectorAdd;
}

} // namespace kiln::testing
