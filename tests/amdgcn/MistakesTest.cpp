// Mistakes that are put into the machine code of a kernel that has none are found: but for the few
// waits and barriers that are not needed.
#include "tests/amdgcn/Launch.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>

namespace kiln::amdgcn {
namespace {

constexpr int rows = 5, columns = 1000;

/// Softmax's kernel for a processor, compiled once.
const std::string &image(const std::string &processor) {
  static std::map<std::string, std::string> images;
  std::string &bytes = images[processor];
  if (!bytes.empty())
    return bytes;
  std::string path = testing::TempDir() + "softmax_" + processor + ".hsaco";
  std::string command = "./kiln compile kernels/softmax/softmax.py -n softmax_kernel -w 4 "
                        "-s '*fp32:16, *fp32:16, i32, i32, i32, i32, 1024' --target=hip:" +
                        processor + " --emit=hsaco -o " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream file(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  return bytes;
}

/// Runs softmax's kernel of a processor; what was wrong, and what it has written.
class Mistakes : public testing::TestWithParam<const char *> {
protected:
  Mistakes() : x(rows * columns), out(rows * columns) {
    for (int i = 0; i != rows * columns; ++i)
      x[i] = float(i * 7 % 31) / 4;
  }

  std::string run(const Edit &edit, uint64_t bytes = sizeof(float) * rows * columns) {
    try {
      CodeObject code(image(GetParam()), edit);
      Allocations allocations;
      allocations.add(x.data(), bytes);
      allocations.add(out.data(), sizeof(float) * out.size());
      LaunchParameters parameters;
      parameters.grid = {2, 1, 1};
      parameters.block = {4u * (std::string(GetParam()) == "gfx942" ? 64 : 32), 1, 1};
      put(parameters.arguments, x.data());
      put(parameters.arguments, out.data());
      for (int number : {rows, columns, columns, columns})
        put(parameters.arguments, number);
      launch(code, *code.kernel("softmax_kernel"), allocations, parameters);
    } catch (const Fault &fault) {
      return fault.what();
    }
    return "";
  }

  /// What is wrong with `other` in place of an instruction: of those that begin with the prefix the
  /// `number`th.
  std::string runWith(const std::string &prefix, int number, const std::string &other) {
    int count = 0;
    return run([&](const std::string &text) {
      bool isMeant = text.find(prefix) == text.find_first_not_of(" \t") && count++ == number;
      return isMeant ? other : text;
    });
  }

  /// The numbers of those that are executed.
  std::vector<int> executed(const std::string &prefix) {
    int count = 0;
    run([&](const std::string &text) {
      count += text.find(prefix) == text.find_first_not_of(" \t");
      return text;
    });
    std::vector<int> numbers;
    for (int number = 0; number != count; ++number)
      if (!runWith(prefix, number, "v_frobnicate_f32 v0").empty())
        numbers.push_back(number);
    return numbers;
  }

  /// How many of these are not missed.
  int numUnnoticed(const std::string &prefix, const std::vector<int> &numbers) {
    int unnoticed = 0;
    for (int number : numbers)
      unnoticed += runWith(prefix, number, "s_nop 0").empty();
    return unnoticed;
  }

  bool isRight() const {
    for (int row = 0; row != rows; ++row) {
      const float *from = x.data() + row * columns;
      double largest = *std::max_element(from, from + columns), sum = 0;
      for (int i = 0; i != columns; ++i)
        sum += std::exp(from[i] - largest);
      for (int i = 0; i != columns; ++i)
        if (!(std::fabs(out[row * columns + i] - std::exp(from[i] - largest) / sum) < 1e-6))
          return false;
    }
    return true;
  }

  std::vector<float> x, out;

private:
  template <typename T> static void put(std::vector<uint8_t> &bytes, T value) {
    const auto *first = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
  }
};

TEST_P(Mistakes, TheKernelHasNone) {
  EXPECT_EQ(run(nullptr), "");
  EXPECT_TRUE(isRight());
}

/// A wait may be there for one that comes later, too.
TEST_P(Mistakes, MissingWaitsAreFound) {
  bool isGfx12 = std::string(GetParam()) == "gfx1201";
  for (const char *wait :
       isGfx12 ? std::vector<const char *>{"s_wait_loadcnt ", "s_wait_kmcnt ", "s_wait_dscnt "}
               : std::vector<const char *>{"s_waitcnt vmcnt", "s_waitcnt lgkmcnt"}) {
    std::vector<int> numbers = executed(wait);
    EXPECT_GT(numbers.size(), 0u) << wait;
    int numWaits = int(numbers.size());
    // Fences of what was loaded wait for scalar loads, too, which were waited for long before.
    bool isOfScalars = std::string(wait) == "s_wait_kmcnt ";
    EXPECT_LT(numUnnoticed(wait, numbers), isOfScalars ? numWaits : (numWaits + 3) / 4)
        << wait << ", of " << numWaits;
  }
}

TEST_P(Mistakes, MissingBarriersAreFound) {
  std::vector<int> numbers = executed("s_barrier");
  EXPECT_GT(numbers.size(), 1u);
  // Some are of no use in the last iteration, or stand behind others.
  EXPECT_LE(numUnnoticed("s_barrier", numbers), int(numbers.size()) / 4) << "of " << numbers.size();
}

TEST_P(Mistakes, AnUnknownInstructionIsNamed) {
  std::string mistake = runWith("v_exp_f32", executed("v_exp_f32").at(0), "v_frobnicate_f32 v0");
  EXPECT_NE(mistake.find("unknown instruction v_frobnicate_f32"), std::string::npos) << mistake;
  EXPECT_NE(mistake.find("softmax_kernel"), std::string::npos) << mistake;
  EXPECT_NE(mistake.find("wave "), std::string::npos) << mistake;
}

TEST_P(Mistakes, AnAccessBehindTheEndIsFound) {
  std::string mistake = run(nullptr, sizeof(float) * (rows * columns - 4));
  EXPECT_NE(mistake.find("where no allocation is"), std::string::npos) << mistake;
}

INSTANTIATE_TEST_SUITE_P(, Mistakes, testing::Values("gfx942", "gfx1100", "gfx1201"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace kiln::amdgcn
