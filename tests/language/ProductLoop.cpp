#include "tests/language/ProductLoop.h"

#include "mlir/IR/BuiltinOps.h"
#include <cmath>

namespace kiln::testing {

std::string ProductForm::describe() const {
  std::string text = type + " -> " + resultType + ", tiles of " + std::to_string(m) + " x " +
                     std::to_string(n) + " x " + std::to_string(k);
  for (auto [holds, word] : {std::pair(columnsA, ", A by columns"),
                             {columnsB, ", B by columns"},
                             {transposedA, ", A transposed"},
                             {transposedB, ", B transposed"},
                             {!masked, ", no masks"},
                             {!aligned, ", not aligned"}})
    text += holds ? word : "";
  text += ", " + ofX + ", " + ofY + options + ", " + std::to_string(warps) + " warps, " +
          std::to_string(stages) + " stages";
  if (iterations)
    text += ", " + std::to_string(iterations) + " iterations";
  return loopStages ? text + ", the loop " + std::to_string(loopStages) : text;
}

static std::string sourceOf(const ProductForm &form) {
  // Rows and columns of a tile, as it is loaded.
  auto load = [&](const char *name, const char *rows, const char *columns, bool transposed,
                  const char *row, const char *column) {
    auto spread = [&](bool isFirst) { return isFirst ? "[:, None]" : "[None, :]"; };
    std::string first = std::string(rows) + spread(!transposed),
                second = std::string(columns) + spread(transposed);
    std::string pointers = std::string("    p") + name + " = " + name + " + " + first + " * " +
                           row + " + " + second + " * " + column + "\n";
    auto below = [&](const char *index, const std::string &shaped) {
      return index[0] == 'l' ? "(" + shaped + " < k - start)"
                             : "(" + shaped + " < " + (index[0] == 'i' ? "m" : "n") + ")";
    };
    std::string mask =
        ", mask=" + below(rows, first) + " & " + below(columns, second) + ", other=0";
    std::string tile = std::string("tl.load(p") + name + (form.masked ? mask : std::string()) + ")";
    return std::pair(pointers, transposed ? "tl.trans(" + tile + ")" : tile);
  };
  auto [pointersA, tileA] = load("a", "i", "l", form.transposedA, "am", "ak");
  auto [pointersB, tileB] = load("b", "l", "j", form.transposedB, "bk", "bn");
  std::string end = form.iterations ? std::to_string(form.iterations) + " * K" : "k";
  std::string range =
      form.loopStages
          ? "tl.range(0, " + end + ", K, num_stages=" + std::to_string(form.loopStages) + ")"
          : "range(0, " + end + ", K)";
  return R"(
@triton.jit
def kernel(a, b, c, m, n, k, am, ak, bk, bn, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    l = tl.arange(0, K)
)" + pointersA +
         pointersB + "    sum = tl.zeros((M, N), c.dtype.element_ty)\n    for start in " + range +
         ":\n        x = " + tileA + "\n        y = " + tileB + "\n        sum = tl.dot(" +
         form.ofX + ", " + form.ofY + ", sum" + form.options + R"()
        pa += K * ak
        pb += K * bk
    tl.store(c + i[:, None] * n + j[None, :], sum, mask=(i[:, None] < m) & (j[None, :] < n))
)";
}

//===-- memory
//-------------------------------------------------------------------------------------===//

/// Numbers of moderate size that the type has.
static Array factors(const std::string &type, size_t count, uint64_t seed) {
  return NumberType::of(type).isFloat() ? uniformArray(type, count, seed, -2, 2)
                                        : mixedArray(type, count, seed);
}

/// A matrix in one of the two orders; its lines are `stride` apart.
struct StoredMatrix {
  StoredMatrix(const std::string &type, int rows, int columns, bool byColumns, bool aligned,
               uint64_t seed)
      : byColumns(byColumns), stride(aligned ? ((byColumns ? rows : columns) + 15) / 16 * 16 + 16
                                             : (byColumns ? rows : columns) + 3),
        values(factors(type, size_t(stride) * (byColumns ? columns : rows) + 16, seed)),
        decoded(values.count()) {
    for (size_t place = 0; place < decoded.size(); ++place)
      decoded[place] = double(values[place]);
  }

  double at(int row, int column) const {
    return decoded[byColumns ? column * stride + row : row * stride + column];
  }
  int rowStride() const { return byColumns ? 1 : stride; }
  int columnStride() const { return byColumns ? stride : 1; }

  bool byColumns;
  int stride;
  Array values;
  std::vector<double> decoded;
};

