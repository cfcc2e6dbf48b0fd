// Tensor descriptors and block pointers: accesses at the borders for every rank, atomics, gathered
// and scattered rows, and their way through functions, conditionals and loops.

#include "tests/language/Numbers.h"
#include "tests/language/Outputs.h"

namespace kiln::testing {
namespace {

KILN_COVERS("tl.make_tensor_descriptor tl._descriptor_atomic_add tl._descriptor_atomic_min "
            "tl._descriptor_atomic_max tl._descriptor_atomic_and tl._descriptor_atomic_or "
            "tl._descriptor_atomic_xor tl._descriptor_gather tl._descriptor_scatter "
            "tl.load_tensor_descriptor tl.store_tensor_descriptor tl.make_block_ptr tl.advance");

class Descriptor : public SourceTest {};

std::vector<float> randomFloats(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  Random random(seed);
  for (float &value : values)
    value = float(random.next());
  return values;
}

TEST_P(Descriptor, BordersOfEveryRank) {
  // A tensor of 3 in each outer axis and 13 in the last, in rows of 16; blocks of 2 … 2, 8.
  for (int rank = 1; rank <= 5; ++rank) {
    std::string shape, strides, block, offsets, index = "0";
    int rows = 1;
    for (int axis = 0; axis + 1 < rank; ++axis) {
      int stride = 16;
      for (int inner = axis + 2; inner < rank; ++inner)
        stride *= 3;
      shape += "3, ";
      strides += std::to_string(stride) + ", ";
      block += "2, ";
      offsets += "o, ";
      rows *= 3;
    }
    std::string source = R"(
@triton.jit
def kernel(p, out, o, c, PADDING: tl.constexpr):
    source = tl.make_tensor_descriptor(p, [)" +
                         shape + "13], [" + strides + "1], [" + block +
                         R"(8], padding_option=PADDING)
    target = tl.make_tensor_descriptor(out, [)" +
                         shape + "13], [" + strides + "1], [" + block +
                         R"(8])
    assert source.block_shape == [)" +
                         block + R"(8]
    tl.static_assert(source.dtype == tl.float32 and len(source.shape) == )" +
                         std::to_string(rank) + R"()
    x = source.load([)" + offsets +
                         R"(c])
    x = tl.where(x != x, 5.0, x + 1)
    target.store([)" + offsets +
                         R"(c], x)
)";
    Buffer<float> x(randomFloats(size_t(rows) * 16, uint64_t(rank)));
    for (int o : {0, 2, -1})
      for (int c : {0, 8, -4}) {
        std::vector<float> out =
            outputsOf<float>(source, GetParam(), "fp32", size_t(rows) * 16,
                             {{"p", "*fp32", x}, {"o", "i32", o}, {"c", "i32", c}},
                             {{"PADDING", o == 2 ? "nan" : "zero"}});
        for (int row = 0; row < rows; ++row)
          for (int column = 0; column < 16; ++column) {
            bool inside = column < 13 && column >= c && column < c + 8;
            for (int rest = row, axis = 0; axis + 1 < rank; ++axis, rest /= 3)
              inside = inside && rest % 3 >= o && rest % 3 < o + 2;
            size_t at = size_t(row) * 16 + size_t(column);
            ASSERT_EQ(out[at], inside ? x[at] + 1 : 0)
                << "rank " << rank << " at " << row << ", " << column << " from " << o << ", " << c;
          }
      }
  }
}

/// Whether an element of the block at (r, c) is in a tensor of `rows` and `columns`.
bool isInside(int rows, int columns, int row, int column) {
  return row >= 0 && row < rows && column >= 0 && column < columns;
}

/// Accesses of 16 bytes, through which the last axis may end anywhere, of every element type: a
/// block is copied to where it comes from in another tensor, and to a dense one.
TEST_P(Descriptor, BoundsWithinVectors) {
  constexpr int height = 4, width = 32, stride = 48, allRows = 6;
  const std::string source = R"(
@triton.jit
def kernel(p, q, block, rows, columns, r, c, STEP: tl.constexpr, POINTERS: tl.constexpr):
    i = tl.arange(0, 4)[:, None] * 32 + tl.arange(0, 32)[None, :]
    c *= STEP
    if POINTERS:
        a = tl.make_block_ptr(p, (rows, columns), (48, 1), (r, c), (4, 32), (1, 0))
        b = tl.make_block_ptr(q, (rows, columns), (48, 1), (r, c), (4, 32), (1, 0))
        x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
        tl.store(b, x, boundary_check=(0, 1))
    else:
        a = tl.make_tensor_descriptor(p, [rows, columns], [48, 1], [4, 32])
        b = tl.make_tensor_descriptor(q, [rows, columns], [48, 1], [4, 32])
        x = a.load([r, c])
        b.store([r, c], x)
    tl.store(block + i, x)
)";
  struct Place {
    int rows, columns, r, c;
  };
  const Place places[] = {{6, 48, 1, 16}, {6, 37, 0, 16}, {5, 37, 3, 32},  {6, 35, -2, 0},
                          {3, 7, 0, 0},   {6, 33, 2, 32}, {6, 40, 0, -16}, {6, 48, 7, 0},
                          {6, 41, 0, 48}, {0, 0, 0, 0},   {6, 19, 5, -16}};
  std::vector<std::string> types(integerTypes);
  types.insert(types.end(), floatTypes.begin(), floatTypes.end());
  types.insert(types.end(), float8Types.begin(), float8Types.end());
  types.emplace_back("i1");
  for (const std::string &type : types)
    for (auto [step, pointers] : {std::pair(16, false), {16, true}, {1, false}}) {
      Array x = mixedArray(type, allRows * stride, 21);
      std::unique_ptr<SourceKernel> kernel;
      for (const Place &at : places) {
        Array y(type, x.count()), block(type, height * width);
        std::vector<SourceArgument> arguments = {x.argument("p"),
                                                 y.argument("q"),
                                                 block.argument("block"),
                                                 {"rows", "i32", at.rows},
                                                 {"columns", "i32", at.columns},
                                                 {"r", "i32", at.r},
                                                 {"c", "i32", at.c / step}};
        if (!kernel)
          kernel = std::make_unique<SourceKernel>(
              source, GetParam(), arguments,
              std::vector<SourceConstant>{{"STEP", step}, {"POINTERS", pointers}});
        ASSERT_EQ(kernel->errors(), "");
        ASSERT_EQ(kernel->run(arguments), "") << type;
        for (int i = 0; i < height * width; ++i) {
          int row = at.r + i / width, column = at.c + i % width;
          bool inside = isInside(at.rows, at.columns, row, column);
          ASSERT_EQ(block.bits(size_t(i)), inside ? x.bits(size_t(row * stride + column)) : 0)
              << type << " at " << row << ", " << column << " of " << at.rows << ", " << at.columns;
        }
        for (int i = 0; i < allRows * stride; ++i) {
          int row = i / stride, column = i % stride;
          bool stored = isInside(at.rows, at.columns, row, column) &&
                        isInside(height, width, row - at.r, column - at.c);
          ASSERT_EQ(y.bits(size_t(i)), stored ? x.bits(size_t(i)) : 0)
              << type << " at " << row << ", " << column << " of " << at.rows << ", " << at.columns;
        }
      }
    }
}

TEST_P(Descriptor, PaddingIsZeroOrNaN) {
  std::vector<float> out = outputsOf<float>(
      R"(
@triton.jit
def kernel(p, out, PADDING: tl.constexpr):
    d = tl.make_tensor_descriptor(p, [2, 3], [4, 1], [4, 4], PADDING)
    x = tl.load_tensor_descriptor(d, [0, 0])
    x = tl.where(x != x, 9.0, x)
    o = tl.make_tensor_descriptor(out, [4, 4], [4, 1], [4, 4])
    tl.store_tensor_descriptor(o, [0, 0], x)
)",
      GetParam(), "fp32", 16, {{"p", "*fp32", Buffer<float>({1, 2, 3, 4, 5, 6, 7, 8})}},
      {{"PADDING", "nan"}});
  EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 9, 5, 6, 7, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
}

TEST_P(Descriptor, AtomicsOnBlocks) {
  const char *names[] = {"add", "min", "max", "and", "or", "xor"};
  for (const char *name : names) {
    Buffer<uint32_t> x(4 * 16), y(4 * 16);
    Random random(11);
    for (size_t i = 0; i < x.count(); ++i) {
      x[i] = uint32_t(random.bits());
      y[i] = uint32_t(random.bits());
    }
    std::vector<uint32_t> before(y.data(), y.data() + y.count());
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q):
    i = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    d = tl.make_tensor_descriptor(q, [3, 13], [16, 1], [4, 16])
    d.atomic_)" + std::string(name) +
                            R"(([0, 0], tl.load(p + i))
)",
                        GetParam(), {{"p", "*u32", x}, {"q", "*u32", y}}, {}, {{2, 1, 1}}),
              "");
    for (size_t i = 0; i < x.count(); ++i) {
      uint32_t expected = before[i];
      if (i / 16 < 3 && i % 16 < 13)
        for (int program = 0; program < 2; ++program)
          expected = name == names[0]   ? expected + x[i]
                     : name == names[1] ? std::min(expected, x[i])
                     : name == names[2] ? std::max(expected, x[i])
                     : name == names[3] ? expected & x[i]
                     : name == names[4] ? expected | x[i]
                                        : expected ^ x[i];
      ASSERT_EQ(y[i], expected) << name << " at " << i;
    }
  }
}

