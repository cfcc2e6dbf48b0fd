// Counts back from JSON, as writeCountJson writes them: what a report shows of them, not every
// operation.

#include "compiler/Report/CountReport.h"

#include "llvm/Support/JSON.h"

namespace json = llvm::json;

namespace kiln {
namespace {

using Path = json::Path;

/// An object's members that must be there, of a kind; Path says where one is not.
class Members {
public:
  Members(const json::Value &value, Path path) : path(path), object(value.getAsObject()) {
    if (!object)
      fail(path, "expected an object");
  }

  bool isGood() const { return good; }

  template <typename T> void read(llvm::StringRef key, T &out) {
    if (const json::Value *value = at(key))
      good &= json::fromJSON(*value, out, path.field(key));
  }
  template <typename Each> void within(llvm::StringRef key, Each each) {
    if (const json::Value *value = at(key)) {
      Members inner(*value, path.field(key));
      if (inner.isGood())
        each(inner);
      good &= inner.isGood();
    }
  }
  /// Calls `each` with every element of an array.
  template <typename Each> void elements(llvm::StringRef key, Each each) {
    const json::Value *value = at(key);
    if (!value)
      return;
    const json::Array *array = value->getAsArray();
    if (!array)
      return fail(path.field(key), "expected an array");
    for (size_t i = 0; i < array->size() && good; ++i) {
      Members inner((*array)[i], path.field(key).index(unsigned(i)));
      if (inner.isGood())
        each(inner);
      good &= inner.isGood();
    }
  }
  /// Calls `each` with the name of every member.
  template <typename Each> void names(Each each) {
    for (const auto &[name, value] : *object)
      each(name.str());
  }

private:
  const json::Value *at(llvm::StringRef key) {
    const json::Value *value = good ? object->get(key) : nullptr;
    if (!value && good)
      fail(path.field(key), "is missing");
    return value;
  }
  void fail(Path where, llvm::StringLiteral message) {
    where.report(message);
    good = false;
  }

  Path path;
  const json::Object *object;
  bool good = true;
};

void readInstructions(Members &in, CountTotals::Instructions &out) {
  in.read("warp_instructions", out.warps);
  in.read("thread_instructions", out.threads);
}

void readTotals(Members &in, CountTotals &out) {
  readInstructions(in, out.instructions);
  in.within("classes", [&](Members &classes) {
    classes.names([&](const std::string &name) {
      classes.within(name, [&](Members &one) { readInstructions(one, out.classes[name]); });
    });
  });
  in.read("divergent_branches", out.divergentBranches);
  in.read("flops", out.flops);
  in.read("matrix_operations", out.matrixOperations);
  in.within("global", [&](Members &global) {
    global.read("requests", out.globalRequests);
    global.read("sectors", out.sectors);
    global.read("ideal_sectors", out.idealSectors);
    global.read("bytes_read", out.globalRead);
    global.read("bytes_written", out.globalWritten);
  });
  in.within("shared", [&](Members &shared) {
    shared.read("requests", out.sharedRequests);
    shared.read("wavefronts", out.wavefronts);
    shared.read("ideal_wavefronts", out.idealWavefronts);
    shared.read("bytes_read", out.sharedRead);
    shared.read("bytes_written", out.sharedWritten);
    shared.read("bytes_written_asynchronously", out.asyncBytes);
  });
}

void readLine(Members &in, CountedLine &out) {
  uint64_t number = 0;
  in.read("file", out.file);
  in.read("line", number);
  out.line = uint32_t(std::min<uint64_t>(number, UINT32_MAX));
  in.read("source", out.source);
  in.read("inclusive_warp_instructions", out.inclusive);
  in.within("counts", [&](Members &counts) { readTotals(counts, out.own); });
}

void readReport(Members &in, CountReport &out) {
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
  in.elements("arguments", [&](Members &argument) {
    CountedArgument &one = out.arguments.emplace_back();
    argument.read("name", one.name);
    argument.read("value", one.value);
    argument.read("bytes", one.bytes);
  });
  in.read("operations", out.operations);
  in.within("total", [&](Members &total) { readTotals(total, out.total); });
  in.elements("lines", [&](Members &line) { readLine(line, out.lines.emplace_back()); });
  in.read("sources", out.sources);
}

} // namespace

llvm::Expected<CountReport> readCountJson(llvm::StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return llvm::createStringError("it is not JSON: " + llvm::toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("kiln_count") : std::nullopt;
  if (!version)
    return llvm::createStringError("these are no counts that kiln run --count-json wrote");
  if (*version != kCountVersion)
    return llvm::createStringError("the counts have version " + std::to_string(*version) +
                                   ", this Kiln reads version " + std::to_string(kCountVersion));
  Path::Root root("counts");
  CountReport report;
  Members members(*value, root);
  readReport(members, report);
  if (!members.isGood())
    return root.getError();
  return report;
}

} // namespace kiln
