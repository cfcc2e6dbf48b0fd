// Decision trees that a running program takes from a file: they decide as the compiler
// says, all or nothing, and whatever a file holds it is refused with a reason or right.
#include "codegen/TuningTable.h"
#include "codegen/DispatchTables.h"
#include "codegen/TimeEstimates.h"
#include "test_kernels.h"
#include "tests/codegen/TestModel.h"
#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <thread>

namespace kiln::test {
namespace {

/// The model that the library was generated of, but for the contents of the CPU kernels.
LibraryModel model() { return testLibrary("not looked at"); }

EntryModel &entryOf(LibraryModel &library, llvm::StringRef name) {
  return *llvm::find_if(library.entries, [&](const EntryModel &one) { return one.name == name; });
}

/// Other times for `by_tree` than the library was built with.
void measureAgain(EntryModel &byTree, unsigned seed) {
  std::mt19937 random(seed);
  for (MeasuredShape &shape : byTree.measured[0].shapes) {
    shape.times.clear();
    for (const VariantModel &variant : byTree.variants)
      shape.times.emplace_back(stableName(byTree, variant), 1 + random() % 1000);
    llvm::sort(shape.times, [](const auto &a, const auto &b) { return a.second < b.second; });
  }
}

class TuningTable : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(kiln_unload(&test_kernels_library), KILN_SUCCESS); }

  std::string path = ::testing::TempDir() + "/kilntable";

  kiln_status load(const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
    return kiln_load_tuning(&test_kernels_library, path.c_str());
  }
  /// The variant that the library takes.
  static uint32_t chosen(int32_t n, uint64_t m) {
    static float x[4], y[4];
    by_tree_plan plan;
    EXPECT_EQ(by_tree_plan_init(&plan, kiln_cpu_stream(nullptr), x, y, n, 1.0f, m), KILN_SUCCESS)
        << kiln_last_error();
    return plan.variant;
  }
  /// Of many calls.
  static std::vector<uint32_t> choices() {
    std::vector<uint32_t> all;
    for (int32_t n = 1; n < 1 << 20; n *= 3)
      for (uint64_t m = 1; m < uint64_t(1) << 32; m *= 17)
        all.push_back(chosen(n, m));
    return all;
  }
};

TEST_F(TuningTable, DecidesAsTheCompilerSays) {
  LibraryModel library = model();
  EntryModel &byTree = entryOf(library, "by_tree");
  std::vector<uint32_t> before = choices();
  for (unsigned seed : {1, 2}) {
    measureAgain(byTree, seed);
    ASSERT_EQ(load(writeTuningTable(library)), KILN_SUCCESS) << kiln_last_error();
    DispatchTables tables = buildDispatchTables(library, byTree);
    unsigned decided = 0;
    for (int32_t n = 1; n < 1 << 20; n *= 3)
      for (uint64_t m = 1; m < uint64_t(1) << 32; m *= 17) {
        auto isLegal = [&](unsigned variant) {
          for (const ArgumentFact &fact : byTree.variants[variant].facts)
            if ((fact.minimum && n < *fact.minimum) || (fact.maximum && n > *fact.maximum))
              return false;
          return true;
        };
        auto wavesOf = [&](unsigned variant) {
          return *wavesAt(byTree, variant, {n, int64_t(m)}, kiln_cpu_pool_threads(nullptr));
        };
        if (auto choice =
                chooseTuned(tables, tables.tuned.back(), {n, int64_t(m)}, isLegal, wavesOf)) {
          ASSERT_EQ(chosen(n, m), *choice) << n << " " << m;
          ++decided;
        }
      }
    EXPECT_GT(decided, 50u);
    EXPECT_NE(choices(), before);
  }
  // What was built in decides again.
  ASSERT_EQ(kiln_unload(&test_kernels_library), KILN_SUCCESS);
  EXPECT_EQ(choices(), before);
}

