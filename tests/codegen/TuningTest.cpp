// Tuning files, the calls to time, what measurements say, and the fewest variants.
#include "codegen/ChoiceTable.h"
#include "codegen/DispatchTables.h"
#include "codegen/Measurements.h"
#include "codegen/TimeEstimates.h"
#include "codegen/TuningShapes.h"
#include "codegen/TuningSummary.h"
#include "codegen/VariantSelection.h"
#include "tests/codegen/SpecText.h"
#include "tests/codegen/TestModel.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <random>

namespace kiln::test {
namespace {

/// A text as a tuning file, and what was said about it.
struct ReadTuning {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::optional<TuningFile> tuning;
  std::string printed;

  explicit ReadTuning(const std::string &text) {
    tuning = readTuningFile(sources.add("t.json", text), diagnostics);
    llvm::raw_string_ostream out(printed);
    diagnostics.print(out, sources);
  }
};

const std::string kHead = R"({"kiln_tuning": 1, "runs": [{"device": {"name": "A", "driver": "cpu"},
  "kiln": "0.1.0", "library": "l", "code": [{"entry": "f", "target": "cuda:sm_90a", "variants": {"B=1": "0123"}}],
  "measurements": [)";

std::string measured(const std::string &shape, const std::string &times,
                     const std::string &failures = "{}") {
  return R"({"entry": "f", "target": "cuda:sm_90a", "shape": )" + shape + R"(, "times_us": )" +
         times + R"(, "failures": )" + failures + "}";
}

std::string file(const std::string &measurements) { return kHead + measurements + "]}]}"; }

TEST(TuningFile, IsReadAndWrittenAlike) {
  ReadTuning first(file(measured(R"({"n": 4, "m": -1})", R"({"B=1": 2, "B=2 for n <= 4": 1.5})",
                                 R"({"B=3": "crashed \"here\""})")));
  ASSERT_TRUE(first.tuning) << first.printed;
  const TuningMeasurement &one = first.tuning->runs.at(0).measurements.at(0);
  EXPECT_EQ(one.shape, (Named<int64_t>{{"n", 4}, {"m", -1}}));
  EXPECT_EQ(one.times.at(1), (std::pair<std::string, double>("B=2 for n <= 4", 1.5)));
  EXPECT_EQ(one.failures.at(0).second, "crashed \"here\"");
  std::string written = writeTuningFile(*first.tuning);
  ReadTuning second(written);
  ASSERT_TRUE(second.tuning) << second.printed;
  EXPECT_EQ(writeTuningFile(*second.tuning), written);
}

TEST(TuningFile, SaysWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "[spec-syntax]"},
      {file("").substr(0, 100), "[spec-syntax]"},
      {"[]", "expected a tuning file, got an empty list"},
      {"{}", "the key 'kiln_tuning' is missing"},
      {R"({"kiln_tuning": 2, "runs": []})", "this Kiln reads version 1 of the format, got 2"},
      {R"({"kiln_tuning": 1, "runs": {}})", "runs: expected a list of runs"},
      {R"({"kiln_tuning": 1, "runs": [1]})", "runs[0]: expected an object with a device"},
      {R"({"kiln_tuning": 1, "runs": [], "run": []})", "unknown key 'run'"},
      {file(measured("[]", "{}")), "measurements[0].shape: expected an object from arguments"},
      {file(measured(R"({"n": 1.5})", "{}")), "measurements[0].shape.n: expected an integer"},
      {file(measured("{}", R"({"B=1": 0})")), "times_us.B=1: expected microseconds, more than 0"},
      {file(measured("{}", R"({"B=1": -1.0})")), "expected microseconds"},
      {file(measured("{}", R"({"B=1": NaN})")), "expected microseconds"},
      {file(measured("{}", R"({"B=1": 1e400})")), "error"},
      {file(measured("{}", "{}", R"({"B=1": 3})")), "expected why a variant was not measured"},
      {file(measured("{}", R"({"B=1": 1, "B=1": 2})")), "[spec-duplicate-key]"},
  };
  for (const auto &[text, expected] : cases) {
    ReadTuning read(text);
    EXPECT_FALSE(read.tuning) << text;
    EXPECT_NE(read.printed.find(expected), std::string::npos) << expected << "\n" << read.printed;
  }
}

TEST(TuningFile, ReadsWhateverBytes) {
  const std::string good = file(measured(R"({"n": 4})", R"({"B=1": 2.5})"));
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (int edit = 0; edit < 3; ++edit)
      text[random() % text.size()] = "{}[]\":,019.eE-\\ntf\xff"[random() % 19];
    ReadTuning read(text);
    EXPECT_NE(read.tuning.has_value(), read.diagnostics.hasErrors()) << text;
  }
}

