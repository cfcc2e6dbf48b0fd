// Matrix products with masks, a loop over k and odd sizes: on matrix units and by multiply-adds.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

namespace kiln::testing {
namespace {

/// Tile extents, and the types of operands and accumulator.
struct Product {
  const char *name;
  int m, n, k, warps;
  std::string operand, accumulator, precision;
  bool transposedB = false;
};

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// One operand's tile of rows x columns at (row, column) of a matrix of extents (%R, %C), row-major
/// with leading dimension %L: pointers %NAMEp and mask %NAMEm.
std::string tilePointers(const std::string &name, const std::string &row, const std::string &column,
                         int rows, int columns, const std::string &extentR,
                         const std::string &extentC, const std::string &leading,
                         const std::string &type) {
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

std::string kernelText(const Product &p) {
  std::string m = std::to_string(p.m), n = std::to_string(p.n), k = std::to_string(p.k);
  std::string tileA = m + "x" + k, tileB = p.transposedB ? n + "x" + k : k + "x" + n,
              tileC = m + "x" + n;
  std::string text = "func.func @matmul(%a: !tile.ptr<T> {tile.divisibility = 16 : i32}, %b: "
                     "!tile.ptr<T> {tile.divisibility = 16 : i32}, %c: !tile.ptr<ACC> "
                     "{tile.divisibility = 16 : i32}, %M: i32, %N: i32, %K: i32)\n attributes "
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
  const std::pair<std::string, std::string> words[] = {{"TILEA", tileA},
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

/// A matrix of elements of a type, as bytes.
struct Matrix {
  Matrix(int rows, int columns, const std::string &type, Random *random)
      : type(type), columns(columns), bytes(rows * columns * width()) {
    for (int i = 0; i < rows * columns && random; ++i)
      set(i, type[0] == 'i' ? double(int(random->below(200)) - 100) : random->next());
  }
  unsigned width() const {
    return type == "i8" ? 1 : type == "f16" || type == "bf16" ? 2 : type == "f64" ? 8 : 4;
  }
  Format format() const {
    return type == "f16"    ? Format::F16
           : type == "bf16" ? Format::BF16
           : type == "f64"  ? Format::F64
                            : Format::F32;
  }
  void set(int i, double value) {
    uint64_t bits = type[0] == 'i' ? uint64_t(int64_t(value)) : encode(value, format());
    std::memcpy(bytes.data() + i * width(), &bits, width());
  }
  double get(int i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width(), width());
    return type[0] == 'i' ? double(signExtend(bits, width() * 8)) : decode(bits, format());
  }
  double at(int row, int column) { return get(row * columns + column); }

  std::string type;
  int columns;
  Buffer<uint8_t> bytes;
};

class DotExecution : public ::testing::TestWithParam<std::tuple<const char *, Product>> {};

void check(CompiledKernel &kernel, const Product &p, int m, int n, int k) {
  Random random(m + n + k);
  Matrix a(m, k, p.operand, &random),
      b(p.transposedB ? n : k, p.transposedB ? k : n, p.operand, &random),
      c(m, n, p.accumulator, nullptr);
  for (Matrix *matrix : {&a, &b, &c})
    kernel.use(matrix->bytes);
  ASSERT_EQ(kernel.run({a.bytes.argument(), b.bytes.argument(), c.bytes.argument(), uint64_t(m),
                        uint64_t(n), uint64_t(k)},
                       {uint32_t((m + p.m - 1) / p.m), uint32_t((n + p.n - 1) / p.n), 1}),
            "");
  bool rounded = p.precision == "tf32" && p.operand == "f32";
  double tolerance = p.accumulator == "i32"   ? 0
                     : p.accumulator == "f64" ? 1e-13
                     : p.accumulator == "f16" ? 2e-2
                     : rounded                ? 4e-3
                                              : 1e-5;
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0, size = 1;
      for (int i = 0; i < k; ++i) {
        double product = a.at(row, i) * (p.transposedB ? b.at(column, i) : b.at(i, column));
        sum += product;
        size += std::fabs(product);
      }
      ASSERT_NEAR(c.at(row, column), sum, tolerance * size) << row << ", " << column;
    }
}

TEST_P(DotExecution, MatchesAReference) {
  auto [target, product] = GetParam();
  CompiledKernel kernel(kernelText(product), target);
  ASSERT_EQ(kernel.errors, "") << kernelText(product);
  check(kernel, product, product.m + 3, product.n + 1, 2 * product.k + 5);
  check(kernel, product, product.m, product.n, product.k);
  check(kernel, product, 1, 7, 3);
  bool hasUnit = (product.operand == "f16" || product.operand == "bf16") && product.m >= 16;
  if (hasUnit)
    EXPECT_GT(kernel.interpreter().counts.matrixInstructions, 0u);
}

const Product products[] = {
    {"f16", 64, 64, 32, 4, "f16", "f32", "tf32"},
    {"f16_wide", 32, 128, 64, 8, "f16", "f32", "tf32"},
    {"f16_transposed", 64, 32, 64, 4, "f16", "f32", "tf32", true},
    {"bf16", 32, 64, 32, 4, "bf16", "f32", "tf32"},
    {"f16_one_warp", 16, 16, 16, 1, "f16", "f32", "tf32"},
    {"f16_surplus_warps", 16, 16, 16, 4, "f16", "f32", "tf32"},
    {"f32_tf32", 32, 32, 32, 4, "f32", "f32", "tf32"},
    {"f32_exact", 32, 32, 16, 4, "f32", "f32", "ieee"},
    {"f64", 16, 16, 16, 4, "f64", "f64", "ieee"},
    {"i8", 32, 32, 32, 4, "i8", "i32", "ieee"},
    {"f16_small", 4, 8, 8, 4, "f16", "f32", "tf32"},
    {"f16_accumulator", 32, 32, 32, 4, "f16", "f16", "tf32"},
};

INSTANTIATE_TEST_SUITE_P(AllTargets, DotExecution,
                         ::testing::Combine(::testing::ValuesIn(testTargets),
                                            ::testing::ValuesIn(products)),
                         [](const auto &info) {
                           return llvm::StringRef(std::get<0>(info.param)).split(':').second.str() +
                                  "_" + std::get<1>(info.param).name;
                         });

} // namespace
} // namespace kiln::testing
