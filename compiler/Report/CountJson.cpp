// Counts as JSON, by count.schema.json. Keys are only ever added, unless "kiln_count" grows.

#include "compiler/Report/CountReport.h"

#include "llvm/Support/JSON.h"

namespace kiln {
namespace {

class JsonWriter {
public:
  JsonWriter(const CountReport &report, llvm::raw_ostream &os) : report(report), json(os, 2) {}

  void write() {
    json.object([&] {
      json.attribute("kiln_count", kCountVersion);
      json.attribute("kernel", report.entry);
      json.attribute("function", report.kernel);
      json.attribute("variant", report.variant);
      json.attribute("target", report.target);
      json.attributeArray("grid", [&] {
        for (int64_t extent : report.grid)
          json.value(extent);
      });
      writeArguments();
      number("blocks", report.blocks);
      json.attribute("threads_per_block", report.threads);
      json.attribute("warp_size", report.warpSize);
      json.attributeObject("total", [&] { counts(report.total); });
      json.attribute("flops_per_global_byte", report.total.intensity());
      json.attributeObject("operations", [&] {
        for (const auto &[kind, sum] : report.operations)
          number(kind, sum);
      });
      json.attributeArray("lines", [&] {
        for (const CountedLine &line : report.lines)
          json.object([&] { writeLine(line); });
      });
      json.attributeArray("places", [&] {
        for (const kiln_emulator_count &place : report.places)
          json.object([&] { writePlace(place); });
      });
      writeSources();
    });
    json.flush();
  }

private:
  void number(llvm::StringRef key, uint64_t value) { json.attribute(key, value); }

  void writeArguments() {
    json.attributeArray("arguments", [&] {
      for (const CountedArgument &argument : report.arguments)
        json.object([&] {
          json.attribute("name", argument.name);
          json.attribute("value", argument.value);
          number("bytes", argument.bytes);
        });
    });
  }

  void writeSources() {
    json.attributeObject("sources", [&] {
      for (const auto &[file, lines] : report.sources)
        json.attributeArray(llvm::json::fixUTF8(file), [&, &lines = lines] {
          for (const std::string &line : lines)
            json.value(llvm::json::fixUTF8(line));
        });
    });
  }

  void position(llvm::StringRef file, uint32_t line) {
    json.attribute("file", llvm::json::fixUTF8(file));
    json.attribute("line", line);
  }

  void writeLine(const CountedLine &line) {
    position(line.file, line.line);
    json.attribute("source", llvm::json::fixUTF8(line.source));
    number("inclusive_warp_instructions", line.inclusive);
    json.attributeObject("counts", [&] { counts(line.own); });
  }

  void writePlace(const kiln_emulator_count &place) {
    position(place.file, place.line);
    json.attribute("column", place.column);
    json.attribute("operation", place.operation);
    json.attribute("class", place.kind);
    json.attributeArray("callers", [&] {
      for (const kiln_emulator_position *caller = place.caller; caller; caller = caller->caller)
        json.object([&] {
          position(caller->file, caller->line);
          json.attribute("column", caller->column);
        });
    });
    CountTotals totals;
    totals.add(place);
    json.attributeObject("counts", [&] { counts(totals); });
  }

  void instructions(const CountTotals::Instructions &instructions) {
    number("warp_instructions", instructions.warps);
    number("thread_instructions", instructions.threads);
  }

  void counts(const CountTotals &totals) {
    instructions(totals.instructions);
    json.attributeObject("classes", [&] {
      for (llvm::StringRef kind : countedClasses())
        if (auto found = totals.classes.find(kind.str()); found != totals.classes.end())
          json.attributeObject(kind, [&] { instructions(found->second); });
    });
    number("divergent_branches", totals.divergentBranches);
    number("flops", totals.flops);
    number("matrix_operations", totals.matrixOperations);
    json.attributeObject("global", [&] {
      number("requests", totals.globalRequests);
      number("sectors", totals.sectors);
      number("ideal_sectors", totals.idealSectors);
      number("bytes_read", totals.globalRead);
      number("bytes_written", totals.globalWritten);
    });
    json.attributeObject("shared", [&] {
      number("requests", totals.sharedRequests);
      number("wavefronts", totals.wavefronts);
      number("ideal_wavefronts", totals.idealWavefronts);
      number("bank_conflicts", totals.bankConflicts());
      number("bytes_read", totals.sharedRead);
      number("bytes_written", totals.sharedWritten);
      number("bytes_written_asynchronously", totals.asyncBytes);
    });
  }

  const CountReport &report;
  llvm::json::OStream json;
};

} // namespace

std::string writeCountJson(const CountReport &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter(report, os).write();
  os << "\n";
  return text;
}

} // namespace kiln