std::string chosenFor(const std::string &shape, const std::string &names) {
  std::string text = measured(shape, "{}");
  return text.insert(text.size() - 1, ", \"chosen\": " + names);
}

TEST(TuningFile, HasChoicesInPlaceOfTimes) {
  ReadTuning read(file(chosenFor(R"({"n": 4})", R"(["B=1", "B=2"])")));
  ASSERT_TRUE(read.tuning) << read.printed;
  std::string written = writeTuningFile(*read.tuning);
  ReadTuning second(written);
  ASSERT_TRUE(second.tuning) << second.printed;
  EXPECT_EQ(second.tuning->runs[0].measurements[0].chosen,
            (std::vector<std::string>{"B=1", "B=2"}));
  EXPECT_EQ(writeTuningFile(*second.tuning), written);
  EXPECT_FALSE(ReadTuning(file(chosenFor(R"({"n": 4})", R"("B=1")"))).tuning);
}

/// A text as a table of choices, and what was said about it.
struct ReadChoices {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::optional<std::vector<Choice>> choices;
  std::string printed;

  explicit ReadChoices(const std::string &text) {
    choices = readChoiceTable(sources.add("c.json", text), diagnostics);
    llvm::raw_string_ostream out(printed);
    diagnostics.print(out, sources);
  }

  std::vector<std::vector<int64_t>> rows() const {
    std::vector<std::vector<int64_t>> all;
    for (const Choice &choice : *choices)
      all.push_back(choice.rows);
    return all;
  }
};

TEST(ChoiceTable, OfNumbersStatesThem) {
  ReadChoices read(R"({"triton_version": "3.5.0", "16": {"B": 1, "num_warps": 8, "num_stages": 2},
    "1": {"B": 2, "cache_modifier": ".cg"}})");
  ASSERT_TRUE(read.choices) << read.printed;
  EXPECT_EQ(read.rows(), (std::vector<std::vector<int64_t>>{{16}, {1}}));
  EXPECT_EQ(read.choices->at(0).config.numWarps, 8);
  EXPECT_EQ(read.choices->at(0).config.numStages, 2);
  EXPECT_EQ(read.choices->at(0).config.values.size(), 1u);
  EXPECT_EQ(read.choices->at(1).config.numWarps, 4);
  EXPECT_EQ(read.choices->at(1).config.values.at(1).first, "cache_modifier");
}

TEST(ChoiceTable, OfBoundsStatesTheEndsOfIntervals) {
  ReadChoices read(
      R"({"M_LEQ_64": {}, "any": {}, "M_LEQ_16": {}, "M_LEQ_1": {}, "M_GEQ_512": {}})");
  ASSERT_TRUE(read.choices) << read.printed;
  EXPECT_EQ(read.rows(), (std::vector<std::vector<int64_t>>{{17, 64}, {65}, {2, 16}, {1}, {512}}));
  EXPECT_EQ(ReadChoices(R"({"any": {}})").rows(), (std::vector<std::vector<int64_t>>{{1}}));
}

