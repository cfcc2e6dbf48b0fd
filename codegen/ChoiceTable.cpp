//===- ChoiceTable.cpp - configs that others have chosen ------------------===//
#include "codegen/ChoiceTable.h"
#include "codegen/SpecValues.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln {

namespace {

/// More rows than any array has, and few enough to add to.
constexpr int64_t kMostRows = int64_t(1) << 48;

class ChoiceReader : SpecValues {
public:
  using SpecValues::SpecValues;

  std::optional<std::vector<Choice>> read() {
    unsigned before = diagnostics.getNumErrors();
    std::optional<JsonValue> json = parseDocument();
    if (!json)
      return std::nullopt;
    SpecItem root{&*json, ""};
    if (!json->is(JsonValue::Kind::Object)) {
      expected(root, "an object from numbers, M_LEQ_…, M_GEQ_… or any to configs");
      return std::nullopt;
    }
    for (const JsonMember &member : json->members)
      if (member.key != "triton_version" && !diagnostics.isFull())
        readEntry(root.key(member), member);
    if (diagnostics.getNumErrors() != before)
      return std::nullopt;
    return takeIntervals();
  }

private:
  enum class Kind { Exact, AtMost, AtLeast, Any };
  struct Entry {
    Kind kind;
    int64_t bound = 0;
    Choice choice;
  };
  std::vector<Entry> entries;

  void readEntry(const SpecItem &item, const JsonMember &member) {
    StringRef text = member.key;
    Entry entry{Kind::Exact, 0, {}};
    if (text.consume_front("M_LEQ_"))
      entry.kind = Kind::AtMost;
    else if (text.consume_front("M_GEQ_"))
      entry.kind = Kind::AtLeast;
    else if (text == "any")
      entry.kind = Kind::Any;
    if (entry.kind != Kind::Any &&
        (text.getAsInteger(10, entry.bound) || entry.bound < 1 || entry.bound > kMostRows))
      return expected(item, "a number, M_LEQ_…, M_GEQ_… or any as the key");
    readConfig(item, entry.choice.config);
    entries.push_back(std::move(entry));
  }

  void readConfig(const SpecItem &item, TritonConfig &config) {
    if (!item.value->is(JsonValue::Kind::Object))
      return expected(item, "a config");
    config.place = place(item);
    for (const JsonMember &member : item.value->members) {
      int64_t *number = config.launchOption(member.key);
      if (number)
        *number = integer(item.key(member), 0, 1024).value_or(0);
      else if (std::optional<Literal> value = literal(item.key(member)))
        config.values.push_back({member.key, std::move(*value)});
    }
  }

  /// Each interval ends at its bound, and begins behind the one before.
  std::vector<Choice> takeIntervals() {
    std::vector<int64_t> bounds;
    for (const Entry &entry : entries)
      if (entry.kind == Kind::AtMost)
        bounds.push_back(entry.bound);
    sort(bounds);
    std::vector<Choice> choices;
    for (Entry &entry : entries) {
      auto end = entry.kind == Kind::Any ? bounds.end() : lower_bound(bounds, entry.bound);
      int64_t first = end == bounds.begin() ? 1 : end[-1] + 1;
      if (entry.kind == Kind::AtMost && first < entry.bound)
        entry.choice.rows.push_back(first);
      entry.choice.rows.push_back(entry.kind == Kind::Any ? first : entry.bound);
      choices.push_back(std::move(entry.choice));
    }
    return choices;
  }
};

} // namespace

std::optional<std::vector<Choice>> readChoiceTable(const SourceFile &file,
                                                   DiagnosticEngine &diagnostics) {
  return ChoiceReader(file, diagnostics).read();
}

} // namespace kiln
