//===- LibraryModel.h - everything a generated library consists of -*- C++ -*-===//
//
// The plain data between the compiler and the writers. The compiler fills it from a Spec and the
// binaries it made; generateLibrary (GenerateLibrary.h) turns it into files. Nothing here knows
// about MLIR, the file system or C syntax.
//
//   library ─ entry points ─ variants ─ one binary per target
//
// An *entry point* is a C function. A *variant* is one legal way to run it: a config, and facts
// about the arguments that its code relies on. A *target* is one of the spec's.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_LIBRARYMODEL_H
#define KILN_CODEGEN_LIBRARYMODEL_H

#include "codegen/Expression.h"
#include "codegen/ImageObject.h"
#include "codegen/Signature.h"
#include "codegen/Spec.h"
#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/TargetInfo.h"

namespace kiln {

using NamedLiteral = std::pair<std::string, Literal>;

/// A run-time argument of the C function. Hints inside `type` are not looked at: what a variant
/// relies on stands in its facts.
struct EntryArgument {
  std::string name;
  ArgumentType type;
  /// For grids, conditions and the choice of a variant alone: no kernel takes it.
  bool isForLaunch = false;
};

/// A tensor descriptor of the C function, which takes a kiln_tensor for it. The kernel takes its
/// parts, which are arguments like others: the base, of the descriptor's name, a multiple of 16;
/// `rank` shapes (i32, at least 0); the strides but the last, which is 1 (i64, multiples of 16
/// bytes). The runtime's kiln_check_tensor checks all that.
struct EntryDescriptor {
  /// Index of the base into EntryModel::arguments; the other parts follow.
  unsigned first = 0;
  ElementType element = ElementType::FP16;
  unsigned rank = 0;

  /// Arguments that it consists of.
  unsigned size() const { return 2 * rank; }
};

/// What a variant relies on about one argument; checked before every launch.
struct ArgumentFact {
  /// Index into EntryModel::arguments.
  unsigned argument = 0;
  /// The integer, or the pointer's address, is a multiple of this. 1 = nothing relied on.
  unsigned divisibility = 1;
  /// Integers only.
  std::optional<int64_t> equals, minimum, maximum;
};

/// One compiled kernel.
struct VariantBinary {
  /// Index into LibraryModel::targets.
  unsigned target = 0;
  /// A target has at most one binary of each format (a cubin and PTX may stand beside each other).
  DeviceBinary binary;
  /// Options as the back end used them, for the manifest: {"num_warps", 4}, {"num_stages", 1}.
  std::vector<std::pair<std::string, int64_t>> effective;
};

struct VariantModel {
  /// Shown in messages and `kiln inspect`; made from the config and the facts when empty.
  std::string name;
  /// The config as requested: kernel parameters, then options.
  std::vector<NamedLiteral> config;
  SpecOptions options;
  /// Every integer constant a grid expression may use: the config's, the signature's literals,
  /// values of heuristics and defaults.
  std::vector<NamedLiteral> constants;
  std::vector<ArgumentFact> facts;
  /// How many of them, from the first, the signature promises; others come of conditions.
  size_t promises = 0;
  /// What else must be other than 0 for the variant to be legal: expressions over integer
  /// arguments, the variant's constants put in. One that cannot be computed is not met.
  std::vector<Expression> conditions;
  /// The entry's arguments that the kernel takes, in the kernel's order. Empty optional = all.
  std::optional<std::vector<unsigned>> parameters;
  /// May lack targets (a config that does not fit), but not all of them.
  std::vector<VariantBinary> binaries;
};

/// How long the variants took in calls with one dispatch key.
struct MeasuredShape {
  std::vector<int64_t> key;
  /// Stable names of variants, and microseconds; the fastest first.
  std::vector<std::pair<std::string, double>> times;
  /// False where it is known which are the fastest and not how fast they are: all times are 1.
  bool isTimed = true;
};

/// What tuners measured for a target, and which variants that leaves out.
struct MeasuredTarget {
  /// Index into LibraryModel::targets.
  unsigned target = 0;
  /// "NVIDIA H200", in order of their names.
  std::vector<std::string> devices;
  /// Of the devices, or of a common one; at least 1.
  unsigned processors = 1;
  /// In order of their keys, which differ.
  std::vector<MeasuredShape> shapes;
  /// The code that was measured: stable names of variants, and the first digits of the SHA-256 of
  /// their binaries.
  std::vector<std::pair<std::string, std::string>> code;
  /// Stable names of variants that the spec's bounds do without.
  std::vector<std::string> leftOut;
};

/// What the spec declares of an integer argument: other values are refused.
struct EntryRange {
  /// Index into EntryModel::arguments.
  unsigned argument = 0;
  ArgumentRange range;
  SpecPlace place;
};

/// How many elements the spec says that an array has.
struct EntryArray {
  /// Index into EntryModel::arguments.
  unsigned argument = 0;
  /// Over integer arguments; their product. At least one.
  std::vector<Expression> extents;
};

/// Variants that are legal together, and what chooses among them.
struct VariantOverlap {
  std::vector<unsigned> variants;
  /// "N=64, D=128": arguments for which all of them are.
  std::string example;
  /// "promises", "measurements", "cost" or "order" (docs/library.md).
  std::string chosenBy;
};

/// What is known of all calls within the declared ranges (DispatchProof.h).
struct DispatchSummary {
  enum class Coverage { Proven, HasGaps, Undecided };
  Coverage coverage = Coverage::Undecided;
  std::vector<VariantOverlap> overlaps;
  /// False where there are too many.
  bool listsAllOverlaps = true;
};

struct EntryModel {
  /// C name, checked by the spec reader.
  std::string name;
  /// The source as the spec names it, and the Python function: for comments and the manifest.
  std::string source, kernel;
  std::vector<EntryArgument> arguments;
  /// Those arguments that callers pass together, in order.
  std::vector<EntryDescriptor> descriptors;
  /// One to three expressions over integer arguments and constants; empty = the caller's grid.
  std::vector<Expression> grid;
  std::vector<EntryRange> ranges;
  /// Those of which the spec says it.
  std::vector<EntryArray> arrays;
  /// Every call within the ranges has to have a variant and a grid.
  bool isTotal = false;
  /// Where that, or ranges, are stated.
  SpecPlace rangesPlace;
  /// Of an entry point with ranges, or one that has to be total.
  std::optional<DispatchSummary> dispatch;
  std::vector<std::string> dispatchKey;
  /// At most one of a target; the dispatch key then consists of integer arguments.
  std::vector<MeasuredTarget> measured;
  /// In the order of preference among equals.
  std::vector<VariantModel> variants;
};

/// An input of the build, by its path as the spec or a search root names it.
struct InputFile {
  std::string path;
  std::string sha256;
};

struct LibraryModel {
  /// C name of the library, and stem of every file.
  std::string name;
  /// Before the name of everything that C links, the runtime's functions among them (KILN_PREFIX);
  /// mostly empty.
  std::string prefix;
  std::vector<TargetInfo> targets;
  std::vector<EntryModel> entries;
  std::vector<InputFile> inputs;
  /// {"kiln", "0.1"}, {"llvm", "22.1.8"}, {"ptxas", "13.0"}: what decides the bytes.
  std::vector<std::pair<std::string, std::string>> tools;
  /// Largest total of images in bytes, as they are stored; 0 = no limit.
  uint64_t sizeBudget = 0;
  /// Whether images are compressed (ImageFrames.h). Host objects never are.
  bool isCompressed = false;
  /// Whether the images of each GPU are in a file of their own (Pack.h), not in the archive.
  bool hasPacks = false;
  /// Whether `<name>_torch.cpp` is written, which makes PyTorch operators of the kernels.
  bool hasTorchSource = false;
  /// Whether `<name>.hpp` is written, for C++17.
  bool hasCxxHeader = false;
  /// Architectures to write an archive for; empty = those of the CPU targets, or the building
  /// machine's where there is none.
  std::vector<HostArch> hostArchs;