TEST(ChoiceTable, SaysWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "[spec-syntax]"},
      {"[]", "expected an object from numbers, M_LEQ_…, M_GEQ_… or any to configs, got an empty"},
      {R"({"small": {}})", "small: expected a number, M_LEQ_…, M_GEQ_… or any as the key"},
      {R"({"0": {}})", "expected a number"},
      {R"({"M_LEQ_99999999999999999999": {}})", "expected a number"},
      {R"({"M_LEQ_": {}})", "expected a number"},
      {R"({"16": 3})", "16: expected a config, got integer 3"},
      {R"({"16": {"num_warps": "four"}})", "16.num_warps: expected an integer"},
  };
  for (const auto &[text, expected] : cases) {
    ReadChoices read(text);
    EXPECT_FALSE(read.choices) << text;
    EXPECT_NE(read.printed.find(expected), std::string::npos) << expected << "\n" << read.printed;
  }
}

TEST(ChoiceTable, ReadsWhateverBytes) {
  const std::string good = R"({"M_LEQ_16": {"B": 16, "num_warps": 4}, "32": {"B": 8}, "any": {}})";
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (int edit = 0; edit < 3; ++edit)
      text[random() % text.size()] = "{}[]\":,019.eE-\ntf\xff"[random() % 19];
    ReadChoices read(text);
    EXPECT_NE(read.choices.has_value(), read.diagnostics.hasErrors()) << text;
  }
}

TEST(TuningFile, MergesRunsOfOneDevice) {
  ReadTuning first(file(measured(R"({"n": 4})", R"({"B=1": 2})")));
  ReadTuning second(file(measured(R"({"n": 4})", R"({"B=1": 3})") + "," +
                         measured(R"({"n": 8})", R"({"B=1": 4})")));
  std::string other = file(measured(R"({"n": 4})", R"({"B=1": 9})"));
  other.replace(other.find("\"A\""), 3, "\"B\"");
  ReadTuning third(other);
  mergeTuning(*first.tuning, *second.tuning);
  mergeTuning(*first.tuning, *third.tuning);
  ASSERT_EQ(first.tuning->runs.size(), 2u);
  const auto &merged = first.tuning->runs[0].measurements;
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].times[0].second, 3);
  EXPECT_EQ(merged[1].times[0].second, 4);
}

//--- Measurements and choices ---

/// f(x, n, m) with variants B=1, 2, 3, of which the last holds for n <= 64.
LibraryModel library() {
  LibraryModel model;
  model.name = "l";
  model.targets = {*parseTarget("cuda:sm_90a")};
  EntryModel f = entry("f", {{"x", "*fp32"}, {"n", "i32"}, {"m", "i32"}});
  f.grid = {expression("cdiv(n, B)")};
  f.dispatchKey = {"n"};
  for (int64_t b : {1, 2, 3}) {
    VariantModel one = variant({{"B", b}});
    if (b == 3) {
      ArgumentFact fact;
      fact.argument = 1;
      fact.maximum = 64;
      one.facts = {fact};
    }
    f.variants.push_back(std::move(one));
  }
  for (VariantModel &one : f.variants)
    one.binaries = {fakeBinary(model, f, one, 0)};
  model.entries = {std::move(f)};
  return model;
}

MeasuredTarget measure(const LibraryModel &model, const std::string &measurements) {
  ReadTuning read(file(measurements));
  EXPECT_TRUE(read.tuning) << read.printed;
  return measuredTarget(model.entries[0], model, 0, *read.tuning, "t.json", read.diagnostics);
}

unsigned chosen(LibraryModel &model, int64_t n, std::set<unsigned> illegal = {}) {
  DispatchTables tables = buildDispatchTables(model, model.entries[0]);
  auto choice = chooseTuned(
      tables, tables.tuned.at(0), {n}, [&](unsigned variant) { return !illegal.count(variant); },
      [&](unsigned variant) { return *wavesAt(model.entries[0], variant, {n}, 132); });
  return choice.value_or(99);
}