/// Of every type that Triton's descriptors combine: signs count, and halves compare as floats.
TEST_P(Descriptor, AtomicMinimaAndMaximaOfEveryType) {
  for (std::string type : {"i32", "u32", "i64", "u64", "fp16", "bf16"})
    for (std::string name : {"min", "max"}) {
      Array x = mixedArray(type, 4 * 16, 12, 1e4, /*finite=*/true),
            y = mixedArray(type, 4 * 16, 13, 1e4, /*finite=*/true);
      // Equal magnitudes of both signs, but no zeros, whose order is open.
      for (size_t i = 0; i < x.count(); ++i)
        if (x[i] == 0 || y[i] == 0) {
          x.set(i, 3);
          y.set(i, type[0] == 'u' ? 4 : -3);
        }
      std::vector<long double> before;
      for (size_t i = 0; i < y.count(); ++i)
        before.push_back(y[i]);
      ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q):
    i = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    d = tl.make_tensor_descriptor(q, [3, 13], [16, 1], [4, 16])
    d.atomic_)" + name + R"(([0, 0], tl.load(p + i))
)",
                          GetParam(), {x.argument("p"), y.argument("q")}, {}, {{2, 1, 1}}),
                "");
      for (size_t i = 0; i < x.count(); ++i) {
        bool isInside = i / 16 < 3 && i % 16 < 13;
        long double expected = !isInside       ? before[i]
                               : name == "min" ? std::min(before[i], x[i])
                                               : std::max(before[i], x[i]);
        ASSERT_EQ(y[i], expected) << name << " of " << type << " at " << i;
      }
    }
}

