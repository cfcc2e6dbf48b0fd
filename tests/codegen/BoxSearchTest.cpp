// The search against evaluation of every point of small boxes.
#include "codegen/BoxSearch.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>
#include <random>

namespace kiln::test {
namespace {

using Formula = BoxSearch::Formula;
using Point = BoxSearch::Point;

constexpr int64_t kEnough = 5000000;

Axis axis(const char *name, int64_t low, int64_t high, int64_t modulus = 1) {
  IntegerRange all, range{low, high, 1, 0};
  all.modulus = modulus;
  return {name, range.intersect(all), {}};
}

/// One of `of`, as a text.
std::string pick(std::mt19937 &random, std::vector<std::string> of) {
  return of[random() % of.size()];
}

/// A number, a name or an operation on them; some divide by zero, some overflow.
std::string randomValue(std::mt19937 &random, int depth) {
  if (depth == 0 || random() % 3 == 0)
    return pick(random, {"n", "m", "k", "0", "1", "2", "3", "5", "7", "12", "16",
                         "9223372036854775807", "n", "m"});
  std::string a = randomValue(random, depth - 1), b = randomValue(random, depth - 1);
  if (random() % 4 == 0)
    return pick(random, {"cdiv", "min", "max"}) + "(" + a + ", " + b + ")";
  if (random() % 8 == 0)
    return "next_power_of_2(" + a + ")";
  return "(" + a + pick(random, {" + ", " - ", " * ", " // ", " % ", " % 4 + "}) + b + ")";
}

std::string randomCondition(std::mt19937 &random, int depth) {
  if (depth > 0 && random() % 2)
    return "(" + randomCondition(random, depth - 1) + pick(random, {" and ", " or "}) +
           randomCondition(random, depth - 1) + ")";
  if (random() % 6 == 0)
    return "(not " + randomCondition(random, 0) + ")";
  if (random() % 3 == 0) // what specs have
    return pick(random, {"n", "m", "k"}) +
           pick(random, {" % 4 == 0", " % 3 == 1", " <= 9", " > 9", " == 5", " % 8 != 0", " < 4"});
  return randomValue(random, 2) + pick(random, {" < ", " <= ", " > ", " >= ", " == ", " != "}) +
         randomValue(random, 1);
}

/// Whether the expression has a value other than 0, by evaluation alone.
bool holds(const Expression &expression, const Point &point) {
  TextError error;
  auto lookup = [&](llvm::StringRef name) { return std::optional(point.at(name.str())); };
  auto value = expression.evaluate(lookup, error);
  return value && *value != 0;
}

std::vector<int64_t> valuesOf(const Axis &axis) {
  std::vector<int64_t> values;
  for (int64_t value = axis.range.low; value <= axis.range.high; ++value) {
    bool isThere = !axis.range.intersect(IntegerRange::ofConstant(value)).isEmpty() &&
                   (axis.values.empty() || llvm::is_contained(axis.values, value));
    if (isThere)
      values.push_back(value);
  }
  return values;
}

template <typename Visit> void forEachPoint(const std::vector<Axis> &axes, Visit visit) {
  for (int64_t n : valuesOf(axes[0]))
    for (int64_t m : valuesOf(axes[1]))
      for (int64_t k : valuesOf(axes[2]))
        visit(Point{{"n", n}, {"m", m}, {"k", k}});
}

std::vector<Axis> randomAxes(std::mt19937 &random) {
  std::vector<Axis> axes;
  for (const char *name : {"n", "m", "k"}) {
    int64_t low = int64_t(random() % 12) - 4, high = low + int64_t(random() % 14);
    axes.push_back(axis(name, low, high, random() % 4 == 0 ? 1 + int64_t(random() % 4) : 1));
    if (axes.back().range.isEmpty())
      axes.back() = axis(name, low, high);
  }
  if (random() % 3 == 0)
    axes[2] = {"k", {}, {-3, 0, 4, 9}};
  axes[2].range.low = axes[2].values.empty() ? axes[2].range.low : -3;
  axes[2].range.high = axes[2].values.empty() ? axes[2].range.high : 9;
  return axes;
}

/// A library of a few variants, each with its conditions: what a gap is.
struct Variants {
  std::vector<std::vector<Expression>> conditions;