TEST(Measurements, DecideWhereTheyWereMadeAndAround) {
  LibraryModel model = library();
  model.entries[0].measured = {measure(
      model, measured(R"({"n": 16, "m": 1})", R"({"B=1": 5, "B=2": 4, "B=3 for n <= 64": 1})") +
                 "," + measured(R"({"n": 1024, "m": 1})", R"({"B=1": 1, "B=2": 2})"))};
  EXPECT_EQ(chosen(model, 16), 2u);
  EXPECT_EQ(chosen(model, 1024), 0u);
  EXPECT_EQ(chosen(model, INT64_MAX), 0u);
  EXPECT_EQ(chosen(model, 0), 2u);
  EXPECT_EQ(chosen(model, INT64_MIN), 2u);
  EXPECT_EQ(chosen(model, 16, {0, 1, 2}), 99u);
  // Beyond a bound the variants below it are not looked at.
  EXPECT_EQ(chosen(model, 64), 2u);
  EXPECT_EQ(chosen(model, 65), 0u);
}

TEST(Measurements, WhatOthersHaveChosenIsTheFastestThereAndAround) {
  LibraryModel model = library();
  model.entries[0].measured = {
      measure(model, chosenFor(R"({"n": 16})", R"(["B=2"])") + "," +
                         chosenFor(R"({"n": 1024})", R"(["B=1", "B=9"])"))};
  EXPECT_EQ(chosen(model, 16), 1u);
  EXPECT_EQ(chosen(model, 20), 1u);
  EXPECT_EQ(chosen(model, 1000), 0u);
  EXPECT_EQ(chosen(model, INT64_MAX), 0u);
  TuningSummary summary = summarizeTuning(model, model.entries[0]).at(0);
  EXPECT_EQ(summary.shapes.at(0).variant, "B=2, any arguments");
  EXPECT_EQ(summary.shapes.at(0).time, 0);
  EXPECT_EQ(summary.shapes.at(0).best, 0);
}

TEST(Measurements, TimesStandAboveChoices) {
  LibraryModel model = library();
  MeasuredTarget both = measure(model, chosenFor(R"({"n": 16})", R"(["B=1"])") + "," +
                                           measured(R"({"n": 16})", R"({"B=1": 10, "B=2": 5})"));
  ASSERT_EQ(both.shapes.size(), 1u);
  EXPECT_TRUE(both.shapes[0].isTimed);
  EXPECT_EQ(both.shapes[0].times.at(0).first, "B=2");
}