struct ProductLoop::Matrices {
  Matrices(const ProductForm &form, int m, int n, int k)
      : m(m), n(n), k(k), a(form.type, rounded(m, form.m, form), rounded(k, form.k, form),
                            form.columnsA, form.aligned, 1 + k),
        b(form.type, rounded(k, form.k, form), rounded(n, form.n, form), form.columnsB,
          form.aligned, 2 + k),
        c(form.resultType, size_t(m) * n) {}

  /// Without masks whole tiles are read.
  static int rounded(int extent, int tile, const ProductForm &form) {
    return form.masked ? extent : (extent + tile - 1) / tile * tile;
  }

  int m, n, k;
  StoredMatrix a, b;
  Array c;
};

std::vector<SourceArgument> ProductLoop::arguments(const Matrices &at) const {
  std::string extent = form.aligned ? "i32:16" : "i32";
  auto stride = [&](int value) { return value == 1 ? "i32:1" : extent; };
  std::vector<SourceArgument> list = {at.a.values.argument("a"), at.b.values.argument("b"),
                                      at.c.argument("c")};
  for (auto [name, value] : {std::pair("m", at.m), {"n", at.n}, {"k", at.k}})
    list.emplace_back(name, extent, value);
  for (auto [name, value] : {std::pair("am", at.a.rowStride()),
                             {"ak", at.a.columnStride()},
                             {"bk", at.b.rowStride()},
                             {"bn", at.b.columnStride()}})
    list.emplace_back(name, stride(value), value);
  return list;
}

//===-- the kernel
//---------------------------------------------------------------------------------===//

ProductLoop::ProductLoop(const ProductForm &form, const std::string &target,
                         const std::function<void(mlir::ModuleOp &)> &edit)
    : form(form) {
  SourceOptions options;
  options.numWarps = form.warps;
  options.numStages = form.stages;
  options.matrixSize = form.matrixSize;
  options.kPack = form.kPack;
  options.smallArrays = form.smallArrays;
  options.edit = [&](mlir::ModuleOp &module) {
    module.walk([&](mlir::Operation *op) {
      llvm::StringRef name = op->getName().getStringRef();
      copies |= name == "nvvm.cp.async.shared.global" || name == "tilegpu.warp_copy" ||
                name == "tilegpu.warp_buffer_copy" ||
                name == "nvvm.cp.async.bulk.tensor.shared.cluster.global";
    });
    if (edit)
      edit(module);
  };
  kernel = std::make_unique<SourceKernel>(
      sourceOf(form), target, arguments(Matrices(form, form.m, form.n, form.k)),
      std::vector<SourceConstant>{{"M", form.m}, {"N", form.n}, {"K", form.k}}, options);
}

std::string ProductLoop::run(int m, int n, int k) const {
  Matrices at(form, m, n, k);
  std::string found = kernel->run(
      arguments(at), {uint32_t((m + form.m - 1) / form.m), uint32_t((n + form.n - 1) / form.n), 1});
  std::vector<std::vector<double>> rowsOfB(k, std::vector<double>(n));
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j)
      rowsOfB[l][j] = at.b.at(l, j);
  for (int i = 0; i < m; ++i) {
    std::vector<double> sums(n), scales(n);
    for (int l = 0; l < k; ++l) {
      double factor = at.a.at(i, l) * form.factorX * form.factorY;
      for (int j = 0; j < n; ++j) {
        double term = factor * rowsOfB[l][j];
        sums[j] += term;
        scales[j] += std::fabs(term);
      }
    }
    for (int j = 0; j < n; ++j) {
      double got = double(at.c[size_t(i) * n + j]);
      if (!(std::fabs(got - sums[j]) <= form.tolerance * scales[j]))
        return found + "wrong at " + std::to_string(i) + ", " + std::to_string(j) + ": " +
               std::to_string(got) + ", not " + std::to_string(sums[j]) + "\n";
    }
  }
  return found;
}

void ProductLoop::check(int m, int n, int k) const {
  EXPECT_EQ(run(m, n, k), "") << form.describe() << ": " << m << " x " << n << " x " << k;
}

void ProductLoop::checkTrips(int trips) const {
  for (int trip = 0; trip <= trips && !::testing::Test::HasFailure(); ++trip) {
    int less = !form.masked ? 0 : form.aligned ? 16 : 5;
    int k = std::max(trip * form.k - (trip % 2 && form.k > less ? less : 0), 0);
    check(form.aligned ? form.m : form.m + 3, form.aligned ? form.n + 16 : form.n - 1, k);
  }
}

} // namespace kiln::testing
