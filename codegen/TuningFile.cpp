//===- TuningFile.cpp - what tuners measured ------------------------------===//
#include "codegen/TuningFile.h"
#include "codegen/SpecValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

namespace {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Days in microseconds: more than any measurement.
constexpr double kMostTime = 1e12;

class TuningReader : SpecValues {
public:
  using SpecValues::SpecValues;

  std::optional<TuningFile> read() {
    unsigned before = diagnostics.getNumErrors();
    std::optional<JsonValue> json = parseDocument();
    if (!json)
      return std::nullopt;
    SpecItem root{&*json, ""};
    TuningFile tuning;
    if (checkObject(root, ObjectKind::Tuning, "a tuning file") && checkVersion(root))
      forEach(child(root, "runs"), "a list of runs",
              [&](const SpecItem &run) { readRun(run, tuning.runs.emplace_back()); });
    if (diagnostics.getNumErrors() != before)
      return std::nullopt;
    return tuning;
  }

private:
  bool checkVersion(const SpecItem &root) {
    SpecItem version = child(root, "kiln_tuning");
    if (!version)
      return false;
    if (!version.value->is(JsonValue::Kind::Integer))
      expected(version, "the integer 1");
    else if (version.value->integer != 1)
      report(DiagKind::SpecVersion, version, version.value->integer);
    return version.value->is(JsonValue::Kind::Integer) && version.value->integer == 1;
  }

  void forEach(const SpecItem &list, StringRef what, function_ref<void(const SpecItem &)> visit) {
    if (list && checkList(list, what, 0, 10000000))
      for (size_t i = 0; i < list.value->elements.size() && !diagnostics.isFull(); ++i)
        visit(list.at(i));
  }

  std::string stringAt(const SpecItem &item, StringRef key, StringRef what) {
    SpecItem value = child(item, key);
    return value ? string(value, what).value_or("") : "";
  }

  template <typename T>
  Named<T> members(const SpecItem &item, StringRef key, StringRef what,
                   function_ref<std::optional<T>(const SpecItem &)> valueOf) {
    Named<T> read;
    SpecItem object = child(item, key);
    if (object && !object.value->is(JsonValue::Kind::Object)) {
      expected(object, what);
      return read;
    }
    for (size_t i = 0; object && i < object.value->members.size(); ++i) {
      const JsonMember &member = object.value->members[i];
      if (std::optional<T> value = valueOf(object.key(member)))
        read.push_back({member.key, std::move(*value)});
    }
    return read;
  }

  void readRun(const SpecItem &item, TuningRun &run) {
    if (!checkObject(item, ObjectKind::Run, "an object with a device and its measurements"))
      return;
    SpecItem device = child(item, "device");
    if (device && checkObject(device, ObjectKind::Device, "an object that names a device")) {
      run.device = stringAt(device, "name", "a device's name");
      run.driver = stringAt(device, "driver", "a driver's name");
      run.version = stringAt(device, "version", "a driver's version");
      if (SpecItem processors = child(device, "processors"))
        run.processors = integer(processors, 0, INT32_MAX).value_or(0);
    }
    run.kiln = stringAt(item, "kiln", "a version of Kiln");
    run.library = stringAt(item, "library", "a library's name");
    run.cache = stringAt(item, "cache", "\"cold\" or \"warm\"");
    forEach(child(item, "code"), "a list of what was measured",
            [&](const SpecItem &code) { readCode(code, run.code.emplace_back()); });
    forEach(child(item, "measurements"), "a list of measurements",
            [&](const SpecItem &one) { readMeasurement(one, run.measurements.emplace_back()); });
  }

  void readCode(const SpecItem &item, TuningCode &code) {
    if (!checkObject(item, ObjectKind::Code, "an object with an entry point's variants"))
      return;
    code.entry = stringAt(item, "entry", "an entry point's name");
    code.target = stringAt(item, "target", "a target's name");
    code.variants = members<std::string>(
        item, "variants", "an object from variants to hashes",
        [&](const SpecItem &hash) { return string(hash, "a hash of the variant's code"); });
  }

