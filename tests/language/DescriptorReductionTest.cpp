// Reductions of blocks of described tensors: by the copy engine on GPUs that have one (TMA on
// sm_90a), as far as it has the operation, and by threads' atomics elsewhere. At the end mistakes
// that are put into target operations, of which each is found.

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "tests/language/ExactProduct.h"
#include "tests/language/Numbers.h"

using namespace mlir;

namespace kiln::testing {
namespace {

class DescriptorReduction : public SourceTest {
protected:
  /// Options that count the engine's reductions in `count`.
  static SourceOptions counting(unsigned &count) {
    SourceOptions options;
    options.edit = [&count](ModuleOp &module) {
      module.walk([&](NVVM::CpAsyncBulkTensorReduceOp) { ++count; });
    };
    return options;
  }
  bool hasEngine() const { return std::string(GetParam()) == "emu:sm_90a"; }
};

/// PTX ISA, "cp.reduce.async.bulk".
bool isOfEngine(const std::string &operation, const NumberType &type) {
  bool compares = operation == "min" || operation == "max";
  return !type.isFloat() || !compares || type.bits == 16;
}

uint64_t combined(const std::string &operation, const NumberType &type, uint64_t a, uint64_t b) {
  if (operation == "and")
    return a & b;
  if (operation == "or")
    return a | b;
  if (operation == "xor")
    return a ^ b;
  if (operation == "min")
    return type.decode(b) < type.decode(a) ? b : a;
  if (operation == "max")
    return type.decode(b) > type.decode(a) ? b : a;
  if (!type.isFloat())
    return type.bits == 64 ? a + b : uint32_t(a + b);
  // Rounded once.
  long double x = type.decode(a), y = type.decode(b);
  return type.encode(type.bits == 64 ? double(x) + double(y) : x + y);
}

/// The block of 16 x 32 at (r, c) of a tensor.
struct Place {
  int rows, columns, r, c;
  bool isInside(int row, int column) const {
    return row >= 0 && row < rows && column >= 0 && column < columns;
  }
};

TEST_P(DescriptorReduction, OfEveryTypeAndOperation) {
  constexpr int height = 16, width = 32, allRows = 21, stride = 48;
  // Rows of 37 elements end within a piece of 16 bytes, which the engine would write whole.
  const Place places[] = {{21, 48, 2, 16}, {21, 40, 8, 16}, {19, 37, 16, 32},
                          {17, 40, 16, 0}, {0, 0, 0, 0},    {21, 48, 24, 0}};
  const std::vector<std::pair<std::string, std::vector<std::string>>> table = {
      {"add", {"i32", "u32", "i64", "u64", "fp16", "bf16", "fp32", "fp64"}},
      {"min", {"i32", "u32", "i64", "u64", "fp16", "bf16", "fp32"}},
      {"max", {"i32", "u32", "i64", "u64", "fp16", "bf16", "fp32"}},
      {"and", {"i32", "u64"}},
      {"or", {"u32", "i64"}},
      {"xor", {"i32", "i64"}}};
  for (const auto &[operation, types] : table)
    for (const std::string &name : types) {
      const NumberType &type = NumberType::of(name);
      Array x = mixedArray(name, height * width, 12, 1e4, /*finite=*/true);
      unsigned count = 0;
      std::unique_ptr<SourceKernel> kernel;
      for (const Place &at : places) {
        Array y = mixedArray(name, allRows * stride, 13, 1e4, /*finite=*/true);
        // The order of zeros is open.
        for (Array *array : {&x, &y})
          for (size_t i = 0; i < array->count() && operation[0] == 'm'; ++i)
            if ((*array)[i] == 0)
              array->set(i, 3);
        std::vector<uint64_t> before;
        for (size_t i = 0; i < y.count(); ++i)
          before.push_back(y.bits(i));
        std::vector<SourceArgument> arguments = {x.argument("p"),       y.argument("q"),
                                                 {"M", "i32", at.rows}, {"N", "i32", at.columns},
                                                 {"r", "i32", at.r},    {"c", "i32:8", at.c}};
        if (!kernel)
          kernel = std::make_unique<SourceKernel>(R"(
@triton.jit
def kernel(p, q, M, N, r, c):
    i = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
    tl.assume(r >= 0)
    tl.assume(c >= 0)
    d = tl.make_tensor_descriptor(q, [M, N], [48, 1], [16, 32])
    d.atomic_)" + operation + R"(([r, c], tl.load(p + i))
)",
                                                  GetParam(), arguments,
                                                  std::vector<SourceConstant>(), counting(count));
        // Sums of floats depend on their order.
        unsigned programs = operation == "add" && type.isFloat() ? 1 : 2;
        ASSERT_EQ(kernel->errors(), "");
        ASSERT_EQ(kernel->run(arguments, {programs, 1, 1}), "") << operation << " of " << name;
        for (int i = 0; i < allRows * stride; ++i) {
          int row = i / stride, column = i % stride;
          uint64_t expected = before[size_t(i)];
          bool isCombined = at.isInside(row, column) && row >= at.r && row < at.r + height &&
                            column >= at.c && column < at.c + width;
          for (unsigned program = 0; program < programs && isCombined; ++program)
            expected = combined(operation, type, expected,
                                x.bits(size_t((row - at.r) * width + column - at.c)));
          ASSERT_EQ(y.bits(size_t(i)), expected)
              << operation << " of " << name << " at " << row << ", " << column;
        }
      }
      EXPECT_EQ(count != 0, hasEngine() && isOfEngine(operation, type))
          << operation << " of " << name;
    }
}

/// The engine writes nothing before the beginning.
TEST_P(DescriptorReduction, FromBeforeTheBeginning) {
  constexpr int rows = 16, columns = 32;
  Buffer<int32_t> q(rows * columns);
  unsigned count = 0;
  SourceOptions options = counting(count);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(q, r):
    i = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
    d = tl.make_tensor_descriptor(q, [16, 32], [32, 1], [16, 32])
    d.atomic_add([r, -4], i)
)",
                      GetParam(), {{"q", "*i32", q}, {"r", "i32", -3}}, {}, options),
            "");
  EXPECT_EQ(count, 0u);
  for (int i = 0; i < rows * columns; ++i) {
    int row = i / columns + 3, column = i % columns + 4;
    EXPECT_EQ(q[size_t(i)], row < rows && column < columns ? row * columns + column : 0);
  }
}