TEST_P(Descriptor, RowsGatheredAndScattered) {
  constexpr int rows = 6, columns = 24;
  Buffer<float> x(randomFloats(rows * columns, 5)), y(rows * columns);
  Buffer<int32_t> indices({3, 0, 5, 6, -1, 3, 2, 100}), places({5, 1, 7, 0, 2, -2, 3, 4});
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, indices, places, column):
    i = tl.arange(0, 8)
    source = tl.make_tensor_descriptor(p, [6, 21], [24, 1], [1, 8])
    target = tl.make_tensor_descriptor(q, [6, 21], [24, 1], [1, 8])
    rows = source.gather(tl.load(indices + i), column)
    tl.static_assert(rows.shape == [8, 8])
    target.scatter(rows + 1, tl.load(places + i), column)
)",
                      GetParam(),
                      {{"p", "*fp32", x},
                       {"q", "*fp32", y},
                       {"indices", "*i32", indices},
                       {"places", "*i32", places},
                       {"column", "i32", 16}}),
            "");
  std::vector<float> expected(rows * columns);
  for (size_t i = 0; i < 8; ++i)
    for (int c = 16; c < 21; ++c) {
      int from = indices[i], to = places[i];
      if (to >= 0 && to < rows)
        expected[size_t(to * columns + c)] =
            1 + (from >= 0 && from < rows ? x[size_t(from * columns + c)] : 0);
    }
  EXPECT_EQ(std::vector<float>(y.data(), y.data() + y.count()), expected);
}

