//===- TritonTimes.cpp - what Triton's autotuner measured -----------------===//
#include "codegen/TritonTimes.h"
#include "codegen/SpecValues.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace kiln {

namespace {

class TritonReader : SpecValues {
public:
  using SpecValues::SpecValues;

  std::optional<TritonTimes> read() {
    unsigned before = diagnostics.getNumErrors();
    std::optional<JsonValue> json = parseDocument();
    if (!json)
      return std::nullopt;
    TritonTimes times;
    SpecItem root{&*json, ""};
    times.place = place(root);
    readKey(required(root, "key"), times);
    SpecItem configs = required(root, "configs_timings");
    if (configs && checkList(configs, "a list of configs with their times", 1, 100000))
      for (size_t i = 0; i < configs.value->elements.size() && !diagnostics.isFull(); ++i)
        readConfig(configs.at(i), times.configs.emplace_back());
    if (diagnostics.getNumErrors() != before)
      return std::nullopt;
    return times;
  }

private:
  SpecItem required(const SpecItem &object, StringRef key) {
    SpecItem found = child(object, key);
    if (!found)
      report(DiagKind::SpecMissingKey, object, key);
    return found;
  }

  void readKey(const SpecItem &key, TritonTimes &times) {
    if (!key || !checkList(key, "a tuning key", 0, 1000))
      return;
    for (const JsonValue &value : key.value->elements) {
      if (!value.is(JsonValue::Kind::Integer) && !value.is(JsonValue::Kind::Bool))
        break;
      times.key.push_back(value.is(JsonValue::Kind::Bool) ? value.boolean : value.integer);
    }
  }

  /// [{"kwargs": {...}, "num_warps": 4, ...}, 0.012] or with [median, 20 %, 80 %], in milliseconds.
  void readConfig(const SpecItem &item, TritonConfigTime &config) {
    config.place = place(item);
    if (!checkList(item, "a config and its times", 2, 2))
      return;
    SpecItem options = item.at(0), times = item.at(1), values = required(options, "kwargs");
    if (!values)
      return;
    if (!values.value->is(JsonValue::Kind::Object))
      return expected(values, "an object of values");
    for (const JsonMember &member : values.value->members)
      if (std::optional<Literal> value = literal(values.key(member)))
        config.values.push_back({member.key, std::move(*value)});
    for (const JsonMember &member : options.value->members)
      if (int64_t *number = config.launchOption(member.key))
        *number = integer(options.key(member), 0, 1024).value_or(0);
    if (times.value->is(JsonValue::Kind::Array) && !times.value->elements.empty())
      times = times.at(0);
    readTime(times, config);
  }

  void readTime(const SpecItem &item, TritonConfigTime &config) {
    bool isInteger = item.value->is(JsonValue::Kind::Integer);
    double milliseconds = isInteger ? double(item.value->integer) : item.value->real;
    if ((!isInteger && !item.value->is(JsonValue::Kind::Real)) || milliseconds <= 0)
      return expected(item, "milliseconds, more than 0");
    if (std::isfinite(milliseconds)) // Triton writes Infinity for a config that does not run.
      config.time = milliseconds * 1e3;
  }
};

} // namespace

int64_t *TritonConfig::launchOption(StringRef name) {
  return name == "num_warps"    ? &numWarps
         : name == "num_stages" ? &numStages
         : name == "num_ctas"   ? &numCtas
                                : nullptr;
}

std::optional<TritonTimes> readTritonTimes(const SourceFile &file, DiagnosticEngine &diagnostics) {
  return TritonReader(file, diagnostics).read();
}

} // namespace kiln
