// Reports of counts that an emulator was given: sums, callers, hints, and hostile texts.

#include "compiler/Report/ReportPage.h"
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
  ReportPage written;
  written.title = "entry<f32>";
  written.counts = {report};
  std::string page = writeReportPage(written);
  auto has = [&](const char *text) { return page.find(text) != std::string::npos; };
  EXPECT_TRUE(has("<title>entry&lt;f32&gt;</title>"));
  EXPECT_TRUE(has("<h3>a&lt;b&gt;&amp;&quot;c&quot;.py</h3>"));
  EXPECT_TRUE(has("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quoted&quot;"));
  EXPECT_TRUE(has("4.00 times the ideal sectors"));
  EXPECT_FALSE(has("<script>alert"));
  EXPECT_FALSE(has("\xff"));
  EXPECT_FALSE(has("\x01"));
}

TEST_F(CountReportTest, OperationsAreByUnit) {
  EXPECT_EQ(report.operations, (std::map<std::string, uint64_t>{{"float32", 1024}}));
  CountReport matrix;
  std::pair<const char *, const char *> names[] = {
      {"tilegpu.wgmma.f16", "f16"},
      {"tilegpu.wgmma.e4m3", "f8"},
      {"nvvm.mma.sync.tf32", "tf32"},
      {"llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32", "f8"},
      {"rocdl.mfma.f32.32x32x8bf16.1k", "bf16"},
      {"rocdl.mfma.f32.16x16x16f16", "f16"},
      {"rocdl.mfma.f32.32x32x2f32", "f32"},
      {"rocdl.mfma.i32.32x32x16.i8", "i8"},
      {"rocdl.wmma.i32.16x16x16.iu8", "i8"},
      {"nvvm.mma.sync.s8", "i8"}};
  for (const auto &[name, type] : names)
    EXPECT_EQ(matrixTypeOf(name), type) << name;
}

TEST_F(CountReportTest, IsReadBackFromJson) {
  report.arguments = {{"x_ptr", "fp32[3, 781]", 9372}, {"n", "3", 0}};
  report.operations = {{"matrix f16", UINT64_MAX}};
  std::string text = writeCountJson(report);
  auto read = readCountJson(text);
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->entry, report.entry);
  EXPECT_EQ(read->hardwareTarget(), "cuda:sm_80");
  EXPECT_EQ(read->arguments[0].bytes, 9372u);
  ASSERT_EQ(read->lines.size(), report.lines.size());
  EXPECT_EQ(read->lines[2].inclusive, 1011u);
  // All else: what is written again is the same but for the places, which are not read.
  read->places = report.places;
  EXPECT_EQ(writeCountJson(*read), text);
}

TEST_F(CountReportTest, WhatIsNoReportIsNotRead) {
  auto errorOf = [](llvm::StringRef text) {
    auto read = readCountJson(text);
    return read ? "" : llvm::toString(read.takeError());
  };
  EXPECT_NE(errorOf("{").find("not JSON"), std::string::npos);
  EXPECT_NE(errorOf("[]").find("no counts"), std::string::npos);
  EXPECT_NE(errorOf("{\"kiln_manifest\": 1}").find("no counts"), std::string::npos);
  EXPECT_EQ(errorOf("{\"kiln_count\": 2}"), "the counts have version 2, this Kiln reads version 1");
  EXPECT_NE(errorOf("{\"kiln_count\": 1}").find("kernel"), std::string::npos);
  // Each part of it is missed.
  auto whole = llvm::cantFail(llvm::json::parse(writeCountJson(report)));
  for (const auto &[key, value] : *whole.getAsObject()) {
    llvm::StringRef name = key;
    if (name == "places" || name == "flops_per_global_byte")
      continue;
    llvm::json::Object less = *whole.getAsObject();
    less.erase(name);
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(less));
    EXPECT_NE(errorOf(text), "") << name.str();
  }
  // Numbers are numbers.
  llvm::json::Object wrong = *whole.getAsObject();
  wrong["blocks"] = "many";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(wrong));
  EXPECT_NE(errorOf(text).find("blocks"), std::string::npos);
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

} // namespace