TEST_P(DescriptorReduction, OfBlocksOfEveryRank) {
  const std::vector<std::vector<int>> blocks = {{64},        {1024},        {2, 32},
                                                {64, 4},     {4, 512},      {2, 2, 32},
                                                {2, 1, 512}, {2, 2, 2, 16}, {1, 2, 1, 4, 16}};
  for (const std::vector<int> &block : blocks) {
    // A tensor that ends within the second block along each axis.
    size_t rank = block.size(), elements = 1, blockElements = 1;
    std::vector<int> extents(rank), strides(rank, 1);
    std::string shape, steps, extentsText, zeros, index = "0";
    for (size_t axis = rank; axis-- > 0;) {
      bool isLast = axis + 1 == rank;
      extents[axis] = block[axis] + (isLast ? 4 : 1);
      strides[axis] = int(elements);
      elements *= size_t(extents[axis]);
      // A coordinate of the block, by its number in the block.
      std::string subscript;
      for (size_t other = 0; other < rank; ++other)
        subscript += other == axis ? ":, " : "None, ";
      index += " + tl.arange(0, " + std::to_string(block[axis]) + ")[" + subscript + "] * " +
               std::to_string(blockElements);
      blockElements *= size_t(block[axis]);
    }
    for (size_t axis = 0; axis < rank; ++axis) {
      shape += std::to_string(block[axis]) + ", ";
      extentsText += std::to_string(extents[axis]) + ", ";
      steps += std::to_string(strides[axis]) + ", ";
    }
    std::string offsets;
    for (size_t axis = 0; axis < rank; ++axis)
      offsets +=
          "which // " + std::to_string(1 << axis) + " % 2 * " + std::to_string(block[axis]) + ", ";
    Buffer<uint32_t> q(elements);
    for (size_t i = 0; i < elements; ++i)
      q[i] = uint32_t(1000 * i);
    unsigned count = 0;
    SourceOptions options = counting(count);
    options.grid = {1u << rank, 1, 1};
    ASSERT_EQ(runSource("@triton.jit\ndef kernel(q):\n    which = tl.program_id(0)\n"
                        "    d = tl.make_tensor_descriptor(q, [" +
                            extentsText + "], [" + steps + "], [" + shape +
                            "])\n    d.atomic_add([" + offsets + "], (" + index +
                            " + 1).to(tl.uint32))\n",
                        GetParam(), {{"q", "*u32", q}}, {}, options),
              "")
        << shape;
    EXPECT_EQ(count != 0, hasEngine()) << shape;
    for (size_t i = 0; i < elements; ++i) {
      uint32_t expected = uint32_t(1000 * i) + 1;
      size_t rest = i;
      for (size_t axis = 0, unit; axis < rank; ++axis, rest %= unit) {
        unit = size_t(strides[axis]);
        int coordinate = int(rest / unit);
        uint32_t step = 1;
        for (size_t inner = axis + 1; inner < rank; ++inner)
          step *= uint32_t(block[inner]);
        expected += uint32_t(coordinate % block[axis]) * step;
        if (coordinate >= extents[axis]) {
          expected = uint32_t(1000 * i);
          break;
        }
      }
      ASSERT_EQ(q[i], expected) << shape << " at " << i;
    }
  }
}