TEST_F(TuningTable, ReplacesWhatTheFileHasAndNothingElse) {
  LibraryModel library = model();
  std::vector<uint32_t> before = choices();
  entryOf(library, "by_tree").measured.clear();
  std::string table = writeTuningTable(library);
  EXPECT_NE(table.find("entry tuned n\ntarget cpu:"), std::string::npos) << table;
  EXPECT_EQ(table.find("by_tree"), std::string::npos);
  ASSERT_EQ(load(table), KILN_SUCCESS) << kiln_last_error();
  EXPECT_EQ(choices(), before);
  entryOf(library, "tuned").measured.clear();
  EXPECT_EQ(writeTuningTable(library), "");
}

TEST_F(TuningTable, VariantsAndTargetsThatTheLibraryLacksArePassedOver) {
  LibraryModel library = model();
  EntryModel &byTree = entryOf(library, "by_tree");
  std::string hash = dispatchHash(library), id = variantId(byTree, byTree.variants[1]),
              target = runtimeTargetName(library.targets.back());
  auto file = [&](const std::string &target, const std::string &ids) {
    return "kiln table 1\nlibrary test_kernels " + hash + "\nentry by_tree n m\ntarget " + target +
           "\ntree 0123456789ab " + id + "\n:" + ids + "\nend\n";
  };
  ASSERT_EQ(load(file(target, " 0123456789ab 5 " + id + " 7")), KILN_SUCCESS) << kiln_last_error();
  EXPECT_EQ(chosen(50, 8), 1u);
  EXPECT_EQ(chosen(100000, 900000), 1u);
  // Nothing that the library could go by: the model decides.
  ASSERT_EQ(load(file(target, " 0123456789ab 5")), KILN_SUCCESS);
  uint32_t byModel = chosen(50, 8);
  ASSERT_EQ(load(file("cuda:sm_77", " " + id + " 7")), KILN_SUCCESS);
  EXPECT_EQ(chosen(50, 8), byModel);
}

TEST_F(TuningTable, AnotherLibrarysIsRefused) {
  LibraryModel library = model();
  std::string table = writeTuningTable(library);
  std::vector<uint32_t> before = choices();
  auto refused = [&](const std::string &text, const std::string &message) {
    EXPECT_EQ(load(text), KILN_ERROR_INVALID_ARGUMENT) << message;
    EXPECT_NE(std::string(kiln_last_error()).find(path + message), std::string::npos)
        << kiln_last_error();
  };
  library.name = "others";
  refused(writeTuningTable(library), ":2: expected 'test_kernels', got 'others'");
  library = model();
  entryOf(library, "by_tree").dispatchKey = {"n"};
  refused(writeTuningTable(library),
          ":2: the table is for another version of test_kernels: it is of ");
  refused("", ":1: the file is cut short");
  refused("kiln table 2\n", ":1: expected 'kiln table 1', got 'kiln table 2'");
  std::string header = table.substr(0, table.find("entry "));
  refused(header + "entry axpy n\nend\n", ":3: axpy has no dispatch key of integers");
  refused(header + "entry absent n\nend\n", ":3: test_kernels has no function 'absent'");
  refused(header + "entry by_tree n\nend\n", ":3: expected 'm', got ''");
  std::string open = header + "entry by_tree n m\n",
              cpu = "target " + runtimeTargetName(library.targets.back()) + "\n";
  refused(open + "1 2 :\nend\n", ":4: expected 'target NAME', got '1 2 :'");
  refused(open + cpu + cpu + "end\n", ":5: expected targets in the library's order, each once");
  EntryModel &byTree = entryOf(library, "by_tree");
  std::string id = variantId(byTree, byTree.variants[0]);
  std::string tree = open + cpu + "tree " + id + "\n";
  refused(open + cpu + "1 2\nend\n", ":5: expected 'tree', got '1'");
  refused(open + cpu + "tree x\nend\n", ":5: expected a variant's lasting name, got 'x'");
  refused(tree + "x 5\n", ":6: expected ':' or an argument of by_tree's key, got 'x'");
  refused(tree + "m x\n", ":6: expected an integer for m, got 'x'");
  refused(tree + "n 99999999999999999999\n", ":6: expected an integer for n, got");
  refused(tree + "n 5 6\n", ":6: expected '', got '6'");
  refused(tree + "n 5\n: " + id + " 1\nend\n",
          ":8: expected ':' or an argument of by_tree's key, got 'end'");
  refused(tree + ": " + id + " 4294967295\ntree " + id + "\n: " + id + " 1\nend\n",
          ":7: a tree for calls of these variants stands before");
  for (const char *cost : {"", "x", "-1", "4294967296", "99999999999999999999"})
    refused(tree + ": " + id + " " + cost + "\nend\n",
            std::string(":6: expected what a wave costs, got '") + cost + "'");
  refused(tree + ": BLOCK=3\nend\n", ":6: expected a variant's lasting name, got 'BLOCK=3'");
  refused(open + open.substr(header.size()) + "end\n", ":4: by_tree stands twice");
  refused(open + "end", ":4: expected a line of text with an end");
  refused(open + "end\nmore\n", ":4: expected nothing behind the line 'end'");
  refused(open + std::string(70000, 'e') + "\nend\n",
          ":4: expected a line of text with an end, of less than");
  EXPECT_EQ(choices(), before);
  EXPECT_EQ(kiln_load_tuning(&test_kernels_library, "/nowhere/table"), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_load_tuning(&test_kernels_library, nullptr), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_load_tuning(nullptr, path.c_str()), KILN_ERROR_INVALID_ARGUMENT);
}

