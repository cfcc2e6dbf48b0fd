// Mistakes that are put into the machine code of kernels that have none are found: but for the few
// waits and barriers that are not needed.
#include "tests/amdgcn/CompiledKernel.h"
#include "tests/amdgcn/Launch.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>

namespace kiln::amdgcn {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename T> Bytes bytesOf(const std::vector<T> &values) {
  const auto *first = reinterpret_cast<const uint8_t *>(values.data());
  return {first, first + sizeof(T) * values.size()};
}

/// A kernel whose arguments are arrays, the last of which it writes, and numbers.
struct Program {
  const char *options, *symbol;
  std::array<uint32_t, 3> grid;
  std::vector<Bytes> arrays;
  std::vector<int> numbers;
  std::function<bool(const float *result)> isRight;
};

constexpr int rows = 5, columns = 1000;

Program softmax() {
  std::vector<float> x(rows * columns);
  for (int i = 0; i != rows * columns; ++i)
    x[i] = float(i * 7 % 31) / 4;
  auto isRight = [x](const float *result) {
    for (int row = 0; row != rows; ++row) {
      const float *from = x.data() + row * columns;
      double largest = *std::max_element(from, from + columns), sum = 0;
      for (int i = 0; i != columns; ++i)
        sum += std::exp(from[i] - largest);
      for (int i = 0; i != columns; ++i, ++result)
        if (!(std::fabs(*result - std::exp(from[i] - largest) / sum) < 1e-6))
          return false;
    }
    return true;
  };
  return {"kernels/softmax/softmax.py -n softmax_kernel -w 4 "
          "-s '*fp32:16, *fp32:16, i32, i32, i32, i32, 1024'",
          "softmax_kernel",
          {2, 1, 1},
          {bytesOf(x), Bytes(sizeof(float) * x.size())},
          {rows, columns, columns, columns},
          isRight};
}

/// Of small integers, whose sums are exact in any order.
Program product() {
  constexpr int size = 64, inner = 256;
  auto number = [](int i, int k) { return (i * 5 + k * 3 + i * k) % 3; };
  const uint16_t halves[] = {0, 0x3c00, 0x4000}; // 0, 1, 2
  std::vector<uint16_t> a, b;
  std::vector<float> expected(size * size);
  for (int i = 0; i != size; ++i)
    for (int k = 0; k != inner; ++k) {
      a.push_back(halves[number(i, k)]);
      for (int j = 0; j != size; ++j)
        expected[i * size + j] += float(number(i, k) * number(k + 1, j));
    }
  for (int k = 0; k != inner; ++k)
    for (int j = 0; j != size; ++j)
      b.push_back(halves[number(k + 1, j)]);
  auto isRight = [expected](const float *result) {
    return std::equal(expected.begin(), expected.end(), result);
  };
  return {"tests/amdgcn/product.py -n product_kernel -w 4 --ns=3 "
          "-s '*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 64, 32'",
          "product_kernel",
          {1, 1, 1},
          {bytesOf(a), bytesOf(b), Bytes(sizeof(float) * expected.size())},
          {inner},
          isRight};
}

/// Twice that, by assembly behind the last product.
Program doubled() {
  Program program = product();
  program.options = "tests/amdgcn/product.py -n product_kernel -w 4 --ns=3 "
                    "-s '*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 64, 32, True'";
  size_t size = program.arrays.back().size() / sizeof(float);
  program.isRight = [size, isProduct = program.isRight](const float *result) {
    std::vector<float> halves(result, result + size);
    for (float &half : halves)
      half /= 2;
    return isProduct(halves.data());
  };
  return program;
}

bool isOf(const std::string &text, const std::string &prefix) {
  return text.find(prefix) == text.find_first_not_of(" \t");
}

/// Runs a program with mistakes of which a test says how they look.
class Mistakes : public testing::TestWithParam<std::tuple<const char *, Program (*)()>> {
protected:
  Mistakes() : program(std::get<1>(GetParam())()) {}

  std::string processor() const { return std::get<0>(GetParam()); }

  /// What was wrong; "" where nothing was. The kernel is told of `missing` bytes too few of the
  /// first array.
  std::string run(const Edit &edit, uint64_t missing = 0) {
    std::vector<Bytes> arrays = program.arrays;
    try {
      CodeObject code(compiledKernel(program.options, processor()), edit);
      Allocations allocations;
      LaunchParameters parameters;
      parameters.grid = program.grid;
      parameters.block = {4u * (isOf(processor(), "gfx9") ? 64 : 32), 1, 1};
      for (Bytes &array : arrays) {
        allocations.add(array.data(), array.size() - (&array == &arrays[0] ? missing : 0));
        putArgument(parameters.arguments, array.data());
      }
      for (int number : program.numbers)
        putArgument(parameters.arguments, number);
      launch(code, *code.kernel(program.symbol), allocations, parameters);
    } catch (const Fault &fault) {
      return fault.what();
    }
    bool isRight = program.isRight(reinterpret_cast<const float *>(arrays.back().data()));
    return isRight ? "" : "wrong result";
  }