/// Threads write before and read after, and the buffer that reductions go through is used again.
const std::string inOrder = R"(
@triton.jit
def kernel(q, out, N):
    i = tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :]
    d = tl.make_tensor_descriptor(q, [16, N], [64, 1], [16, 64])
    tl.store(q + i, i.to(tl.float32))
    for k in range(3):
        d.atomic_add([0, 0], (i + k).to(tl.float32))
    tl.store(out + i, tl.load(q + i))
    tl.store(q + i, 1.0)
    d.atomic_add([0, 0], i.T.reshape(16, 64).to(tl.float32))
)";

std::string runInOrder(const char *target, const SourceOptions &options) {
  constexpr int rows = 16, columns = 64, end = 52;
  Buffer<float> q(rows * columns), out(rows * columns);
  std::string found = runSource(
      inOrder, target, {{"q", "*fp32", q}, {"out", "*fp32", out}, {"N", "i32", end}}, {}, options);
  for (int i = 0; i < rows * columns && found.empty(); ++i) {
    bool isInside = i % columns < end;
    float first = float(isInside ? 4 * i + 3 : i),
          transposed = float(i % rows * columns + i / rows);
    if (out[size_t(i)] != first || q[size_t(i)] != (isInside ? 1 + transposed : 1))
      found = "wrong at " + std::to_string(i);
  }
  return found;
}

TEST_P(DescriptorReduction, InOrderWithThreads) {
  unsigned count = 0;
  EXPECT_EQ(runInOrder(GetParam(), counting(count)), "");
  EXPECT_EQ(count != 0, hasEngine());
}

/// Each product is the sum of what two programs have of it; `tiles` of them one after another.
const std::string splitProduct = R"(
@triton.jit
def kernel(pa, pb, pc, M, N, K, sa, sb, sc, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    a = tl.make_tensor_descriptor(pa, [M, K], [sa, 1], [64, BK])
    b = tl.make_tensor_descriptor(pb, [N, K], [sb, 1], [64, BK])
    c = tl.make_tensor_descriptor(pc, [M, N], [sc, 1], [64, 64])
    columns = tl.cdiv(N, 64)
    for tile in range(tl.program_id(0), tl.cdiv(M, 64) * columns, PROGRAMS):
        m = tile // columns * 64
        n = tile % columns * 64
        sum = tl.zeros((64, 64), tl.float32)
        for k in range(tl.program_id(1) * BK, K, 2 * BK):
            sum = tl.dot(a.load([m, k]), b.load([n, k]).T, sum)
        c.atomic_add([m, n], sum)
)";

TEST_P(DescriptorReduction, OfProducts) {
  for (int programs : {1, 4})
    for (int n : {70, 72}) {
      ExactProduct product(93, n, 170, /*transposed=*/true);
      ASSERT_EQ(runSource(splitProduct, GetParam(), product.arguments(),
                          {{"BK", 32}, {"PROGRAMS", programs}},
                          {.grid = {unsigned(programs), 2, 1}}),
                "");
      EXPECT_EQ(product.wrong(), "") << programs << ", " << n;
    }
}

INSTANTIATE_TEST_SUITE_P(, DescriptorReduction,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

//===-- mistakes
//-----------------------------------------------------------------------------------===//

template <typename OpT> std::vector<OpT> all(ModuleOp &module) {
  std::vector<OpT> ops;
  module.walk([&](OpT op) { ops.push_back(op); });
  return ops;
}

std::string runWith(std::function<void(ModuleOp &)> edit) {
  SourceOptions options;
  options.edit = std::move(edit);
  return runInOrder("emu:sm_90a", options);
}

TEST(DescriptorReductionBugs, NoFenceBeforeAReduction) {
  EXPECT_NE(runWith([](ModuleOp &module) {
              auto fences = all<NVVM::FenceProxyOp>(module);
              ASSERT_FALSE(fences.empty());
              for (NVVM::FenceProxyOp fence : fences)
                fence.erase();
            }).find("expected fence.proxy.async"),
            std::string::npos);
}

TEST(DescriptorReductionBugs, NoWaitBeforeTheBufferIsUsedAgain) {
  EXPECT_NE(runWith([](ModuleOp &module) {
              auto waits = all<NVVM::CpAsyncBulkWaitGroupOp>(module);
              ASSERT_FALSE(waits.empty());
              waits.front().erase();
            }).find("that has not been waited for"),
            std::string::npos);
}

/// Shared memory has been read then, but what threads load next is not there.
TEST(DescriptorReductionBugs, AWaitForTheReadAlone) {
  EXPECT_NE(runWith([](ModuleOp &module) {
              for (NVVM::CpAsyncBulkWaitGroupOp wait : all<NVVM::CpAsyncBulkWaitGroupOp>(module))
                wait.setReadAttr(UnitAttr::get(module.getContext()));
            }),
            "");
}

TEST(DescriptorReductionBugs, NoBarrierBeforeAReduction) {
  EXPECT_NE(runWith([](ModuleOp &module) {
              Operation *op = all<NVVM::FenceProxyOp>(module).front();
              while (!isa<NVVM::Barrier0Op>(op))
                op = op->getNextNode();
              op->erase();
            }),
            "");
}

} // namespace
} // namespace kiln::testing
