// Counts back from JSON, as writeCountJson writes them: what a report shows of them, not every
// operation.

#include "compiler/Basic/JsonMembers.h"
#include "compiler/Report/CountReport.h"
#include "llvm/Support/JSON.h"

namespace json = llvm::json;

namespace kiln {
namespace {

void readInstructions(JsonMembers &in, CountTotals::Instructions &out) {
  in.read("warp_instructions", out.warps);
  in.read("thread_instructions", out.threads);
}

void readTotals(JsonMembers &in, CountTotals &out) {
  readInstructions(in, out.instructions);
  in.within("classes", [&](JsonMembers &classes) {
    classes.names([&](llvm::StringRef name) {
      classes.within(name,
                     [&](JsonMembers &one) { readInstructions(one, out.classes[name.str()]); });
    });
  });
  in.read("divergent_branches", out.divergentBranches);
  in.read("flops", out.flops);
  in.read("matrix_operations", out.matrixOperations);
  in.within("global", [&](JsonMembers &global) {
    global.read("requests", out.globalRequests);
    global.read("sectors", out.sectors);
    global.read("ideal_sectors", out.idealSectors);
    global.read("bytes_read", out.globalRead);
    global.read("bytes_written", out.globalWritten);
  });
  in.within("shared", [&](JsonMembers &shared) {
    shared.read("requests", out.sharedRequests);
    shared.read("wavefronts", out.wavefronts);
    shared.read("ideal_wavefronts", out.idealWavefronts);
    shared.read("bytes_read", out.sharedRead);
    shared.read("bytes_written", out.sharedWritten);
    shared.read("bytes_written_asynchronously", out.asyncBytes);
  });
}

void readLine(JsonMembers &in, CountedLine &out) {
  uint64_t number = 0;
  in.read("file", out.file);
  in.read("line", number);
  out.line = uint32_t(std::min<uint64_t>(number, UINT32_MAX));
  in.read("source", out.source);
  in.read("inclusive_warp_instructions", out.inclusive);
  in.within("counts", [&](JsonMembers &counts) { readTotals(counts, out.own); });
}

void readReport(JsonMembers &in, CountReport &out) {
  uint64_t threads = 0, warpSize = 0;
  in.read("kernel", out.entry);
  in.read("function", out.kernel);
  in.read("variant", out.variant);
  in.read("target", out.target);
  std::vector<int64_t> grid;
  in.read("grid", grid);
  std::copy_n(grid.begin(), std::min(grid.size(), out.grid.size()), out.grid.begin());
  in.read("blocks", out.blocks);
  in.read("threads_per_block", threads);
  in.read("warp_size", warpSize);
  out.threads = uint32_t(threads);
  out.warpSize = uint32_t(warpSize);
  in.elements("arguments", [&](JsonMembers &argument) {
    CountedArgument &one = out.arguments.emplace_back();
    argument.read("name", one.name);
    argument.read("value", one.value);
    argument.read("bytes", one.bytes);
  });
  in.read("operations", out.operations);
  in.within("total", [&](JsonMembers &total) { readTotals(total, out.total); });
  in.elements("lines", [&](JsonMembers &line) { readLine(line, out.lines.emplace_back()); });
  in.read("sources", out.sources);
}

} // namespace

llvm::Expected<CountReport> readCountJson(llvm::StringRef text) {
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("kiln_count") : std::nullopt;
  if (!version)
    return llvm::createStringError("these are no counts that kiln run --count-json wrote");
  if (*version != kCountVersion)
    return llvm::createStringError("the counts have version " + std::to_string(*version) +
                                   ", this Kiln reads version " + std::to_string(kCountVersion));
  json::Path::Root root("counts");
  CountReport report;
  JsonMembers members(*value, root);
  readReport(members, report);
  if (!members.isGood())
    return root.getError();
  return report;
}

} // namespace kiln
