#include "compiler/Driver/Reporting/Sarif.h"
#include "compiler/Basic/Diagnostics.h"
#include "compiler/Basic/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

namespace json = llvm::json;
using llvm::StringRef;

namespace kiln {
namespace {

/// A path as SARIF wants it: relative ones stay so, from the folder that the command ran in.
std::string uriOf(StringRef path) {
  std::string uri = llvm::sys::path::is_absolute(path) ? "file://" : "";
  for (unsigned char c : path)
    if (llvm::isAlnum(c) || StringRef("-._~/").contains(c))
      uri += c;
    else
      uri += "%" + llvm::utohexstr(c, /*LowerCase=*/false, /*Width=*/2);
  return uri;
}

/// (json::Value does not copy a StringRef, and what was parsed ends before the log does.)
json::Object text(std::string message) { return json::Object{{"text", std::move(message)}}; }

json::Object locationOf(const json::Object &diagnostic) {
  std::optional<StringRef> file = diagnostic.getString("file");
  if (!file) {
    std::optional<StringRef> place = diagnostic.getString("place");
    return place ? json::Object{{"logicalLocations",
                                 json::Array{json::Object{{"fullyQualifiedName", place->str()}}}}}
                 : json::Object();
  }
  json::Object region{{"startLine", diagnostic.getInteger("line")},
                      {"startColumn", diagnostic.getInteger("column")},
                      {"endLine", diagnostic.getInteger("endLine")},
                      {"endColumn", diagnostic.getInteger("endColumn")}};
  return json::Object{
      {"physicalLocation", json::Object{{"artifactLocation", json::Object{{"uri", uriOf(*file)}}},
                                        {"region", std::move(region)}}}};
}

/// Notes without a place of their own become part of the message, as hints do.
json::Object resultOf(const json::Object &diagnostic) {
  std::string message = diagnostic.getString("message")->str();
  if (std::optional<StringRef> hint = diagnostic.getString("hint"))
    message += ("\nhint: " + *hint).str();
  json::Array related;
  if (const json::Array *notes = diagnostic.getArray("notes"))
    for (const json::Value &element : *notes) {
      const json::Object &note = *element.getAsObject();
      StringRef noteMessage = *note.getString("message");
      json::Object location = locationOf(note);
      if (location.empty()) {
        message += ("\nnote: " + noteMessage).str();
        continue;
      }
      location["message"] = text(noteMessage.str());
      related.push_back(std::move(location));
    }
  json::Object result{{"ruleId", diagnostic.getString("kind")->str()},
                      {"level", diagnostic.getString("severity")->str()},
                      {"message", text(std::move(message))}};
  if (json::Object location = locationOf(diagnostic); !location.empty())
    result["locations"] = json::Array{std::move(location)};
  if (!related.empty())
    result["relatedLocations"] = std::move(related);
  return result;
}

/// What the kinds that occur say in general, in the order in which they are declared.
json::Array rulesOf(const llvm::StringMap<bool> &kinds) {
  json::Array rules;
  for (const DiagInfo &info : getAllDiagInfos())
    if (std::string tag = getDiagTag(info.name); kinds.contains(tag)) {
      json::Object rule{
          {"id", tag}, {"name", info.name}, {"shortDescription", text(info.format.str())}};
      if (!info.hint.empty())
        rule["help"] = text(info.hint.str());
      rules.push_back(std::move(rule));
    }
  return rules;
}

} // namespace

json::Value sarifLog(llvm::ArrayRef<std::string> diagnostics) {
  json::Array results;
  llvm::StringMap<bool> kinds;
  for (const std::string &element : diagnostics) {
    json::Value diagnostic = llvm::cantFail(json::parse(element));
    kinds[*diagnostic.getAsObject()->getString("kind")] = true;
    results.push_back(resultOf(*diagnostic.getAsObject()));
  }
  json::Object driver{
      {"name", "kiln"}, {"semanticVersion", kilnVersion()}, {"rules", rulesOf(kinds)}};
  json::Object run{{"tool", json::Object{{"driver", std::move(driver)}}},
                   {"results", std::move(results)}};
  return json::Object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", json::Array{std::move(run)}}};
}

} // namespace kiln