  void readMeasurement(const SpecItem &item, TuningMeasurement &measurement) {
    if (!checkObject(item, ObjectKind::Measurement, "an object with times"))
      return;
    measurement.place = place(item);
    measurement.entry = stringAt(item, "entry", "an entry point's name");
    measurement.target = stringAt(item, "target", "a target's name");
    measurement.shape = members<int64_t>(
        item, "shape", "an object from arguments to integers",
        [&](const SpecItem &value) { return integer(value, INT64_MIN, INT64_MAX); });
    measurement.times = members<double>(
        item, "times_us", "an object from variants to microseconds", [&](const SpecItem &value) {
          return number(value, 1e-6, kMostTime, "microseconds, more than 0");
        });
    measurement.failures = members<std::string>(
        item, "failures", "an object from variants to reasons",
        [&](const SpecItem &reason) { return string(reason, "why a variant was not measured"); });
    measurement.model = stringAt(item, "model", "a variant");
    forEach(child(item, "chosen"), "a list of variants", [&](const SpecItem &name) {
      measurement.chosen.push_back(string(name, "a variant").value_or(""));
    });
  }
};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename T>
void writeMembers(raw_ostream &out, const Named<T> &members,
                  function_ref<void(const T &)> writeValue) {
  out << "{";
  for (const auto &[index, member] : enumerate(members)) {
    out << (index ? ", " : "") << jsonQuote(member.first) << ": ";
    writeValue(member.second);
  }
  out << "}";
}

void writeRun(raw_ostream &out, const TuningRun &run) {
  auto writeText = [&](const std::string &text) { out << jsonQuote(text); };
  out << "{\"device\": {\"name\": " << jsonQuote(run.device)
      << ", \"driver\": " << jsonQuote(run.driver) << ", \"version\": " << jsonQuote(run.version)
      << ", \"processors\": " << run.processors << "},\n\"kiln\": " << jsonQuote(run.kiln)
      << ", \"library\": " << jsonQuote(run.library) << ", \"cache\": " << jsonQuote(run.cache)
      << ",\n\"code\": [";
  for (const auto &[index, code] : enumerate(run.code)) {
    out << (index ? ",\n" : "\n") << "{\"entry\": " << jsonQuote(code.entry)
        << ", \"target\": " << jsonQuote(code.target) << ", \"variants\": ";
    writeMembers<std::string>(out, code.variants, writeText);
    out << "}";
  }
  out << "\n],\n\"measurements\": [";
  for (const auto &[index, one] : enumerate(run.measurements)) {
    out << (index ? ",\n" : "\n") << "{\"entry\": " << jsonQuote(one.entry)
        << ", \"target\": " << jsonQuote(one.target) << ", \"shape\": ";
    writeMembers<int64_t>(out, one.shape, [&](int64_t value) { out << value; });
    out << ", \"times_us\": ";
    writeMembers<double>(out, one.times, [&](double time) { out << format("%.3f", time); });
    out << ", \"failures\": ";
    writeMembers<std::string>(out, one.failures, writeText);
    if (!one.model.empty())
      out << ", \"model\": " << jsonQuote(one.model);
    if (!one.chosen.empty()) {
      out << ", \"chosen\": [";
      interleaveComma(one.chosen, out, [&](const std::string &name) { out << jsonQuote(name); });
      out << "]";
    }
    out << "}";
  }
  out << "\n]}";
}

} // namespace

std::optional<TuningFile> readTuningFile(const SourceFile &file, DiagnosticEngine &diagnostics) {
  return TuningReader(file, diagnostics).read();
}

std::string writeTuningFile(const TuningFile &tuning) {
  std::string text;
  raw_string_ostream out(text);
  out << "{\"kiln_tuning\": 1,\n\"runs\": [";
  for (const auto &[index, run] : enumerate(tuning.runs)) {
    out << (index ? ",\n" : "\n");
    writeRun(out, run);
  }
  out << "\n]}\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

static bool isSameCode(const TuningRun &a, const TuningRun &b) {
  return a.device == b.device && a.driver == b.driver && a.version == b.version &&
         a.processors == b.processors && a.kiln == b.kiln && a.library == b.library &&
         a.cache == b.cache && a.code == b.code;
}

void mergeTuning(TuningFile &tuning, TuningFile other) {
  for (TuningRun &run : other.runs) {
    auto same = find_if(tuning.runs, [&](const TuningRun &one) { return isSameCode(one, run); });
    if (same == tuning.runs.end()) {
      tuning.runs.push_back(std::move(run));
      continue;
    }
    for (TuningMeasurement &later : run.measurements) {
      auto earlier = find_if(same->measurements, [&](const TuningMeasurement &one) {
        return one.entry == later.entry && one.target == later.target && one.shape == later.shape;
      });
      if (earlier == same->measurements.end())
        same->measurements.push_back(std::move(later));
      else
        *earlier = std::move(later);
    }
  }
}

} // namespace kiln
