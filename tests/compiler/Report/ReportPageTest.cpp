// The page's structure: its data for tools, and what readers find in it.

#include "compiler/Report/ReportPage.h"
#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

BinarySummary binary(const char *target, uint64_t registers) {
  BinarySummary made;
  made.target = target;
  made.format = "cubin";
  made.bytes = 1000;
  made.threads = 128;
  made.registers = registers;
  made.occupancy = occupancyOf(target, {128, uint32_t(registers), 0});
  return made;
}

LibrarySummary library() {
  LibrarySummary made;
  made.name = "ops";
  made.targets = {"cuda:sm_90a", "cpu"};
  EntrySummary entry;
  entry.name = "add";
  entry.variants = {
      {"BLOCK=128, num_warps=4, x divisible by 16", {binary("cuda:sm_90a", 64)}, "0123456789ab"},
      {"BLOCK=256, num_warps=4, x divisible by 16", {binary("cuda:sm_90a", 128)}, "ba9876543210"}};
  entry.variants[0].binaries[0].mainLoop = MainLoop{true, 200, 50, 20, 10, 5};
  entry.variants[0].binaries[0].spillStoreBytes = 16;
  entry.variants[1].binaries[0].fallback =
      std::make_shared<const BinarySummary>(binary("cuda:sm_90a", 32));
  made.entries = {entry};
  return made;
}

CountedLine line(uint32_t number, uint64_t warps) {
  CountedLine made;
  made.file = "add.py";
  made.line = number;
  made.own.instructions = {warps, 32 * warps};
  made.own.classes["float32"] = made.own.instructions;
  made.own.flops = 32 * warps;
  return made;
}

CountReport counts(const char *target) {
  CountReport made;
  made.entry = made.kernel = "add";
  made.target = target;
  made.variant = "BLOCK=128, num_warps=4, x divisible by 16";
  made.blocks = 132;
  made.threads = 128;
  made.warpSize = 32;
  made.arguments = {{"x", "fp32[1024]", 4096}, {"n", "1024", 0}};
  made.lines = {line(9, 4), line(10, 400)};
  for (const CountedLine &one : made.lines) {
    made.total.instructions.warps += one.own.instructions.warps;
    made.total.instructions.threads += one.own.instructions.threads;
    made.total.flops += one.own.flops;
  }
  made.total.classes["float32"] = made.total.instructions;
  made.total.globalRead = 4096;
  made.operations["float32"] = made.total.flops;
  std::vector<std::string> lines(30, "# nothing");
  lines[8] = "nine";
  lines[9] = "ten";
  made.sources["add.py"] = lines;
  return made;
}

ReportPage page() {
  ReportPage made;
  made.title = "ops";
  made.library = library();
  made.counts = {counts("emu:sm_90a"), counts("emu:sm_80")};
  made.gpus = {findGpu("h100"), findGpu("a100"), findGpu("h200")};
  return made;
}

llvm::json::Object dataOf(const std::string &html) {
  llvm::StringRef text = html;
  text = text.split("id=\"kiln-report\">").second.split("</script>").first;
  EXPECT_EQ(text.find_first_of("<>&"), llvm::StringRef::npos);
  return *llvm::cantFail(llvm::json::parse(text)).getAsObject();
}

size_t countOf(llvm::StringRef text, llvm::StringRef part) { return text.count(part); }

TEST(ReportPage, HoldsItsDataForTools) {
  llvm::json::Object data = dataOf(writeReportPage(page()));
  EXPECT_EQ(data.getInteger("kiln_report"), 1);
  const llvm::json::Object &variant =
      *(*(*data.getObject("library")->getArray("entries"))[0].getAsObject()->getArray(
          "variants"))[0]
           .getAsObject();
  const llvm::json::Object &built = *(*variant.getArray("binaries"))[0].getAsObject();
  EXPECT_EQ(built.getObject("occupancy")->getInteger("blocks"), 8);
  EXPECT_EQ(built.getObject("occupancy")->getString("limits"), "registers");
  EXPECT_EQ(built.getObject("main_loop")->getInteger("matrix"), 50);
  const llvm::json::Array &launches = *data.getArray("launches");
  ASSERT_EQ(launches.size(), 2u);
  const llvm::json::Array &bounds = *launches[0].getAsObject()->getArray("bounds");
  ASSERT_EQ(bounds.size(), 2u) << "the H100 and the H200, not the A100";
  EXPECT_EQ(bounds[0].getAsObject()->getString("gpu"), "h100");
  EXPECT_EQ(bounds[0].getAsObject()->getString("limit"), "memory");
  EXPECT_EQ(launches[1].getAsObject()->getArray("bounds")->size(), 1u);
}

