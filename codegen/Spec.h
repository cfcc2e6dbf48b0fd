//===- Spec.h - what a library is made of, as its JSON says -----*- C++ -*-===//
//
// The model that SpecReader fills. docs/spec.md describes the format, kiln.schema.json is its
// published schema. Everything keeps the byte range that it came from, so that later phases can
// report an error at the line of the spec that caused it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_SPEC_H
#define KILN_CODEGEN_SPEC_H

#include "codegen/Expression.h"
#include "codegen/Signature.h"
#include "compiler/Basic/SourceManager.h"
#include "compiler/Target/TargetInfo.h"

namespace kiln {

/// Where a value of the spec stands: its JSON path and its range in the file.
struct SpecPlace {
  std::string path;
  SourceRange range;
};

/// One parameter of the kernel and what a signature or config says about it.
struct SpecBinding {
  std::string name;
  SignatureValue value;
  SpecPlace place;
};

/// Compiler options of a config. Empty = not given: the source's or the target's default holds.
struct SpecOptions {
  std::optional<int64_t> numWarps, numStages, numCtas, maxRegisters;
  /// Options that only AMD's back end reads.
  std::optional<int64_t> wavesPerEu, matrixInstrNonKDim, kpack;
  /// launch_pdl, launch_cooperative_grid.
  bool launchesEarly = false, isCooperative = false;
  /// enable_fp_fusion.
  bool fusesProducts = true;
};

struct SpecConfig {
  /// Kernel parameters fixed by this config, in order; always literals.
  std::vector<SpecBinding> values;
  SpecOptions options;
  /// Beginnings of the names of the targets that it is for ("cuda:sm_9", "hip"); empty: of all.
  std::vector<std::string> targets;
  SpecPlace place;
  /// Where each value and option stands, key and value.
  std::vector<std::pair<std::string, SpecPlace>> keys;

  /// An emulated GPU takes the configs of the GPU that it stands for.
  bool isFor(const TargetInfo &target) const;
};

/// What there is to choose among.
struct SpecConfigs {
  /// Take the @triton.autotune list of the source in place of `list`.
  bool fromSource = false;
  /// At least one unless `fromSource`; a single empty one when the spec gives none.
  std::vector<SpecConfig> list;
  SpecPlace place;
};

struct SpecSignature {
  /// The C name of the entry point: its own "name", else the kernel's.
  std::string entry;
  std::vector<SpecBinding> parameters;
  /// In place of the kernel's.
  std::optional<SpecConfigs> configs;
  SpecPlace place;

  const SpecBinding *find(llvm::StringRef name) const;
};

/// A grid dimension or a condition.
struct SpecExpression {
  Expression expression;
  SpecPlace place;
};

/// The calls that a tuner times. Expressions are over integer arguments.
struct SpecTuning {
  /// Values of integer arguments: each combination is a call.
  struct Shape {
    std::vector<std::pair<std::string, std::vector<int64_t>>> values;
    SpecPlace place;
  };
  /// What an argument that no shape names is: an expression, or for a float the number.
  struct Argument {
    std::string name;
    std::optional<SpecExpression> expression;
    double real = 0;
    SpecPlace place;
  };
  /// How many elements an array has (the product of the extents; of a tensor its shape), and what
  /// they are: from `low` on in steps, or random numbers from `low` to below `high`.
  struct Array {
    std::string name;
    std::vector<SpecExpression> extents;
    std::optional<SpecExpression> low, high, step;
    SpecPlace place;
  };
  std::vector<Shape> shapes;
  std::vector<Argument> arguments;
  std::vector<Array> arrays;
  /// How far two variants' results may differ, as a share of the largest; empty: by their type.
  std::optional<double> tolerance;
  /// Variants are left out while each measured shape loses no more than this share of its speed.
  std::optional<double> regret;
  /// The most variants of a target.
  std::optional<unsigned> maxVariants;
  SpecPlace place;
};

/// The values that callers may pass for an integer argument.
struct ArgumentRange {
  std::optional<int64_t> minimum, maximum;
  int64_t multipleOf = 1;
  /// In place of the above where there are any; sorted.
  std::vector<int64_t> values;

  bool contains(int64_t value) const;
  /// "1 to 65536, a multiple of 8", "64 or 128", as what follows "expected".
  std::string text() const;
};

/// What "arguments" declares of one.
struct SpecArgument {
  std::string name;
  ArgumentRange range;
  SpecPlace place;
};

struct SpecKernel {
  std::string name;
  /// Path of the source file as written, relative to the spec's folder unless absolute.
  std::string source;
  /// Name of the Python function.
  std::string kernel;
  /// At least one; those with the same `entry` are specialisations of one entry point.
  std::vector<SpecSignature> signatures;
  /// Of the signatures without configs of their own.
  SpecConfigs configs;
  /// One to three expressions; empty when the caller passes the grid.
  std::vector<SpecExpression> grid;
  /// Arguments of the C function that the kernel does not take: integers for the expressions below.
  std::vector<SpecBinding> launch;
  /// What every variant needs of the arguments, in its own constants: "n_cols <= BLOCK_SIZE".
  std::vector<SpecExpression> conditions;
  /// What callers may pass.
  std::vector<SpecArgument> arguments;
  /// Every call within these ranges has to have a variant, and a grid that can be launched.
  bool isTotal = false;
  /// Arguments that decide which variant is fastest.
  std::vector<std::string> dispatchKey;
  SpecTuning tuning;
  /// Path of a tuning file as written, or "".
  std::string tuningFile;
  /// Module-level names of the source with the values they shall have.
  std::vector<SpecBinding> constants;
  /// Run-time assertions are checked.
  bool debug = false;
  /// What Triton refuses is an error.
  bool portable = false;
  /// Whether the arrays are all in ordinary memory of the device that runs the kernel: a promise.
  bool deviceMemory = false;
  /// Whether the arrays are all below 2 GiB: a promise.
  bool smallArrays = false;
  SpecPlace place, namePlace, sourcePlace, kernelPlace, tuningFilePlace, argumentsPlace;

  /// The C names of the entry points, in order of first appearance.
  std::vector<std::string> entryNames() const;
  const SpecConfigs &configsOf(const SpecSignature &signature) const {
    return signature.configs ? *signature.configs : configs;
  }
  /// Each list of configs that some signature has, once.
  std::vector<const SpecConfigs *> configLists() const;
};

struct Spec {
  std::string library;
  /// As LibraryModel::prefix; the command line's.
  std::string prefix;
  /// Parsed, in order, without repeats. Names as written in `targetNames`.
  std::vector<TargetInfo> targets;
  std::vector<std::string> targetNames;
  std::vector<SpecKernel> kernels;
  /// Largest total of the device binaries and host objects in bytes; 0 = no limit.
  uint64_t sizeBudget = 0;
  /// Whether images are compressed.
  bool isCompressed = false;
  SpecPlace place;
};

} // namespace kiln

#endif // KILN_CODEGEN_SPEC_H
