// Matrix products with masks, a loop over k and odd sizes: on matrix units and by multiply-adds.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/SampleKernels.h"

namespace kiln::testing {
namespace {

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

void check(CompiledKernel &kernel, const Product &p, int m, int n, int k,
           uint64_t &matrixInstructions) {
  Random random(m + n + k);
  Matrix a(m, k, p.operand, &random),
      b(p.transposedB ? n : k, p.transposedB ? k : n, p.operand, &random),
      c(m, n, p.accumulator, nullptr);
  for (Matrix *matrix : {&a, &b, &c})
    kernel.use(matrix->bytes);
  matrixInstructions += instructionsOf(
      kernel.count({a.bytes.argument(), b.bytes.argument(), c.bytes.argument(), uint64_t(m),
                    uint64_t(n), uint64_t(k)},
                   {uint32_t((m + p.m - 1) / p.m), uint32_t((n + p.n - 1) / p.n), 1}),
      "matrix");
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
  CompiledKernel kernel(productText(product), target);
  ASSERT_EQ(kernel.errors, "") << productText(product);
  uint64_t matrixInstructions = 0;
  check(kernel, product, product.m + 3, product.n + 1, 2 * product.k + 5, matrixInstructions);
  check(kernel, product, product.m, product.n, product.k, matrixInstructions);
  check(kernel, product, 1, 7, 3, matrixInstructions);
  int rows = llvm::StringRef(target).contains("sm_") ? 8 : 16;
  bool hasUnit = (product.operand == "f16" || product.operand == "bf16") && product.m >= rows;
  if (hasUnit)
    EXPECT_GT(matrixInstructions, 0u);
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
    {"f16_few_rows", 8, 32, 32, 4, "f16", "f32", "tf32"},
    {"bf16_few_rows", 8, 128, 64, 2, "bf16", "f32", "tf32", true},
    {"f32_few_rows", 8, 16, 16, 4, "f32", "f32", "tf32"},
    {"i8_few_rows", 8, 64, 32, 4, "i8", "i32", "ieee"},
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
