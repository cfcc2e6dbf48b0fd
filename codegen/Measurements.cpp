//===- Measurements.cpp - from tuning files to an entry point -------------===//
#include "codegen/Measurements.h"
#include "codegen/DispatchTables.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>
#include <set>

using namespace llvm;

namespace kiln {

namespace {

/// All measurements with one dispatch key.
class KeyMeasurements {
public:
  void add(const TuningMeasurement &one) {
    for (const auto &[name, reason] : one.failures)
      failed.insert(name);
    chosen.insert(one.chosen.begin(), one.chosen.end());
    if (one.times.empty())
      return;
    double best = one.times.front().second;
    for (const auto &[name, time] : one.times)
      best = std::min(best, time);
    ++count;
    logOfBest += std::log(best);
    for (const auto &[name, time] : one.times) {
      Loss &loss = losses[name];
      ++loss.count;
      loss.logarithm += std::log(time / best);
    }
    only = one.times;
  }

  bool isTimed() const { return count > 0; }

  /// The fastest first, names in order among equals.
  std::vector<std::pair<std::string, double>> times() const {
    std::vector<std::pair<std::string, double>> result;
    if (!isTimed())
      for (const std::string &name : chosen)
        result.emplace_back(name, 1);
    if (count == 1)
      result = only; // in every digit
    else
      for (const auto &[name, loss] : losses)
        result.emplace_back(name, std::exp(logOfBest / count + loss.logarithm / loss.count));
    erase_if(result, [&](const auto &time) { return failed.count(time.first) != 0; });
    sort(result, [](const auto &a, const auto &b) {
      return std::tie(a.second, a.first) < std::tie(b.second, b.first);
    });
    return result;
  }

private:
  struct Loss {
    int count = 0;
    double logarithm = 0;
  };
  int count = 0;
  double logOfBest = 0;
  std::map<std::string, Loss> losses;
  std::set<std::string> failed, chosen;
  Named<double> only;
};

std::optional<std::vector<int64_t>> keyOf(const EntryModel &entry,
                                          const TuningMeasurement &measurement, StringRef path,
                                          DiagnosticEngine &diagnostics) {
  std::vector<int64_t> key;
  for (const std::string &name : entry.dispatchKey) {
    auto value = find_if(measurement.shape, [&](const auto &one) { return one.first == name; });
    if (value == measurement.shape.end()) {
      diagnostics.report(DiagKind::DriverTuningFile, measurement.place.range, path,
                         measurement.place.path + " of '" + entry.name + "' lacks '" + name +
                             "', which is in the dispatch key");
      return std::nullopt;
    }
    key.push_back(value->second);
  }
  return key;
}

} // namespace

MeasuredTarget measuredTarget(const EntryModel &entry, const LibraryModel &model, unsigned target,
                              const TuningFile &tuning, StringRef path,
                              DiagnosticEngine &diagnostics) {
  MeasuredTarget measured;
  measured.target = target;
  measured.processors = commonProcessors(model.targets[target]);
  std::string name = model.targets[target].hardwareName();
  std::map<std::vector<int64_t>, KeyMeasurements> byKey;
  std::set<std::string> devices;
  for (const TuningRun &run : tuning.runs) {
    for (const TuningMeasurement &one : run.measurements) {
      if (one.entry != entry.name || one.target != name)
        continue;
      auto key = keyOf(entry, one, path, diagnostics);
      if (!key)
        return measured;
      byKey[*key].add(one);
      devices.insert(run.device);
      if (run.processors > 0)
        measured.processors = unsigned(run.processors);
    }
    for (const TuningCode &code : run.code)
      if (code.entry == entry.name && code.target == name)
        append_range(measured.code, code.variants);
  }
  measured.devices.assign(devices.begin(), devices.end());
  for (const auto &[key, measurements] : byKey)
    if (auto times = measurements.times(); !times.empty())
      measured.shapes.push_back({key, std::move(times), measurements.isTimed()});
  return measured;
}

} // namespace kiln