// Cut anywhere, a line left out, any byte another: refused and nothing is changed, or a table all
// of whose choices are legal.
TEST_F(TuningTable, DamagedFilesAreRefusedOrHarmless) {
  LibraryModel library = model();
  std::string table = writeTuningTable(library);
  std::vector<uint32_t> before = choices();
  for (size_t size = 0; size < table.size(); size += 7) {
    ASSERT_EQ(load(table.substr(0, size)), KILN_ERROR_INVALID_ARGUMENT) << size;
    ASSERT_NE(std::string(kiln_last_error()).find(path + ":"), std::string::npos);
  }
  ASSERT_EQ(choices(), before);
  std::mt19937 random(3);
  unsigned refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = table;
    for (unsigned changes = 1 + random() % 3; changes; --changes) {
      size_t at = random() % damaged.size();
      if (random() % 4 == 0)
        damaged.erase(at, 1 + random() % 40);
      else if (random() % 3 == 0)
        damaged.insert(at, damaged.substr(random() % damaged.size(), 1 + random() % 40));
      else
        damaged[at] = char(random() % 256);
    }
    kiln_status status = load(damaged);
    ASSERT_TRUE(status == KILN_SUCCESS || status == KILN_ERROR_INVALID_ARGUMENT);
    refused += status != KILN_SUCCESS;
    chosen(int32_t(1 + random() % 100000), random());
  }
  EXPECT_GT(refused, 1500u);
}

TEST_F(TuningTable, LaunchesGoOnWhileTablesAreReplaced) {
  LibraryModel library = model();
  EntryModel &byTree = entryOf(library, "by_tree");
  std::vector<std::string> tables;
  for (unsigned seed : {1, 2, 3}) {
    measureAgain(byTree, seed);
    tables.push_back(writeTuningTable(library));
  }
  std::set<uint32_t> possible;
  for (const std::string &table : tables) {
    ASSERT_EQ(load(table), KILN_SUCCESS) << kiln_last_error();
    possible.insert(chosen(2000, 4096));
  }
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!done)
        EXPECT_TRUE(possible.count(chosen(2000, 4096)));
    });
  for (int round = 0; round < 60; ++round)
    EXPECT_EQ(load(tables[round % 3]), KILN_SUCCESS) << kiln_last_error();
  done = true;
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
} // namespace kiln::test
