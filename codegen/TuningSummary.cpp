//===- TuningSummary.cpp - what measurements decide in a library ----------===//
#include "codegen/TuningSummary.h"
#include "codegen/DispatchTables.h"
#include "codegen/TimeEstimates.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace kiln {

double TuningSummary::worstRegret() const {
  double worst = 0;
  for (const TunedShapeSummary &shape : shapes)
    worst = std::max(worst, shape.regret());
  return worst;
}

double TuningSummary::meanRegret() const {
  double logarithms = 0;
  for (const TunedShapeSummary &shape : shapes)
    logarithms += std::log1p(shape.regret());
  return shapes.empty() ? 0 : std::expm1(logarithms / double(shapes.size()));
}

/// What is taken where the call is just this shape: of the variants that there are, any that was
/// measured is legal then, no other.
static TunedShapeSummary summarizeShape(const EntryModel &entry, const DispatchTables &tables,
                                        const MeasuredTarget &measured, const MeasuredShape &one,
                                        ArrayRef<TunedTree> trees) {
  TunedShapeSummary shape{one.key, "", 0, one.isTimed ? one.times.front().second : 0};
  auto timeOf = [&](unsigned index) -> std::optional<double> {
    const VariantModel &variant = entry.variants[index];
    if (none_of(variant.binaries,
                [&](const VariantBinary &binary) { return binary.target == measured.target; }))
      return std::nullopt;
    std::string stable = stableName(entry, variant);
    auto time = find_if(one.times, [&](const auto &known) { return known.first == stable; });
    return time == one.times.end() ? std::nullopt : std::optional(time->second);
  };
  auto choice = chooseTuned(
      tables, trees, one.key, [&](unsigned variant) { return timeOf(variant).has_value(); },
      [&](unsigned variant) {
        return wavesAt(entry, variant, one.key, measured.processors).value_or(1);
      });
  if (!choice)
    return shape;
  shape.variant = variantName(entry, entry.variants[*choice]);
  shape.time = one.isTimed ? *timeOf(*choice) : 0;
  return shape;
}

std::vector<TuningSummary> summarizeTuning(const LibraryModel &model, const EntryModel &entry) {
  std::vector<TuningSummary> summaries;
  if (entry.measured.empty())
    return summaries;
  DispatchTables tables = buildDispatchTables(model, entry);
  for (const MeasuredTarget &measured : entry.measured) {
    TuningSummary &summary = summaries.emplace_back();
    summary.target = model.targets[measured.target].name;
    summary.devices = measured.devices;
    summary.key = entry.dispatchKey;
    summary.leftOut = measured.leftOut;
    auto row = find_if(tables.targets,
                       [&](const TargetRow &one) { return one.target == measured.target; });
    if (row == tables.targets.end())
      continue;
    for (const MeasuredShape &shape : measured.shapes)
      summary.shapes.push_back(summarizeShape(entry, tables, measured, shape,
                                              tables.tuned[size_t(row - tables.targets.begin())]));
  }
  return summaries;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Few digits, and the same ones everywhere.
static void writeNumber(json::OStream &json, StringRef key, double value) {
  json.attributeBegin(key);
  json.rawValue(formatv("{0:f4}", value).str());
  json.attributeEnd();
}

void writeTuning(json::OStream &json, const TuningSummary &tuning) {
  auto writeTexts = [&](StringRef key, const std::vector<std::string> &texts) {
    json.attributeArray(key, [&] {
      for (const std::string &text : texts)
        json.value(json::fixUTF8(text));
    });
  };
  json.attribute("target", json::fixUTF8(tuning.target));
  writeTexts("devices", tuning.devices);
  writeTexts("key", tuning.key);
  writeNumber(json, "worst_regret", tuning.worstRegret());
  writeNumber(json, "mean_regret", tuning.meanRegret());
  writeTexts("left_out", tuning.leftOut);
  json.attributeArray("shapes", [&] {
    for (const TunedShapeSummary &shape : tuning.shapes)
      json.object([&] {
        json.attributeArray("key", [&] {
          for (int64_t value : shape.key)
            json.value(value);
        });
        json.attribute("variant", json::fixUTF8(shape.variant));
        writeNumber(json, "time_us", shape.time);
        writeNumber(json, "best_us", shape.best);
      });
  });
}

namespace {
const JsonValue *memberOf(const JsonValue &json, StringRef key, JsonValue::Kind kind) {
  const JsonMember *member = json.find(key);
  return member && member->value.is(kind) ? &member->value : nullptr;
}

std::vector<std::string> readTexts(const JsonValue &json, StringRef key) {
  std::vector<std::string> texts;
  if (const JsonValue *list = memberOf(json, key, JsonValue::Kind::Array))
    for (const JsonValue &element : list->elements)
      texts.push_back(element.text);
  return texts;
}

double readNumber(const JsonValue &json, StringRef key) {
  const JsonValue *real = memberOf(json, key, JsonValue::Kind::Real);
  return real && std::isfinite(real->real) ? real->real : 0;
}

std::string readText(const JsonValue &json, StringRef key) {
  const JsonValue *text = memberOf(json, key, JsonValue::Kind::String);
  return text ? text->text : "";
}
} // namespace

TuningSummary readTuning(const JsonValue &json) {
  TuningSummary tuning;
  tuning.target = readText(json, "target");
  tuning.devices = readTexts(json, "devices");
  tuning.key = readTexts(json, "key");
  tuning.leftOut = readTexts(json, "left_out");
  const JsonValue *shapes = memberOf(json, "shapes", JsonValue::Kind::Array);
  for (size_t i = 0; shapes && i < shapes->elements.size(); ++i) {
    const JsonValue &one = shapes->elements[i];
    TunedShapeSummary &shape = tuning.shapes.emplace_back();
    shape.variant = readText(one, "variant");
    shape.time = readNumber(one, "time_us");
    shape.best = readNumber(one, "best_us");
    if (const JsonValue *key = memberOf(one, "key", JsonValue::Kind::Array))
      for (const JsonValue &value : key->elements)
        shape.key.push_back(value.integer);
  }
  return tuning;
}

} // namespace kiln