  bool isLegal(size_t variant, const Point &point) const {
    return llvm::all_of(conditions[variant],
                        [&](const Expression &one) { return holds(one, point); });
  }
  bool isGap(const Point &point) const {
    for (size_t variant = 0; variant < conditions.size(); ++variant)
      if (isLegal(variant, point))
        return false;
    return true;
  }
};

Variants randomVariants(std::mt19937 &random) {
  Variants variants;
  for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i) {
    variants.conditions.emplace_back();
    for (unsigned j = 0, needs = 1 + random() % 2; j < needs; ++j)
      variants.conditions.back().push_back(expression(randomCondition(random, 2)));
  }
  return variants;
}

/// For a failure.
std::string describe(const std::vector<Axis> &axes, const std::vector<Expression> &conditions) {
  std::string text;
  for (const Axis &axis : axes)
    text += "\n" + axis.name + ": " + std::to_string(axis.range.low) + " to " +
            std::to_string(axis.range.high) + " by " + std::to_string(axis.range.modulus) +
            (axis.values.empty() ? "" : ", listed");
  for (const Expression &condition : conditions)
    text += "\n" + condition.text();
  return text;
}

TEST(BoxSearch, FindsGapsExactlyWhereEvaluationDoes) {
  unsigned found = 0, impossible = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::vector<Axis> axes = randomAxes(random);
    Variants variants = randomVariants(random);
    BoxSearch search(axes);
    std::vector<Formula> none, legal;
    for (const auto &conditions : variants.conditions) {
      std::vector<Formula> all;
      for (const Expression &condition : conditions)
        all.push_back(search.holds(condition));
      legal.push_back(search.allOf(all));
      none.push_back(!legal.back());
    }
    unsigned gaps = 0;
    std::vector<unsigned> calls(variants.conditions.size());
    forEachPoint(axes, [&](const Point &point) {
      gaps += variants.isGap(point);
      for (size_t variant = 0; variant < calls.size(); ++variant)
        calls[variant] += variants.isLegal(variant, point);
    });
    int64_t budget = kEnough;
    BoxSearch::Answer answer = search.find(search.allOf(none), budget);
    ASSERT_FALSE(answer.gaveUp) << seed;
    ASSERT_EQ(answer.found.has_value(), gaps > 0) << seed;
    if (answer.found)
      ASSERT_TRUE(variants.isGap(*answer.found)) << seed;
    (gaps ? found : impossible) += 1;
    for (size_t variant = 0; variant < calls.size(); ++variant) {
      budget = kEnough;
      BoxSearch::Answer call = search.find(legal[variant], budget);
      ASSERT_FALSE(call.gaveUp) << seed << describe(axes, variants.conditions[variant]);
      ASSERT_EQ(call.found.has_value(), calls[variant] > 0) << seed;
      if (call.found)
        ASSERT_TRUE(variants.isLegal(variant, *call.found)) << seed;
    }
  }
  // Both come about, often.
  EXPECT_GT(found, 300u);
  EXPECT_GT(impossible, 100u);
}

TEST(BoxSearch, DecidesWideRanges) {
  struct Case {
    std::vector<std::string> variants;
    bool hasGap;
  };
  const Case cases[] = {
      {{"n <= 1024", "n > 1024"}, false},
      {{"n < 1024", "n > 1024"}, true},
      {{"n <= 4096", "n > 4096 and n % 8 == 0", "n > 4096 and n % 8 != 0"}, false},
      {{"n % 16 == 0", "n % 16 == 8", "n % 8 != 0"}, false},
      {{"n % 16 == 0", "n % 32 == 8", "n % 8 != 0"}, true},
      {{"n % 12 == 0", "n % 12 != 0 and m > 5", "m <= 5"}, false},
      {{"n * m <= 1048576", "n * m > 1048576"}, false},
      {{"n * m <= 1048576", "n * m > 1050000"}, true},
      {{"n <= m", "n > m and m % 2 == 0", "n > m and m % 2 == 1"}, false},
      {{"cdiv(n, 128) <= 132", "cdiv(n, 128) > 132"}, false},
      {{"n > 70000 or m > 3", "n <= 70000 and m < 4"}, false},
      {{"n > 70000 or m > 3", "n <= 70000 and m < 3", "m < 2"}, true},
      {{"n // m >= 1", "n // m < 1"}, false},
      {{"not (n < 3 or m % 2)", "n < 3", "m % 2 == 1"}, false},
  };
  for (const Case &one : cases) {
    BoxSearch search({axis("n", 1, 1 << 20), axis("m", 1, 1 << 20)});
    std::vector<Formula> none;
    std::vector<Expression> conditions;
    for (const std::string &variant : one.variants) {
      conditions.push_back(expression(variant));
      none.push_back(!search.holds(conditions.back()));
    }
    int64_t budget = kEnough;
    BoxSearch::Answer answer = search.find(search.allOf(none), budget);
    EXPECT_FALSE(answer.gaveUp) << one.variants.front();
    EXPECT_EQ(answer.found.has_value(), one.hasGap) << one.variants.front();
    if (answer.found)
      for (const Expression &condition : conditions)
        EXPECT_FALSE(holds(condition, *answer.found)) << condition.text();
  }
}

TEST(BoxSearch, SaysWhenItGaveUp) {
  BoxSearch search({axis("n", 3, 1 << 30), axis("m", 3, 1 << 30)});
  Formula wanted = search.holds(expression("n * m == 1000000016000000063 and n % m == 1"));
  int64_t budget = 20000;
  BoxSearch::Answer answer = search.find(wanted, budget);
  EXPECT_TRUE(answer.gaveUp);
  EXPECT_FALSE(answer.found || answer.isImpossible());
  EXPECT_LE(budget, 0);
}

TEST(BoxSearch, TellsWhereAnExpressionHasNoValue) {
  BoxSearch search({axis("n", 0, 1 << 20)});
  int64_t budget = kEnough;
  BoxSearch::Answer answer = search.find(!search.hasValue(expression("8 // n")), budget);
  ASSERT_TRUE(answer.found);
  EXPECT_EQ(answer.found->at("n"), 0);
  answer = search.find(!search.hasValue(expression("8 // (n + 1)")), budget);
  EXPECT_TRUE(answer.isImpossible());
  answer = search.find(!search.hasValue(expression("n and 8 // n")), budget);
  EXPECT_TRUE(answer.isImpossible());
  answer = search.find(!search.hasValue(expression("n * 9223372036854775807")), budget);
  ASSERT_TRUE(answer.found);
  EXPECT_GE(answer.found->at("n"), 2);
}

TEST(BoxSearch, KeepsToListedValues) {
  BoxSearch search({{"n", {64, 256, 1, 0}, {64, 128, 256}}});
  int64_t budget = kEnough;
  EXPECT_TRUE(search.find(search.holds(expression("n > 64 and n < 128")), budget).isImpossible());
  BoxSearch::Answer answer = search.find(search.holds(expression("n > 64 and n < 256")), budget);
  ASSERT_TRUE(answer.found);
  EXPECT_EQ(answer.found->at("n"), 128);
}

} // namespace
} // namespace kiln::test