TEST(Measurements, OfOneKeyAreTakenTogether) {
  LibraryModel model = library();
  MeasuredTarget both =
      measure(model, measured(R"({"n": 16, "m": 1})", R"({"B=1": 10, "B=2": 20})") + "," +
                         measured(R"({"n": 16, "m": 9})", R"({"B=1": 800, "B=2": 100})"));
  ASSERT_EQ(both.shapes.size(), 1u);
  EXPECT_EQ(both.shapes[0].times[0].first, "B=2");
  // The fastest took 10 and 100; B=2 is 2 and 1 times slower, B=1 1 and 8 times.
  EXPECT_NEAR(both.shapes[0].times[0].second, std::sqrt(1000.0) * std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(both.shapes[0].times[1].second, std::sqrt(1000.0) * std::sqrt(8.0), 1e-6);
}

TEST(Measurements, AFailureExcludesAVariant) {
  LibraryModel model = library();
  MeasuredTarget failed = measure(
      model, measured(R"({"n": 16})", R"({"B=1": 10, "B=2": 20})") + "," +
                 measured(R"({"n": 16, "m": 2})", R"({"B=2": 20})", R"({"B=1": "crashed"})"));
  ASSERT_EQ(failed.shapes.at(0).times.size(), 1u);
  EXPECT_EQ(failed.shapes[0].times[0].first, "B=2");
}

TEST(Measurements, MustSayTheKey) {
  LibraryModel model = library();
  ReadTuning read(file(measured(R"({"m": 16})", R"({"B=1": 10})")));
  measuredTarget(model.entries[0], model, 0, *read.tuning, "t.json", read.diagnostics);
  ASSERT_TRUE(read.diagnostics.hasErrors());
  EXPECT_EQ(read.diagnostics.getDiagnostics()[0].kind, DiagKind::DriverTuningFile);
}

TEST(Measurements, OfUnalignedCallsSayNothingAboutAlignedCode) {
  LibraryModel model = library();
  EntryModel &f = model.entries[0];
  ArgumentFact aligned;
  aligned.argument = 0;
  aligned.divisibility = 16;
  f.variants[2].facts = {aligned};
  f.variants[2].promises = 1;
  f.measured = {measure(model, measured(R"({"n": 16})", R"({"B=1": 1, "B=2": 2})"))};
  EXPECT_EQ(chosen(model, 16), 99u);
  EXPECT_EQ(chosen(model, 16, {2}), 0u);
}

//--- Selections ---

std::vector<MeasuredShape> shapes(std::vector<std::vector<double>> times) {
  const char *names[] = {"B=1", "B=2", "B=3 for n <= 64"};
  std::vector<MeasuredShape> made;
  for (const std::vector<double> &row : times) {
    made.push_back({{int64_t(made.size())}, {}});
    for (size_t i = 0; i < row.size(); ++i)
      if (row[i] > 0)
        made.back().times.push_back({names[i], row[i]});
  }
  return made;
}

TEST(VariantSelection, KeepsWhatTheBoundNeeds) {
  LibraryModel model = library();
  auto select = [&](std::vector<std::vector<double>> times, SelectionBounds bounds) {
    return selectVariants(model.entries[0], {0, 1, 2}, shapes(times), bounds);
  };
  EXPECT_EQ(select({{1, 2, 3}}, {}).kept.size(), 3u);
  VariantSelection one = select({{1, 1.04, 3}, {1.1, 1, 3}}, {0.05, std::nullopt});
  EXPECT_EQ(one.kept, std::vector<unsigned>{1});
  EXPECT_NEAR(one.regret, 0.04, 1e-9);
  EXPECT_EQ(select({{1, 1.04, 3}, {1.1, 1, 3}}, {0.0, std::nullopt}).kept,
            (std::vector<unsigned>{0, 1}));
  VariantSelection fewest = select({{1, 9, 9}, {9, 1, 9}, {1, 2, 9}}, {std::nullopt, 1u});
  EXPECT_EQ(fewest.kept, std::vector<unsigned>{0});
  EXPECT_NEAR(fewest.regret, 8, 1e-9);
}

TEST(VariantSelection, LeavesNoCallWithoutAVariant) {
  LibraryModel model = library();
  // The third is the fastest everywhere, but not for every n.
  VariantSelection kept = selectVariants(model.entries[0], {0, 1, 2},
                                         shapes({{5, 4, 1}, {5, 4, 1}}), {0.1, std::nullopt});
  EXPECT_EQ(kept.kept, (std::vector<unsigned>{0, 2}));
}

//--- Calls ---

std::string callMistakes(const std::string &dispatch) {
  ReadSpec read = test::read(kernelSpec(
      R"("signature": {"x": "*fp32", "n": "i32", "s": "i16", "f": "fp32"}, "dispatch": {"key": ["n"], )" +
      dispatch + "}"));
  EXPECT_TRUE(read.spec) << read.printed;
  EntryModel f = entry("f", {{"x", "*fp32"}, {"n", "i32"}, {"s", "i16"}, {"f", "fp32"}});
  DiagnosticEngine diagnostics;
  SourceManager sources;
  tunedCalls(f, read.spec->kernels[0], diagnostics);
  std::string text;
  for (const Diagnostic &one : diagnostics.getDiagnostics())
    text += one.message + "\n";
  return text;
}

TEST(TuningShapes, CombineAndFollowFromEachOther) {
  ReadSpec read = test::read(kernelSpec(
      R"("signature": {"x": "*fp32", "t": "tensordesc<fp16>[8, 8]", "n": "i32", "m": "i32", "s": "i64", "f": "fp32"},
         "dispatch": {"key": ["n", "m"], "shapes": [{"n": [1, 2], "m": [3, 4, 5]}, {"n": 9, "m": 9, "s": 1}],
           "arguments": {"s": "m * 16", "f": -2}, "arrays": {"x": {"size": "n * s", "low": 1, "high": 4}, "t": ["n", "m"]}})"));
  ASSERT_TRUE(read.spec) << read.printed;
  EntryModel f = entry("f", {{"x", "*fp32"},
                             {"t", "*fp16"},
                             {"t_shape_0", "i32"},
                             {"t_shape_1", "i32"},
                             {"t_stride_0", "i64"},
                             {"n", "i32"},
                             {"m", "i32"},
                             {"s", "i64"},
                             {"f", "fp32"}});
  f.descriptors = {{1, ElementType::FP16, 2}};
  f.dispatchKey = {"n", "m"};
  DiagnosticEngine diagnostics;
  std::vector<TunedCall> calls = tunedCalls(f, read.spec->kernels[0], diagnostics);
  ASSERT_EQ(calls.size(), 7u);
  EXPECT_EQ(calls[0][5].integer, 1);
  EXPECT_EQ(calls[1][6].integer, 4);
  EXPECT_EQ(calls[5][0].integer, 2 * 80);
  EXPECT_EQ(calls[5][0].low, 1);
  EXPECT_EQ(calls[5][0].high, 4);
  EXPECT_EQ(calls[5][1].integer, 10);
  EXPECT_EQ(calls[5][2].integer, 2);
  EXPECT_EQ(calls[5][3].integer, 5);
  EXPECT_EQ(calls[5][4].integer, 5);
  EXPECT_EQ(calls[5][8].real, -2);
  EXPECT_EQ(calls[6][7].integer, 1);
}

TEST(TuningShapes, SayWhatIsMissing) {
  const std::pair<std::string, std::string> cases[] = {
      {R"("shapes": [{"n": 4}])", "the array 'x' has no size to tune with"},
      {R"("shapes": [{"n": 4}], "arrays": {"x": "n"})", "'s' has no value to tune with"},
      {R"("shapes": [{"n": 4, "s": 4}], "arrays": {"x": "n"})", "'f' has no value to tune with"},
      {R"("shapes": [{"n": 4}], "arrays": {"x": "k"})", "no argument or constant is named 'k'"},
      {R"("shapes": [{"n": 4}], "arguments": {"s": "s + 1"}, "arrays": {"x": "n"})",
       "'s' depends on itself"},
      {R"("shapes": [{}], "arguments": {"s": "n"}, "arrays": {"x": 4})",
       "no shape gives 'n' a value"},
      {R"("shapes": [{"n": 4, "s": 40000}], "arguments": {"f": 1}, "arrays": {"x": "n"})",
       "'s' is 40000, which i16 does not hold"},
      {R"("shapes": [{"n": 0, "s": 1}], "arguments": {"f": 1}, "arrays": {"x": "8 // n"})",
       "where n = 0, s = 1: "},
      {R"("shapes": [{"n": -4, "s": 1}], "arguments": {"f": 1}, "arrays": {"x": "n"})",
       "-4 elements"},
      {R"("shapes": [{"n": 4, "s": 1}, {"s": 1, "n": [2, 4]}], "arguments": {"f": 1}, "arrays": {"x": "n"})",
       "an earlier shape is the same"},
      {R"("shapes": [{"n": 4, "s": 1}], "arguments": {"f": 1}, "arrays": {"x": {"size": "n", "low": 4}})",
       "nothing is from 4 to below 1"},
      {R"("shapes": [{"n": 4, "f": 1}], "arrays": {"x": "n"})", "'f' is no integer"},
      {R"("shapes": [{"n": 4}], "arrays": {"x": "n", "s": "n"})", "'s' is no array"},
      {R"("shapes": [{"n": 4}], "arguments": {"x": "n"})", "'x' is an array"},
      {R"("shapes": [{"n": 4}], "arguments": {"s": 1.5})", "'s' is an integer"},
      {R"("shapes": [{"n": 4, "s": 1}], "arguments": {"f": "n"}, "arrays": {"x": "n"})",
       "'f' is a float: expected a number"},
  };
  for (const auto &[dispatch, expected] : cases) {
    EXPECT_NE(callMistakes(dispatch).find(expected), std::string::npos) << dispatch << "\n"
                                                                        << callMistakes(dispatch);
  }
}

} // namespace
} // namespace kiln::test