TEST_P(Descriptor, ThroughFunctionsBranchesAndLoops) {
  Buffer<float> x(randomFloats(8 * 16, 6));
  std::vector<float> out =
      outputsOf<float>(R"(
@triton.jit
def make(p, rows, n):
    return tl.make_tensor_descriptor(p, [rows, n], [n, 1], [4, 4])

@triton.jit
def twice(d, row, column):
    return d.load([row, column]) * 2

@triton.jit
def kernel(p, out, n):
    a = make(p, 8, n)
    b = make(p + 4 * n, 4, n)
    if n > 100:
        d = b
    else:
        d = a
    acc = tl.zeros((4, 4), tl.float32)
    for k in range(0, n, 4):
        acc += twice(d, 0, k)
        # The descriptor changes on the way.
        if k == 4:
            d = b
    o = make(out, 4, 4)
    o.store([0, 0], acc)
)",
                       GetParam(), "fp32", 16, {{"p", "*fp32", x}, {"n", "i32:16", 16}});
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) {
      double sum = 0;
      for (int k = 0; k < 16; k += 4)
        sum += 2 * double(x[size_t((r + (k > 4 ? 4 : 0)) * 16 + k + c)]);
      EXPECT_NEAR(out[size_t(r * 4 + c)], sum, 1e-5);
    }
}

/// What changes on the way: all of a descriptor in a loop that may not run, one of a tuple, and the
/// numbers that are asked of it.
TEST_P(Descriptor, ThroughWhileLoopsAndTuples) {
  Buffer<float> x(randomFloats(12 * 8, 7));
  for (int n : {0, 1, 3}) {
    std::vector<float> out =
        outputsOf<float>(R"(
@triton.jit
def second(pair):
    return pair[1]

@triton.jit
def kernel(p, out, n):
    d = tl.make_tensor_descriptor(p, [8], [1], [8], padding_option="nan")
    i = 0
    while i < n:
        pair = (d, tl.make_tensor_descriptor(p + 8 * i, [i + 2], [1], [8], padding_option="nan"))
        d = second(pair)
        i += 1
    x = d.load([0])
    target = tl.make_tensor_descriptor(out, [10], [1], [8])
    target.store([0], tl.where(x != x, 100.0, x))
    tl.store(out + 8, d.shape[0])
    tl.store(out + 9, d.strides[0])
)",
                         GetParam(), "fp32", 10, {{"p", "*fp32", x}, {"n", "i32", n}});
    size_t from = n ? size_t(8 * (n - 1)) : 0, extent = n ? size_t(n + 1) : 8;
    for (size_t i = 0; i < 8; ++i)
      EXPECT_EQ(out[i], i < extent ? x[from + i] : 100) << n << " at " << i;
    EXPECT_EQ(out[8], float(extent));
    EXPECT_EQ(out[9], 1);
  }
}