  std::string cName() const { return prefix + name; }
};

/// 64 hexadecimal digits.
std::string sha256Of(llvm::StringRef bytes);

/// What tells a variant's code from other code in tuning files: the first digits of its SHA-256.
std::string codeHash(const DeviceBinary &binary);

/// The facts that a type's hints stand for (`*fp16:16`, `i32:1`), or none.
std::optional<ArgumentFact> factOf(unsigned argument, const ArgumentType &type);

/// The variant's name: its own, or "BLOCK_M=128, num_warps=8" with the facts of `entry` where
/// several specialisations exist.
std::string variantName(const EntryModel &entry, const VariantModel &variant);

/// A name that no other variant of the entry has now, and that stays when others come and go: the
/// config and all that the variant relies on. "BLOCK=64, num_warps=4 for n <= 64".
std::string stableName(const EntryModel &entry, const VariantModel &variant);

/// What the variant is called wherever names have to last: of its own constants, options and needs,
/// so it stays when others come, go or change places. 12 hexadecimal digits: among a thousand
/// variants of an entry point two are equal once in 10^8 libraries, which checkModel() finds.
std::string variantId(const EntryModel &entry, const VariantModel &variant);

/// "M divisible by 16", "stride == 1": the conditions of one fact, one text each.
std::vector<std::string> factTexts(const EntryModel &entry, const ArgumentFact &fact);

/// The index of the argument of that name.
std::optional<unsigned> findArgument(const EntryModel &entry, llvm::StringRef name);

/// The integer constant of that name.
std::optional<int64_t> findConstant(const VariantModel &variant, llvm::StringRef name);

/// Everything that the variant relies on, one text for each condition.
std::vector<std::string> needTexts(const EntryModel &entry, const VariantModel &variant);

/// The descriptor that begins at an argument, or null.
const EntryDescriptor *descriptorAt(const EntryModel &entry, unsigned argument);

/// The indices of what callers pass: arguments, and for a descriptor's its first.
std::vector<unsigned> callerArguments(const EntryModel &entry);

/// What a caller's argument is called in comments and the manifest: "*fp16", "fp16 tensor of rank
/// 2".
std::string callerType(const EntryModel &entry, unsigned argument);

/// How many elements it has: the product of its extents.
Expression elementsOf(const EntryArray &array);

/// The names and types of a descriptor's parts, the base first: x, x_shape_0, x_shape_1,
/// x_stride_0.
std::vector<EntryArgument> descriptorParts(llvm::StringRef name, const ArgumentType &type);

/// The arguments that the kernel takes, in order.
std::vector<unsigned> kernelParameters(const EntryModel &entry, const VariantModel &variant);

/// What the writers rely on: indices in range, sizes of parameters as the binaries state them,
/// tensor maps that launches can make, fallbacks like their binaries, every name of a grid known to
/// every variant, at least one variant and one binary in each. An error here means that the model
/// was filled wrongly, or that a grid cannot be computed.
llvm::Error checkModel(const LibraryModel &model);

} // namespace kiln

#endif // KILN_CODEGEN_LIBRARYMODEL_H
