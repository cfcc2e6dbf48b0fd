// Reports of counts that an emulator was given: sums, callers, hints, and hostile texts.

#include "compiler/Driver/CountReport.h"
#include "runtime/emulated_launch.h"
#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

constexpr char file[] = "a<b>&\"c\".py";

/// A kernel's counts: two lines of its own and one of a helper, which the second calls.
class CountReportTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(kiln_emulator_create("sm_80", nullptr, &emulator), KILN_SUCCESS);
    sources.add(file, "def kernel(): # <script>alert(1)</script> & \"quoted\"\n"
                      "\ty = helper(x)\n"
                      "def helper(x): # \xff\x01\n");
    kiln_emulator_count load = at("tilegpu.global_load", "global load", 1);
    load.instructions = load.global_requests = 4;
    load.thread_instructions = 128;
    load.sectors = 64;
    load.ideal_sectors = 16;
    load.global_read = 512;
    kiln_emulator_count branch = at("llvm.cond_br", "branch", 2);
    branch.instructions = 1000;
    branch.thread_instructions = 20000;
    branch.divergent_branches = 3;
    kiln_emulator_count add = at("llvm.fadd", "float32", 3);
    add.instructions = 10;
    add.thread_instructions = 100;
    add.flops = 1024;
    add.caller = &call;
    kiln_emulator_count store = at("llvm.store", "shared store", 3);
    store.instructions = store.shared_requests = 1;
    store.thread_instructions = 32;
    store.wavefronts = 5;
    store.ideal_wavefronts = 1;
    store.shared_written = 128;
    store.caller = &call;
    kiln_emulator_count never = at("llvm.fmul", "float32", 3);
    kiln_emulator_count nowhere = at("llvm.add", "integer", 0);
    nowhere.file = "";
    nowhere.instructions = 1;
    nowhere.thread_instructions = 32;
    kiln_emulator_count counts[] = {load, branch, add, store, never, nowhere};
    kiln_emulator_kernel kernel = {"kernel", 32, 128, 1, 0, 6};
    kiln_emulated_launch launch = {};
    launch.emulator = emulator;
    kiln_emulated_count(&launch, &kernel, &kernel, counts);
    report.entry = "entry<f32>";
    report.target = "emu:sm_80";
    report.variant = "BLOCK=128";
    report.collect(emulator, sources);
  }
  void TearDown() override { kiln_emulator_destroy(emulator); }

  static kiln_emulator_count at(const char *operation, const char *kind, uint32_t line) {
    kiln_emulator_count count = {};
    count.kernel = "kernel";
    count.operation = operation;
    count.kind = kind;
    count.file = file;
    count.line = line;
    count.column = 1;
    return count;
  }

  kiln_emulator_position call = {file, 2, 7, nullptr};
  kiln_emulator *emulator = nullptr;
  SourceManager sources;
  CountReport report;
};

TEST_F(CountReportTest, LinesHaveTheirOwnAndTheirHelpers) {
  EXPECT_EQ(report.kernel, "kernel");
  EXPECT_EQ(launchOf(report), "1 block of 128 threads, warps of 32");
  EXPECT_EQ(report.total.instructions.warps, 1016u);
  EXPECT_EQ(report.places.size(), 5u) << "what was not reached is left out";
  ASSERT_EQ(report.lines.size(), 4u);
  EXPECT_EQ(report.lines[0].file, "");
  EXPECT_EQ(report.lines[1].source, "def kernel(): # <script>alert(1)</script> & \"quoted\"");
  EXPECT_EQ(report.lines[2].own.instructions.warps, 1000u);
  EXPECT_EQ(report.lines[2].inclusive, 1011u);
  EXPECT_EQ(report.lines[3].own.instructions.warps, 11u);
  EXPECT_EQ(report.lines[3].inclusive, 11u);
  EXPECT_EQ(report.total.intensity(), 2.0);
}

TEST_F(CountReportTest, HintsNameWhatIsWrong) {
  EXPECT_EQ(countHints(report.lines[1].own, 32),
            (std::vector<std::string>{
                "4.00 times the ideal sectors: lanes access memory misaligned or with gaps"}));
  EXPECT_EQ(
      countHints(report.lines[2].own, 32),
      (std::vector<std::string>{"3 of 1,000 branches split a warp: its lanes go different ways"}));
  EXPECT_EQ(countHints(report.lines[3].own, 32),
            (std::vector<std::string>{"4 bank conflicts: lanes access different words of one bank",
                                      "only 12.0 of 32 lanes are active"}));
  EXPECT_TRUE(countHints(CountTotals(), 32).empty());
}

TEST_F(CountReportTest, TextsAreEscapedInHtml) {
  std::string page = writeCountHtml(report);
  auto has = [&](const char *text) { return page.find(text) != std::string::npos; };
  EXPECT_TRUE(has("<title>entry&lt;f32&gt; on emu:sm_80</title>"));
  EXPECT_TRUE(has("<h2>a&lt;b&gt;&amp;&quot;c&quot;.py</h2>"));
  EXPECT_TRUE(has("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quoted&quot;"));
  EXPECT_TRUE(has("4.00 times the ideal sectors"));
  EXPECT_FALSE(has("<script"));
  EXPECT_FALSE(has("\xff"));
  EXPECT_FALSE(has("\x01"));
}

TEST_F(CountReportTest, JsonHoldsAnyText) {
  auto parsed = llvm::json::parse(writeCountJson(report));
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  const llvm::json::Object &object = *parsed->getAsObject();
  EXPECT_EQ(object.getInteger("kiln_count"), 1);
  const llvm::json::Array &lines = *object.getArray("lines");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1].getAsObject()->getString("file"), file);
  const llvm::json::Array &places = *object.getArray("places");
  const llvm::json::Array &callers = *places.back().getAsObject()->getArray("callers");
  ASSERT_EQ(callers.size(), 1u);
  EXPECT_EQ(callers[0].getAsObject()->getInteger("line"), 2);
}

TEST(CountNumbers, AreReadable) {
  EXPECT_EQ(withSeparators(0), "0");
  EXPECT_EQ(withSeparators(999), "999");
  EXPECT_EQ(withSeparators(1000), "1,000");
  EXPECT_EQ(withSeparators(1234567), "1,234,567");
  EXPECT_EQ(withSeparators(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(withDigits(2.0 / 3, 2), "0.67");
}

} // namespace