TEST_P(Descriptor, MultipliesThroughDescriptorsAndBlockPointers) {
  constexpr int m = 21, n = 19, k = 40;
  Buffer<float> a(randomFloats(m * 48, 1)), b(randomFloats(k * 32, 2));
  std::string source = R"(
@triton.jit
def kernel(a, b, out, M, N, K, DESCRIPTORS: tl.constexpr):
    i = tl.program_id(0) * 16
    j = tl.program_id(1) * 16
    acc = tl.zeros((16, 16), tl.float32)
    if DESCRIPTORS:
        x = tl.make_tensor_descriptor(a, [M, K], [48, 1], [16, 16])
        y = tl.make_tensor_descriptor(b, [K, N], [32, 1], [16, 16])
        z = tl.make_tensor_descriptor(out, [M, N], [32, 1], [16, 16])
        for k in range(0, tl.cdiv(K, 16)):
            acc = tl.dot(x.load([i, k * 16]), y.load([k * 16, j]), acc, input_precision="ieee")
        z.store([i, j], acc)
    else:
        x = tl.make_block_ptr(a, (M, K), (48, 1), (i, 0), (16, 16), (1, 0))
        y = tl.make_block_ptr(b, (K, N), (32, 1), (0, j), (16, 16), (1, 0))
        for k in range(0, tl.cdiv(K, 16)):
            acc += tl.dot(tl.load(x, boundary_check=(0, 1), padding_option="zero"),
                          tl.load(y, boundary_check=(0, 1), padding_option="zero"),
                          input_precision="ieee")
            x = tl.advance(x, (0, 16))
            y = y.advance((16, 0))
        z = tl.make_block_ptr(out, (M, N), (32, 1), (i, j), (16, 16), (1, 0))
        tl.store(z, acc, boundary_check=(0, 1))
)";
  for (bool descriptors : {true, false}) {
    std::vector<float> out = outputsOf<float>(
        source, GetParam(), "fp32", 32 * 32,
        {{"a", "*fp32", a}, {"b", "*fp32", b}, {"M", "i32", m}, {"N", "i32", n}, {"K", "i32", k}},
        {{"DESCRIPTORS", descriptors}}, {{2, 2, 1}});
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 32; ++c) {
        double sum = 0;
        if (r < m && c < n)
          for (int at = 0; at < k; ++at)
            sum += double(a[size_t(r * 48 + at)]) * double(b[size_t(at * 32 + c)]);
        ASSERT_NEAR(out[size_t(r * 32 + c)], sum, 1e-5) << r << ", " << c;
      }
  }
}