TEST(ReportPage, HasARowForEachBinary) {
  std::string html = writeReportPage(page());
  llvm::StringRef table = llvm::StringRef(html).split("id=\"binaries\">").second;
  table = table.split("</table>").first;
  EXPECT_EQ(countOf(table, "<tr>"), 1u + 3) << "a head, two binaries and a fallback";
  EXPECT_NE(table.find("data-l=\"variant\" data-v=\"0: BLOCK=128\""), llvm::StringRef::npos);
  EXPECT_NE(table.find("data-l=\"matrix\" data-v=\"0.2500\""), llvm::StringRef::npos);
  EXPECT_NE(table.find("data-l=\"spills\" data-v=\"16\" class=\" bad\""), llvm::StringRef::npos);
  EXPECT_NE(table.find("cuda:sm_90a fallback"), llvm::StringRef::npos);
  EXPECT_NE(html.find("All variants of add: num_warps=4, x divisible by 16."), std::string::npos);
}

TEST(ReportPage, FoldsWhatDidNotRun) {
  std::string html = writeReportPage(page());
  // Lines 9 and 10 ran, 8 and 11 stand beside them.
  EXPECT_NE(html.find("7 lines that did not run"), std::string::npos);
  EXPECT_NE(html.find("19 lines that did not run"), std::string::npos);
  llvm::StringRef open = llvm::StringRef(html).split("7 lines that did not run").second;
  open = open.split("</tbody>\n<tbody>\n").second.split("</tbody>").first;
  EXPECT_EQ(countOf(open, "<tr"), 4u);
  EXPECT_EQ(countOf(html, "class=\"number\""), 30u) << "all are there";
}

TEST(ReportPage, PutsLaunchesSideBySide) {
  std::string html = writeReportPage(page());
  EXPECT_NE(html.find("<th class=\"launch r0\">add on emu:sm_90a</th>"
                      "<th class=\"launch r1\">add on emu:sm_80</th>"),
            std::string::npos);
  ReportPage twice = page();
  twice.counts[1] = twice.counts[0];
  html = writeReportPage(twice);
  EXPECT_NE(html.find("<th class=\"launch r1\">add on emu:sm_90a #1</th>"), std::string::npos);
}

TEST(ReportPage, NeedsNothingElse) {
  std::string html = writeReportPage(page());
  for (const char *outside : {"http", "url(", "@import", "<link", "<img", "src="})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  ReportPage bare;
  bare.library = library();
  html = writeReportPage(bare);
  EXPECT_EQ(html.find("id=\"launches\""), std::string::npos);
  EXPECT_EQ(dataOf(html).getArray("launches")->size(), 0u);
}

TEST(FindCounted, IsByKernelVariantAndTarget) {
  LibrarySummary all = library();
  EXPECT_EQ(*findCounted(all, counts("emu:sm_90a")), &all.entries[0].variants[0].binaries[0]);
  EXPECT_EQ(*findCounted(all, counts("emu:sm_80")), nullptr);
  CountReport other = counts("emu:sm_90a");
  other.entry = "sub";
  EXPECT_EQ(llvm::toString(findCounted(all, other).takeError()),
            "the library 'ops' has no kernel 'sub'");
  other = counts("emu:sm_90a");
  other.variant = "BLOCK=64";
  EXPECT_EQ(llvm::toString(findCounted(all, other).takeError()),
            "the library's 'add' has no variant 'BLOCK=64'");
}

} // namespace