  /// What is wrong with `change` of an instruction: of those that begin with the prefix the
  /// `number`th.
  std::string runWith(const std::string &prefix, int number, const Edit &change) {
    int count = 0;
    return run([&](const std::string &text) {
      return isOf(text, prefix) && count++ == number ? change(text) : text;
    });
  }

  /// The numbers of those that are executed.
  std::vector<int> executed(const std::string &prefix) {
    int count = 0;
    run([&](const std::string &text) {
      count += isOf(text, prefix);
      return text;
    });
    std::vector<int> numbers;
    for (int number = 0; number != count; ++number)
      if (!runWith(prefix, number, [](auto &) { return "v_frobnicate_f32 v0"; }).empty())
        numbers.push_back(number);
    return numbers;
  }

  /// Those of these that change nothing are few.
  void expectFound(const std::string &prefix, const Edit &change) {
    std::vector<int> numbers = executed(prefix);
    EXPECT_FALSE(numbers.empty()) << prefix;
    auto unnoticed = std::count_if(numbers.begin(), numbers.end(), [&](int number) {
      return runWith(prefix, number, change).empty();
    });
    EXPECT_LE(unnoticed, int(numbers.size()) / 4) << prefix << ", of " << numbers.size();
  }

  Program program;
};

std::string nothing(const std::string &) { return "s_nop 0"; }

/// One more than there should be may be in flight.
std::string waitForOneLess(const std::string &text) {
  static const std::regex count("(cnt[( ])(0x)?([0-9a-f]+)");
  std::string result;
  auto from = text.cbegin();
  for (std::sregex_iterator found(text.begin(), text.end(), count), end; found != end; ++found) {
    result.append(from, (*found)[1].second);
    int base = (*found)[2].matched ? 16 : 10;
    result += std::to_string(std::stoi((*found)[3], nullptr, base) + 1);
    from = (*found)[3].second;
  }
  return result.append(from, text.cend());
}

std::vector<const char *> waitsOf(const std::string &processor) {
  if (processor == "gfx1201")
    return {"s_wait_loadcnt ", "s_wait_dscnt "};
  return {"s_waitcnt vmcnt", "s_waitcnt lgkmcnt"};
}

TEST_P(Mistakes, TheKernelHasNone) { EXPECT_EQ(run(nullptr), ""); }

/// A wait may be there for one that comes later, too.
TEST_P(Mistakes, MissingWaitsAreFound) {
  for (const char *wait : waitsOf(processor()))
    expectFound(wait, nothing);
}

TEST_P(Mistakes, WaitsThatCountWronglyAreFound) {
  for (const char *wait : waitsOf(processor()))
    expectFound(wait, waitForOneLess);
}

/// Some are of no use in the last iteration, or stand behind others.
TEST_P(Mistakes, MissingBarriersAreFound) { expectFound("s_barrier", nothing); }

/// On CDNA products are not waited for but by counting instructions.
class BesideAssembly : public Mistakes {};

TEST_P(BesideAssembly, TheKernelHasNone) { EXPECT_EQ(run(nullptr), ""); }

TEST_P(BesideAssembly, MissingWaitStatesAreFound) {
  std::string mistake =
      run([](const std::string &text) { return isOf(text, "s_nop") ? nothing(text) : text; });
  EXPECT_NE(mistake.find("wait states too early"), std::string::npos) << mistake;
}

TEST_P(Mistakes, AnUnknownInstructionIsNamed) {
  std::string mistake = runWith("s_endpgm", 0, [](auto &) { return "v_frobnicate_f32 v0"; });
  EXPECT_NE(mistake.find("unknown instruction v_frobnicate_f32"), std::string::npos) << mistake;
  EXPECT_NE(mistake.find(program.symbol), std::string::npos) << mistake;
  EXPECT_NE(mistake.find("wave "), std::string::npos) << mistake;
}

TEST_P(Mistakes, AnAccessBehindTheEndIsFound) {
  std::string mistake = run(nullptr, 16);
  EXPECT_NE(mistake.find("where no allocation is"), std::string::npos) << mistake;
}

INSTANTIATE_TEST_SUITE_P(, Mistakes,
                         testing::Combine(testing::Values("gfx942", "gfx1100", "gfx1201"),
                                          testing::Values(softmax, product)),
                         [](const auto &info) {
                           bool isSoftmax = std::get<1>(info.param) == softmax;
                           return std::string(std::get<0>(info.param)) +
                                  (isSoftmax ? "Softmax" : "Product");
                         });

INSTANTIATE_TEST_SUITE_P(, BesideAssembly,
                         testing::Combine(testing::Values("gfx90a", "gfx942"),
                                          testing::Values(doubled)),
                         [](const auto &info) { return std::string(std::get<0>(info.param)); });

} // namespace
} // namespace kiln::amdgcn