TEST_P(Descriptor, BlockPointersStayInsideTheirBounds) {
  // Half of the source counts; blocks start before it, in it and behind the target.
  constexpr int size = 32;
  for (const char *padding : {"", "zero", "nan"})
    for (int offset : {-40, -4, 0, 8, 16, 28, 40}) {
      Buffer<float> x(randomFloats(size, 9));
      std::vector<float> out =
          outputsOf<float>(R"(
@triton.jit
def kernel(p, out, N, offset, PADDING: tl.constexpr):
    a = tl.make_block_ptr(p, (N // 2,), (1,), (offset,), (16,), (0,))
    b = tl.make_block_ptr(base=out, shape=(N,), strides=(1,), offsets=(offset - 3,),
                          block_shape=(16,), order=(0,))
    b = tl.advance(tl.advance(b, (-5,)), (8,))
    x = tl.load(a, boundary_check=(0,), padding_option=PADDING).to(a.dtype.element_ty)
    tl.store(b, tl.where(x != x, 7.0, x), boundary_check=(0,))
)",
                           GetParam(), "fp32", size,
                           {{"p", "*fp32", x}, {"N", "i32", size}, {"offset", "i32", offset}},
                           {{"PADDING", padding}});
      for (int i = 0; i < size; ++i) {
        bool inBlock = i >= offset && i < offset + 16;
        if (inBlock && i >= size / 2 && !*padding)
          continue; // undefined
        float expected = !inBlock ? 0 : i < size / 2 ? x[size_t(i)] : *padding == 'n' ? 7 : 0;
        ASSERT_EQ(out[size_t(i)], expected) << padding << " from " << offset << " at " << i;
      }
    }
}

TEST_P(Descriptor, RefusesWhatDoesNotFit) {
  auto expectError = [&](const std::string &body, const std::string &message) {
    std::string errors = runSource(
        "@triton.jit\ndef kernel(p, c: tl.const):\n"
        "    d = tl.make_tensor_descriptor(p, [8, 8], [8, 1], [4, 4])\n    " +
            body + "\n",
        GetParam(), {{"p", "*fp32", Buffer<float>(64)}, {"c", "*fp32", Buffer<float>(64)}});
    EXPECT_NE(errors.find(message), std::string::npos) << body << ": " << errors;
    EXPECT_NE(errors.find("test.py:"), std::string::npos) << errors;
  };
  expectError("x = d.load([0])", "offsets: expected 2 numbers");
  expectError("x = d.load([0.5, 0])", "integer scalars");
  expectError("d.store([0, 0], tl.zeros((8, 8), tl.float32))", "shape");
  expectError("x = d.gather(tl.arange(0, 8), 0)", "blocks of one row");
  expectError("d.atomic_and([0, 0], tl.zeros((4, 4), tl.float32))", "integers");
  expectError("x = d.nothing", "no attribute 'nothing'");
  expectError("e = tl.make_tensor_descriptor(p, [8], [8, 1], [4, 4])", "shape: expected 2 numbers");
  expectError("e = tl.make_tensor_descriptor(1, [8], [1], [4])", "a scalar pointer");
  expectError("e = tl.make_tensor_descriptor(p, [8, 8], [1, 8], [4, 4])",
              "expected 1, known at compile time, as the last, got 8");
  expectError("e = tl.make_tensor_descriptor(p, [8], [tl.program_id(0)], [4])",
              "as the last, got a number known at run time");
  expectError("e = tl.make_tensor_descriptor(p, [8, 8], [6, 1], [4, 4])",
              "expected multiples of 16 bytes, got 6 elements of 4 bytes");
  expectError("e = tl.make_tensor_descriptor(p, [8], [1], [4], padding_option='one')",
              "expected 'zero' or 'nan', got 'one'");
  expectError("e = tl.make_tensor_descriptor(p.to(tl.pointer_type(tl.int32)), [8], [1], [4], "
              "padding_option='nan')",
              "expected 'zero' for int32, got 'nan'");
  expectError("e = tl.make_tensor_descriptor(p, [1] * 6, [4] * 5 + [1], [1] * 6)",
              "block_shape: expected 1 to 5 axes, got 6");
  expectError("e = d\n"
              "    if tl.program_id(0) > 0:\n"
              "        e = tl.make_tensor_descriptor(p, [8, 8], [8, 1], [4, 4], 'nan')\n"
              "    x = e.load([0, 0])",
              "descriptor of fp32[4, 4]");
  expectError("e = tl.make_tensor_descriptor(c, [8, 8], [8, 1], [4, 4])\n"
              "    e.store([0, 0], tl.zeros((4, 4), tl.float32))",
              "sema-const-store");
  expectError("b = tl.make_block_ptr(p, (8,), (1,), (0,), (4,), (0,))\n"
              "    x = tl.load(b, mask=True)",
              "boundary_check and padding_option");
  expectError("b = tl.make_block_ptr(p, (8,), (1,), (0,), (4,), (0,))\n"
              "    x = tl.load(b, boundary_check=(1,))",
              "boundary_check");
}

KILN_SOURCE_TESTS(Descriptor);

} // namespace
} // namespace kiln::testing
