// Every kind of mistake in a spec, and what is said about it.
#include "codegen/Spec.h"
#include "tests/codegen/SpecText.h"
#include <gtest/gtest.h>
#include <set>

namespace kiln::test {
namespace {

struct Case {
  std::string text;
  /// Each must be in the printed output.
  std::vector<std::string> expected;
};

std::string top(llvm::StringRef rest) { return ("{\"kiln\": 1, " + rest + "}").str(); }

const std::vector<Case> &cases() {
  static const std::vector<Case> all = {
      // The text.
      {"{\"kiln\": 1,}",
       {"spec.json:1:12: error: invalid JSON: expected a key in quotes, got '}' [spec-syntax]"}},
      {std::string(100, '['), {"invalid JSON: nested more than 64 levels deep [spec-too-deep]"}},
      {"[123456789012345678901234567890]",
       {"expected a 64-bit signed integer, got a number out of its range [spec-bad-number]"}},
      {"\"\xff\"", {"spec.json:1:2: error: invalid JSON: not UTF-8 [spec-not-utf8]"}},
      {"{\"kiln\": 1, \"kiln\": 1}",
       {"1:13: error: invalid JSON: the key 'kiln' stands twice in one object [spec-duplicate-key]",
        "1:2: note: the first one is here"}},
      // What kiln init leaves to be chosen.
      {kernelSpec(
           R"("signature": {"x": "*?", "B": "?", "d": "tensordesc<?>[?, 64]", "s": {"string": "?"}})"),
       {"kernels[0].signature.x: '*?' is still to be chosen [spec-placeholder]",
        "hint: a type in place of \"?\"", "kernels[0].signature.B: '?' is still",
        "kernels[0].signature.d: 'tensordesc<?>[?, 64]' is still"}},
      {kernelSpec(R"("signature": {}, "configs": [{"BLOCK": "?"}])"),
       {"kernels[0].configs[0].BLOCK: '?' is still to be chosen"}},
      // Shape.
      {"[]", {"the spec: expected an object, got an empty list [spec-expected]"}},
      {top("\"kernels\": []"),
       {"the spec: the key 'library' is missing [spec-missing-key]",
        "the spec: the key 'targets' is missing",
        "kernels: expected a list of kernels, got an empty list"}},
      {top("\"kernel\": []"),
       {"the spec: unknown key 'kernel' [spec-unknown-key]", "hint: did you mean 'kernels'?"}},
      {"{\"kiln\": 1, \"library\": \"l\", \"targets\": [\"cpu\"], \"compress\": \"gzip\", "
       "\"kernels\": []}",
       {"compress: expected \"none\" or \"zstd\", got"}},
      {"{\"kiln\": 2, \"kernels\": []}",
       {"kiln: this Kiln reads version 1 of the format, got 2 [spec-version]"}},
      {"{\"kiln\": \"1\", \"kernels\": []}", {"kiln: expected the integer 1, got string \"1\""}},
      {kernelSpec(R"("signature": {}, "signatures": [])"),
       {"kernels[0]: 'signature' and 'signatures' exclude each other [spec-exclusive-keys]"}},
      {kernelSpec(R"("grid": ["1"])"), {"kernels[0]: the key 'signature' is missing"}},
      {kernelSpec(R"("signature": [])"),
       {"kernels[0].signature: expected an object from parameter names to types and literals, got "
        "an empty list"}},
      {kernelSpec(R"("signature": {}, "grid": ["1", "1", "1", "1"])"),
       {"kernels[0].grid: expected a list of one to three expressions, got 4 elements"}},
      {kernelSpec(R"("signature": {}, "when": ["n <"])"), {"kernels[0].when[0]: expected"}},
      {kernelSpec(R"("signature": {}, "arguments": [])"),
       {"kernels[0].arguments: expected an object from names of arguments to their ranges"}},
      {kernelSpec(R"("signature": {}, "arguments": {"n": {}, "m": 5, "k": {"mim": 1}})"),
       {"kernels[0].arguments.n: expected an object such as", "kernels[0].arguments.m: expected",
        "kernels[0].arguments.k: unknown key 'mim'", "hint: did you mean 'min'?"}},
      {kernelSpec(R"("signature": {}, "arguments": {"n": {"values": [1, 1], "max": 4}})"),
       {"kernels[0].arguments.n: 'values' and 'max' exclude each other",
        "kernels[0].arguments.n.values[1]: '1' stands twice in the list"}},
      {kernelSpec(R"("signature": {}, "arguments": {"n": {"min": 5, "max": 4}})"),
       {"kernels[0].arguments.n: expected a range with values in it, got 5 to 4 [spec-range]"}},
      {kernelSpec(
           R"("signature": {}, "arguments": {"n": {"min": 9, "max": 15, "multiple_of": 8}})"),
       {"expected a range with values in it, got 9 to 15, a multiple of 8"}},
      {kernelSpec(
           R"("signature": {}, "arguments": {"n": {"min": 9223372036854775807, "multiple_of": 8}})"),
       {"got at least 9223372036854775807, a multiple of 8"}},
      {kernelSpec(R"("signature": {}, "arguments": {"n": {"multiple_of": 0}}, "total": 1)"),
       {"kernels[0].arguments.n.multiple_of: expected an integer from 1 to 1073741824",
        "kernels[0].total: expected true or false"}},
      {kernelSpec(R"("signature": {}, "configs": "sauce")"),
       {R"(kernels[0].configs: expected a list of configs or "source", got string "sauce")"}},
      {kernelSpec(R"("signature": {}, "configs": [{"num_warps": 3}])"),
       {"kernels[0].configs[0].num_warps: expected a power of two from 1 to 32, got integer 3"}},
      {kernelSpec(R"("signature": {}, "configs": [{"num_stages": 2.5}])"),
       {"kernels[0].configs[0].num_stages: expected an integer from 0 to 32, got number 2.50"}},
      {kernelSpec(R"("signature": {}, "configs": [{"launch_pdl": 1}])"),
       {"kernels[0].configs[0].launch_pdl: expected true or false, got integer 1"}},
      {kernelSpec(R"("signature": {}, "configs": [{"num_warps": true}])"),
       {"num_warps: expected a power of two from 1 to 32, got true"}},
      // Values.
      {R"({"kiln": 1, "library": "l", "targets": ["cuda:sm_90"], "kernels": []})",
       {"targets[0]: ", "[spec-target]", "sm_90a"}},
      {R"({"kiln": 1, "library": "l", "targets": ["cuda:sm_80", "cuda:80:32"], "kernels": []})",
       {"targets[1]: 'cuda:80:32' stands twice in the list [spec-repeated]"}},
      {kernelSpec(R"("signature": {"x": "*fp166"})"),
       {"3:25: error: kernels[0].signature.x: expected an element type, got 'fp166' [spec-type]",
        "hint: did you mean 'fp16'?"}},
      {kernelSpec(R"("signature": {"x": {"dtype": "fp166"}})"),
       {"kernels[0].signature.x.dtype: unknown dtype 'fp166' [spec-literal]"}},
      {kernelSpec(R"("signature": {"f": {"function": "a b"}})"),
       {"kernels[0].signature.f.function: expected the name of a function, got 'a b' "
        "[spec-literal]",
        "hint: a name of the kernel's module"}},
      {kernelSpec(R"("signature": {}, "configs": [{"BLOCK": "i32"}])"),
       {"kernels[0].configs[0].BLOCK: expected a value, got the type 'i32' [spec-literal]",
        R"(hint: types stand in the signature; {"dtype": "i32"} is the dtype, {"string": "i32"} the text)"}},
      {kernelSpec(R"("signature": {}, "configs": [{"x_ptr": "*fp16:16"}])"),
       {"kernels[0].configs[0].x_ptr: expected a value, got the type '*fp16:16'",
        "hint: types stand in the signature"}},
      {kernelSpec(R"("signature": {"x": {"namedtuple": ["*fp16"]}})"),
       {"kernels[0].signature.x.namedtuple: expected an object from the names of a tuple's "
        "elements "
        "to types and literals, got a list"}},
      {kernelSpec(R"("signature": {"x": {"namedtuple": {"a b": "*fp16"}}})"),
       {"kernels[0].signature.x.namedtuple.a b: expected a C identifier, got 'a b' [spec-name]"}},
      {kernelSpec(R"("signature": {"x": ["*fp16", "*i31"]})"), {"kernels[0].signature.x[1]: "}},
      {kernelSpec(R"("signature": {"x": {"type": "fp16"}})"),
       {R"(kernels[0].signature.x: expected {"dtype": ...}, {"function": ...} or {"string": ...}, got an object)"}},
      {kernelSpec(R"("signature": {}, "grid": ["cdiv(1, 2"])"),
       {"kernels[0].grid[0]: expected ')', got the end [spec-expression]"}},
      {kernelSpec(R"("signature": {"n": "i32"}, "dispatch": {"key": ["m"]})"),
       {"kernels[0].dispatch.key[0]: no argument or constant is named 'm' "
        "[spec-unknown-argument]"}},
      {kernelSpec(
           R"("signature": {"x": ["i32", "i32", 4]}, "dispatch": {"key": ["x_1", "x_2", "x"]})"),
       {"kernels[0].dispatch.key[1]: 'x_2' is a constant of every signature, not an argument "
        "[spec-not-run-time]",
        "kernels[0].dispatch.key[2]: no argument or constant is named 'x' [spec-unknown-argument]",
        "hint: each element is an argument: x_0, x_1"}},
      {kernelSpec(R"("signature": {"n": 4}, "dispatch": {"key": ["n"]})"),
       {"'n' is a constant of every signature, not an argument [spec-not-run-time]"}},
      {kernelSpec(R"("signature": {"n": "i32"}, "debug": 1)"),
       {"kernels[0].debug: expected true or false, got integer 1"}},
      {kernelSpec(R"("signature": {"n": "i32"}, "dispatch": {"keys": ["n"]})"),
       {"kernels[0].dispatch: unknown key 'keys'", "did you mean 'key'?"}},
      {kernelSpec(
           R"("signature": {"n": "i32", "x": "*fp32"}, "dispatch": {"key": ["n"], "shapes": [4, {"n": "4", "m": 4},
              {"n": [4, 4]}, {"n": []}], "arguments": {"n": [], "m": 1}, "arrays": {"y": "n", "x": "n +"},
              "tolerance": 2, "regret": -1, "max_variants": 0, "tuning": "t.json"})"),
       {"kernels[0].dispatch.shapes[0]: expected an object from arguments to integers, or to lists "
        "of these, got integer 4",
        "kernels[0].dispatch.shapes[1].n: expected an integer from",
        "kernels[0].dispatch.shapes[1].m: no argument or constant is named 'm'",
        "kernels[0].dispatch.shapes[2].n[1]: '4' stands twice in the list",
        "kernels[0].dispatch.shapes[3].n: expected an integer, or a list of some, got an empty "
        "list",
        "kernels[0].dispatch.arguments.n: expected an expression, got an empty list",
        "kernels[0].dispatch.arguments.m: no argument or constant is named 'm'",
        "kernels[0].dispatch.arrays.y: no argument or constant is named 'y'",
        "kernels[0].dispatch.arrays.x: expected", "[spec-expression]",
        "kernels[0].dispatch.tolerance: expected a number from 0 to 1, got integer 2",
        "kernels[0].dispatch.regret: expected a number from 0 to 100, such as 0.05 for 5 %",
        "kernels[0].dispatch.max_variants: expected an integer from 1 to 10000, got integer 0"}},
      {kernelSpec(
           R"("signature": {"n": "i32", "x": "*fp32"}, "dispatch": {"shapes": [{"n": 4}], "regret": 0.1,
              "arrays": {"x": {"size": ["n", 4], "high": 4, "step": 2, "low": "n"}}})"),
       {"kernels[0].dispatch: the key 'key' is missing",
        "kernels[0].dispatch: the key 'tuning' is missing",
        "kernels[0].dispatch.arrays.x: 'high' and 'step' exclude each other "
        "[spec-exclusive-keys]"}},
      {kernelSpec(
           R"("signature": {"n": "i32", "x": "*fp32"}, "dispatch": {"key": ["n"], "arrays": {"x": {"length": 4}}})"),
       {"kernels[0].dispatch.arrays.x: unknown key 'length'",
        "kernels[0].dispatch.arrays.x: the key 'size' is missing",
        "kernels[0].dispatch: the key 'shapes' is missing"}},
      {kernelSpec(R"("signature": {}, "launch": ["n"])"),
       {"kernels[0].launch: expected an object from names to integer types, got a list"}},
      {kernelSpec(
           R"("signature": {}, "launch": {"n": "fp32", "m": "i32:16", "k": 4, "a b": "i32"})"),
       {"kernels[0].launch.n: expected an integer type, got 'fp32' [spec-type]",
        "kernels[0].launch.m: expected an integer type, got 'i32:16' [spec-type]",
        R"(kernels[0].launch.k: expected an integer type, such as "i32", got integer 4)",
        "kernels[0].launch.a b: expected a C identifier, got 'a b' [spec-name]"}},
      // Names.
      {top(R"("library": "my-lib", "kernels": [])"),
       {"library: expected a C identifier, got 'my-lib' [spec-name]"}},
      {top(R"("library": "double", "kernels": [])"),
       {"library: 'double' is a keyword of C or C++, or a name of its headers "
        "[spec-reserved-name]"}},
      {top(R"("library": "kiln_x", "kernels": [])"), {"'kiln_x' is reserved for Kiln's runtime"}},
      {R"({"kiln": 1, "library": "l", "targets": ["cpu:x86-64-v3"], "kernels": [
          {"name": "a", "source": "a.py", "kernel": "a", "signature": {}},
          {"name": "a_plan", "source": "a.py", "kernel": "a", "signature": {}}]})",
       {"3:20: error: kernels[1].name: the C name 'a_plan' is taken [spec-name-taken]",
        "2:20: note: the first one is here"}},
      {kernelSpec(
           R"("signatures": [{"signature": {"x": "*fp32"}}, {"signature": {"x": "*fp16"}}])"),
       {"kernels[0].signatures[1].signature.x: 'x' is *fp16 here and *fp32 in an earlier signature "
        "of the same entry point [spec-disagreement]"}},
      {kernelSpec(R"("signatures": [{"signature": {"x": "tensordesc<fp16>[8, 8]"}},
                                    {"signature": {"x": "tensordesc<fp16>[64]"}}])"),
       {"'x' is tensordesc<fp16>[64] here and tensordesc<fp16>[8,8] in an earlier signature"}},
      {kernelSpec(R"("signature": {"B": 4}, "configs": [{"B": 8}])"),
       {"kernels[0].configs[0].B: 'B' has a value in kernels[0].signature.B too "
        "[spec-bound-twice]"}},
      {kernelSpec(R"("signature": {}, "configs": [{"B": 8}, {"B": 4}, {"B": 8}])"),
       {"kernels[0].configs[2]: equals kernels[0].configs[0], so it would never be chosen "
        "[spec-unreachable]"}},
      {kernelSpec(
           R"("signatures": [{"signature": {"x": "*fp32"}, "configs": [{"B": 8}, {"B": 8}]}])"),
       {"kernels[0].signatures[0].configs[1]: equals kernels[0].signatures[0].configs[0]"}},
      {kernelSpec(R"("signatures": [{"signature": {"B": 4}, "configs": [{"B": 8}]}])"),
       {"kernels[0].signatures[0].configs[0].B: 'B' has a value in "
        "kernels[0].signatures[0].signature.B too"}},
      {kernelSpec(
           R"("signatures": [{"signature": {}, "configs": [{"B": 8}]}], "configs": [{"B": 4}])"),
       {"kernels[0].configs: every signature has configs of its own, so these would never be "
        "chosen [spec-configs-unused]"}},
      // Targets of configs.
      {kernelSpec(R"("signature": {}, "configs": [{"targets": ["cuda"]}, {"targets": ["hip:"]}])"),
       {"kernels[0].configs: no config is for cpu:x86-64-v3 [spec-no-config]",
        "hint: add one for it, or one without 'targets'"}},
      {kernelSpec(R"("signatures": [{"signature": {"x": "i32"}},
                    {"signature": {"x": "i64"}, "name": "b", "configs": [{"targets": ["hip"]}]}])"),
       {"kernels[0].signatures[1].configs: no config is for cpu:x86-64-v3"}},
      {kernelSpec(R"("signature": {}, "configs": [{"targets": ["sm_90a"]}, {"targets": "cpu"},
                                                  {"targets": ["hip", "hip"]}])"),
       {"kernels[0].configs[0].targets[0]: unknown target 'sm_90a': expected cuda:ARCH",
        "kernels[0].configs[1].targets: expected a list of targets, or of how their names begin",
        "kernels[0].configs[2].targets[1]: 'hip' stands twice in the list"}},
      {R"({"kiln": 1, "library": "l", "targets": ["cpu:x86-64-v3"], "kernels": [{"name": "a", "source": "", "kernel": "a", "signature": {}}]})",
       {"kernels[0].source: expected the path of a Python file, got '' [spec-path]"}},
  };
  return all;
}

