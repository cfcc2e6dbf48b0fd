#include "compiler/Driver/Reporting/RenderedDiagnostic.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace kiln {
namespace {

std::string placeKey(const Diagnostic &diagnostic, const SourceManager &sources) {
  SourceRange range = diagnostic.place.range;
  if (!range.isValid())
    return diagnostic.place.name;
  return (sources.get(range.file).getPath() + ":" + llvm::Twine(range.begin) + "-" +
          llvm::Twine(range.end))
      .str();
}

std::string keyOf(const Diagnostic &diagnostic, llvm::StringRef text,
                  const SourceManager &sources) {
  if (!getDiagInfo(diagnostic.kind).name.starts_with("Sema"))
    return text.str();
  std::string key = getDiagTag(diagnostic.kind) + " " + placeKey(diagnostic, sources);
  for (const Diagnostic &note : diagnostic.notes)
    key += " " + placeKey(note, sources);
  return key;
}

} // namespace

std::vector<RenderedDiagnostic> renderDiagnostics(const DiagnosticEngine &diagnostics,
                                                  const SourceManager &sources) {
  std::vector<RenderedDiagnostic> rendered;
  llvm::StringMap<unsigned> keys;
  json::Array list = diagnostics.toJson(sources);
  for (auto [index, diagnostic] : llvm::enumerate(diagnostics.getDiagnostics())) {
    RenderedDiagnostic &out = rendered.emplace_back();
    out.severity = diagnostic.severity;
    llvm::raw_string_ostream text(out.text), element(out.json);
    printDiagnostic(text, sources, diagnostic);
    if (index < list.size())
      element << list[index];
    out.key = keyOf(diagnostic, out.text, sources);
    // Several at one place stay several.
    if (unsigned earlier = keys[out.key]++)
      out.key += " #" + std::to_string(earlier);
  }
  return rendered;
}

} // namespace kiln
