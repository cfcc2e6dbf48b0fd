// What the page shows, as JSON for tools: {"kiln_report": 1, "library", "launches"}.

#include "compiler/Report/PageParts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

namespace kiln {
namespace {

void writeBound(llvm::json::OStream &json, const TimeBound &bound) {
  json.attribute("gpu", bound.gpu->name);
  json.attribute("seconds", bound.seconds());
  json.attribute("limit", bound.limit());
  json.attribute("imbalance", bound.imbalance);
  json.attributeArray("terms", [&] {
    for (const BoundTerm &term : bound.terms)
      json.object([&] {
        json.attribute("name", term.name);
        json.attribute("amount", term.amount);
        json.attribute("unit", term.unit);
        json.attribute("per_second", term.rate);
        json.attribute("seconds", term.seconds);
      });
  });
  json.attributeArray("missing", [&] {
    for (const std::string &name : bound.missing)
      json.value(name);
  });
}

void writeLaunch(llvm::json::OStream &json, const CountReport &counts,
                 llvm::ArrayRef<PageBound> bounds, size_t number) {
  using llvm::json::fixUTF8;
  json.attribute("kernel", fixUTF8(counts.entry));
  json.attribute("variant", fixUTF8(counts.variant));
  json.attribute("target", fixUTF8(counts.target));
  json.attributeObject("arguments", [&] {
    for (const CountedArgument &argument : counts.arguments)
      json.attribute(fixUTF8(argument.name), fixUTF8(argument.value));
  });
  json.attribute("blocks", counts.blocks);
  json.attribute("warp_instructions", counts.total.instructions.warps);
  json.attribute("flops", counts.total.flops);
  json.attribute("least_bytes", leastBytes(counts));
  json.attributeArray("bounds", [&] {
    for (const PageBound &one : bounds)
      if (one.count == number)
        json.object([&] { writeBound(json, one.bound); });
  });
}

/// JSON that is text of HTML and XML as it is: neither tags nor entities begin in it.
std::string withoutMarkup(llvm::StringRef json) {
  std::string result;
  for (char letter : json)
    result += letter == '<'   ? "\\u003c"
              : letter == '>' ? "\\u003e"
              : letter == '&' ? "\\u0026"
                              : std::string(1, letter);
  return result;
}

} // namespace

void writeData(const ReportPage &page, llvm::ArrayRef<PageBound> bounds, llvm::raw_ostream &os) {
  std::string text, library;
  if (page.library) {
    llvm::raw_string_ostream libraryText(library);
    writeSummaryJson(*page.library, libraryText);
  }
  llvm::raw_string_ostream out(text);
  llvm::json::OStream json(out);
  json.object([&] {
    json.attribute("kiln_report", 1);
    if (page.library) {
      json.attributeBegin("library");
      json.rawValue(library);
      json.attributeEnd();
    }
    json.attributeArray("launches", [&] {
      for (auto [number, counts] : llvm::enumerate(page.counts))
        json.object(
            [&, &counts = counts, number = number] { writeLaunch(json, counts, bounds, number); });
    });
  });
  os << withoutMarkup(text);
}

} // namespace kiln