TEST(SpecErrors, SayWhatIsWrongAndWhere) {
  for (const Case &one : cases()) {
    ReadSpec read = test::read(one.text);
    EXPECT_FALSE(read.spec) << one.text;
    for (const std::string &expected : one.expected)
      EXPECT_NE(read.printed.find(expected), std::string::npos)
          << "expected: " << expected << "\ngot:\n"
          << read.printed;
  }
}

TEST(SpecErrors, AMisspeltKeyIsOneMistake) {
  ReadSpec read = test::read(
      R"({"kiln": 1, "library": "a", "targets": ["cpu"], "kernals": [], "size_buget": 3})");
  EXPECT_EQ(read.kinds, std::vector<DiagKind>(2, DiagKind::SpecUnknownKey)) << read.printed;
}

TEST(SpecErrors, EveryKindHasACase) {
  // SpecReaderTest.cpp and the driver's errors.test and dispatch.test have those that are no errors
  // of the reader alone.
  std::set<std::string> seen = {"SpecNotInteger",    "SpecShape",     "SpecGrid",
                                "SpecContradiction", "SpecGap",       "SpecNotTotal",
                                "SpecDeadVariant",   "SpecGridRange", "SpecUndecided",
                                "SpecTotalUndecided"};
  for (const Case &one : cases())
    for (DiagKind kind : test::read(one.text).kinds)
      seen.insert(getDiagInfo(kind).name.str());
  for (const DiagInfo &info : getAllDiagInfos())
    if (info.name.starts_with("Spec"))
      EXPECT_TRUE(seen.count(info.name.str())) << info.name.str() << " has no case";
}

} // namespace
} // namespace kiln::test
