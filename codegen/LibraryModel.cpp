//===- LibraryModel.cpp - everything a generated library consists of ------===//
#include "codegen/LibraryModel.h"
#include "runtime/kiln.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"
#include <map>

using namespace llvm;

namespace kiln {

std::string sha256Of(StringRef bytes) {
  return toHex(SHA256::hash(arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

std::string codeHash(const DeviceBinary &binary) {
  constexpr size_t digits = 16;
  return sha256Of(StringRef(binary.bytes.data(), binary.bytes.size())).substr(0, digits);
}

std::optional<ArgumentFact> factOf(unsigned argument, const ArgumentType &type) {
  if (!type.equalsOne && type.divisibility == 1)
    return std::nullopt;
  ArgumentFact fact;
  fact.argument = argument;
  fact.divisibility = type.divisibility;
  if (type.equalsOne)
    fact.equals = 1;
  return fact;
}

std::vector<std::string> factTexts(const EntryModel &entry, const ArgumentFact &fact) {
  const std::string &name = entry.arguments[fact.argument].name;
  std::vector<std::string> texts;
  if (fact.divisibility > 1)
    texts.push_back(formatv("{0} divisible by {1}", name, fact.divisibility).str());
  if (fact.equals)
    texts.push_back(formatv("{0} == {1}", name, *fact.equals).str());
  if (fact.minimum)
    texts.push_back(formatv("{0} >= {1}", name, *fact.minimum).str());
  if (fact.maximum)
    texts.push_back(formatv("{0} <= {1}", name, *fact.maximum).str());
  return texts;
}

const EntryDescriptor *descriptorAt(const EntryModel &entry, unsigned argument) {
  auto it = find_if(entry.descriptors, [&](const EntryDescriptor &descriptor) {
    return descriptor.first == argument;
  });
  return it == entry.descriptors.end() ? nullptr : &*it;
}

Expression elementsOf(const EntryArray &array) {
  Expression product = array.extents.front();
  for (const Expression &extent : drop_begin(array.extents))
    product = product.joined(Expression::Op::Multiply, extent);
  return product;
}

std::vector<unsigned> callerArguments(const EntryModel &entry) {
  std::vector<unsigned> indices;
  for (unsigned i = 0; i < entry.arguments.size();) {
    indices.push_back(i);
    const EntryDescriptor *descriptor = descriptorAt(entry, i);
    i += descriptor ? descriptor->size() : 1;
  }
  return indices;
}

std::string callerType(const EntryModel &entry, unsigned argument) {
  if (const EntryDescriptor *descriptor = descriptorAt(entry, argument))
    return formatv("{0} tensor of rank {1}", elementName(descriptor->element), descriptor->rank)
        .str();
  ArgumentType plain = entry.arguments[argument].type;
  plain.divisibility = 1;
  plain.equalsOne = false;
  return plain.spelling();
}

std::vector<EntryArgument> descriptorParts(StringRef name, const ArgumentType &type) {
  ArgumentType base, shape, stride;
  base.kind = ArgumentType::Kind::Pointer;
  base.pointerDepth = 1;
  base.element = type.element;
  shape.element = ElementType::Int32;
  stride.element = ElementType::Int64;
  std::vector<EntryArgument> parts = {{name.str(), base}};
  size_t rank = type.blockShape.size();
  for (size_t i = 0; i < rank; ++i)
    parts.push_back({formatv("{0}_shape_{1}", name, i).str(), shape});
  for (size_t i = 0; i + 1 < rank; ++i)
    parts.push_back({formatv("{0}_stride_{1}", name, i).str(), stride});
  return parts;
}

std::optional<unsigned> findArgument(const EntryModel &entry, StringRef name) {
  auto it = find_if(entry.arguments,
                    [&](const EntryArgument &argument) { return argument.name == name; });
  return it == entry.arguments.end()
             ? std::nullopt
             : std::optional(static_cast<unsigned>(it - entry.arguments.begin()));
}

std::optional<int64_t> findConstant(const VariantModel &variant, StringRef name) {
  for (const NamedLiteral &constant : variant.constants)
    if (constant.first == name)
      return constant.second.asInteger();
  return std::nullopt;
}

std::vector<std::string> needTexts(const EntryModel &entry, const VariantModel &variant) {
  std::vector<std::string> texts;
  for (const ArgumentFact &fact : variant.facts)
    append_range(texts, factTexts(entry, fact));
  for (const Expression &condition : variant.conditions)
    texts.push_back(condition.text());
  return texts;
}

/// "BLOCK=64", "num_warps=4": what the config asks for.
static std::vector<std::string> configTexts(const VariantModel &variant) {
  std::vector<std::string> parts;
  for (const NamedLiteral &value : variant.config)
    parts.push_back(value.first + "=" + value.second.str());
  auto option = [&](StringRef name, const std::optional<int64_t> &value) {
    if (value)
      parts.push_back((name + "=" + Twine(*value)).str());
  };
  option("num_warps", variant.options.numWarps);
  option("num_stages", variant.options.numStages);
  option("num_ctas", variant.options.numCtas);
  option("maxnreg", variant.options.maxRegisters);
  option("waves_per_eu", variant.options.wavesPerEu);
  option("matrix_instr_nonkdim", variant.options.matrixInstrNonKDim);
  option("kpack", variant.options.kpack);
  if (variant.options.launchesEarly)
    parts.push_back("launch_pdl");
  if (variant.options.isCooperative)
    parts.push_back("launch_cooperative_grid");
  if (!variant.options.fusesProducts)
    parts.push_back("enable_fp_fusion=false");
  return parts;
}

std::string variantName(const EntryModel &entry, const VariantModel &variant) {
  if (!variant.name.empty())
    return variant.name;
  std::vector<std::string> parts = configTexts(variant);
  std::vector<std::string> needs = needTexts(entry, variant);
  bool isSpecialised = any_of(
      entry.variants, [&](const VariantModel &other) { return needTexts(entry, other) != needs; });
  if (isSpecialised)
    parts.push_back(needs.empty() ? "any arguments" : join(needs, ", "));
  return parts.empty() ? "default" : join(parts, ", ");
}

std::string stableName(const EntryModel &entry, const VariantModel &variant) {
  std::vector<std::string> parts = configTexts(variant), needs = needTexts(entry, variant);
  std::string name = parts.empty() ? "default" : join(parts, ", ");
  return needs.empty() ? name : name + " for " + join(needs, ", ");
}

/// All that tells a variant from the others of its entry point.
static std::string identityOf(const EntryModel &entry, const VariantModel &variant) {
  std::string text;
  for (const NamedLiteral &constant : variant.constants)
    text += constant.first + "=" + constant.second.str() + "\n";
  const SpecOptions &options = variant.options;
  for (const std::optional<int64_t> &option :
       {options.numWarps, options.numStages, options.numCtas, options.maxRegisters,
        options.wavesPerEu, options.matrixInstrNonKDim, options.kpack})
    text += (option ? std::to_string(*option) : "default") + "\n";
  // An id lasts: what was not asked for leaves no trace in it.
  if (options.launchesEarly)
    text += "launch_pdl\n";
  if (options.isCooperative)
    text += "launch_cooperative_grid\n";
  if (!options.fusesProducts)
    text += "enable_fp_fusion=false\n";
  for (unsigned index : kernelParameters(entry, variant))
    text += "takes " + entry.arguments[index].name + "\n";
  for (const std::string &need : needTexts(entry, variant))
    text += "needs " + need + "\n";
  return text;
}

std::string variantId(const EntryModel &entry, const VariantModel &variant) {
  constexpr size_t digits = 12;
  return sha256Of(identityOf(entry, variant)).substr(0, digits);
}

std::vector<unsigned> kernelParameters(const EntryModel &entry, const VariantModel &variant) {
  if (variant.parameters)
    return *variant.parameters;
  std::vector<unsigned> all;
  for (unsigned i = 0; i < entry.arguments.size(); ++i)
    if (!entry.arguments[i].isForLaunch)
      all.push_back(i);
  return all;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {
template <typename... Args> Error wrong(const char *format, const Args &...args) {
  return createStringError(formatv(format, args...).str());
}

/// A parameter in the kernel's block.
struct PassedParameter {
  std::string name;
  uint64_t bytes, alignment;
};

/// The kernel's arguments, then the binary's tensor maps.
std::vector<PassedParameter> passedParameters(const EntryModel &entry, const VariantModel &variant,
                                              const DeviceBinary &binary) {
  std::vector<PassedParameter> passed;
  for (unsigned index : kernelParameters(entry, variant)) {
    const EntryArgument &argument = entry.arguments[index];
    passed.push_back({argument.name, argument.type.bytes(), argument.type.bytes()});
  }
  for (const TensorMapFacts &map : binary.launch.tensorMaps)
    passed.push_back({map.name, kTensorMapBytes, kTensorMapAlignment});
  return passed;
}

Error checkParameters(const EntryModel &entry, const VariantModel &variant,
                      const DeviceBinary &binary) {
  if (binary.parameters.empty())
    return Error::success(); // the format does not describe them
  std::vector<PassedParameter> passed = passedParameters(entry, variant, binary);
  if (binary.parameters.size() != passed.size())
    return wrong("{0}: the binary for {1} takes {2} parameters, the launcher passes {3}",
                 entry.name, binary.target, binary.parameters.size(), passed.size());
  uint64_t offset = 0;
  for (size_t i = 0; i < passed.size(); ++i) {
    uint64_t stated = binary.parameters[i].offset;
    // The driver puts it where the binary says (VerifyAbi.cpp).
    bool isPlaced = binary.format == BinaryFormat::Cubin && passed[i].alignment > 16 &&
                    stated >= offset && stated < offset + passed[i].alignment;
    offset = isPlaced ? stated : alignTo(offset, passed[i].alignment);
    if (binary.parameters[i].size != passed[i].bytes || binary.parameters[i].offset != offset)
      return wrong("{0}: the binary for {1} has '{2}' as {3} bytes at offset {4}, the launcher "
                   "passes {5} bytes at offset {6}",
                   entry.name, binary.target, passed[i].name, binary.parameters[i].size,
                   binary.parameters[i].offset, passed[i].bytes, offset);
    offset += passed[i].bytes;
  }
  return Error::success();
}

/// What is wrong with a tensor map's blocks, or "".
StringRef wrongBlocks(const TensorMapFacts &map) {
  constexpr unsigned kCopyBytes = 16, kMaxBox = 256;
  if (map.box.size() != map.extents.size() ||
      any_of(map.box, [](uint32_t extent) { return extent < 1 || extent > kMaxBox; }))
    return "expected blocks of 1 to 256 elements along each axis";
  unsigned row = map.box.back() * elementBytes(map.element);
  if (row % kCopyBytes)
    return "expected rows of blocks to be multiples of 16 bytes";
  if (!is_contained({0u, 32u, 64u, 128u}, map.swizzleBytes))
    return "expected a swizzle of 0, 32, 64 or 128 bytes";
  if (map.swizzleBytes && row > map.swizzleBytes)
    return "rows of blocks are longer than the swizzle";
  return map.fillsWithNaN && !hasNaN(map.element) ? "its elements have no NaN" : "";
}

/// What is wrong with a tensor map of a kernel with these parameters, or "".
StringRef wrongTensorMap(const EntryModel &entry, ArrayRef<unsigned> parameters,
                         const TensorMapFacts &map) {
  auto typeOf = [&](unsigned parameter) { return entry.arguments[parameters[parameter]].type; };
  auto isFactor = [&](std::optional<uint32_t> parameter) {
    return !parameter || (*parameter < parameters.size() && typeOf(*parameter).isInteger());
  };
  auto isNumber = [&](const LaunchNumber &number) {
    return isFactor(number.parameter) && isFactor(number.factor);
  };
  size_t rank = map.extents.size();
  if (rank < 1 || rank > KILN_MAX_RANK || map.strides.size() != rank - 1)
    return "expected a rank from 1 to 5, and a stride of every axis but the last";
  if (map.base >= parameters.size() || !typeOf(map.base).isPointer())
    return "its base is no pointer of the launcher's";
  if (!all_of(map.extents, isNumber) || !all_of(map.strides, isNumber))
    return "an extent or stride is no integer of the launcher's";
  return wrongBlocks(map);
}

Error checkTensorMaps(const EntryModel &entry, const VariantModel &variant,
                      const DeviceBinary &binary, const TargetInfo &target) {
  const std::vector<TensorMapFacts> &maps = binary.launch.tensorMaps;
  if (!maps.empty() && target.backend != Backend::CUDA)
    return wrong("{0}: the binary for {1} takes tensor maps, which the target does not have",
                 entry.name, binary.target);
  if (maps.size() > KILN_MAX_TENSOR_MAPS)
    return wrong("{0}: the binary for {1} takes {2} tensor maps, launches pass at most {3}",
                 entry.name, binary.target, maps.size(), unsigned(KILN_MAX_TENSOR_MAPS));
  std::vector<unsigned> parameters = kernelParameters(entry, variant);
  for (const TensorMapFacts &map : maps)
    if (StringRef reason = wrongTensorMap(entry, parameters, map); !reason.empty())
      return wrong("{0}: the binary for {1}: the tensor map of '{2}': {3}", entry.name,
                   binary.target, map.name, reason);
  return Error::success();
}

Error checkBinary(const EntryModel &entry, const VariantModel &variant, const DeviceBinary &binary,
                  const TargetInfo &target) {
  if (binary.bytes.empty() || binary.symbol.empty())
    return wrong("{0}: a binary of {1} lacks its symbol or bytes", entry.name,
                 variantName(entry, variant));
  if (binary.launch.scratchBytes)
    return wrong("{0}: the binary for {1} needs global scratch, which launches cannot give yet",
                 entry.name, binary.target);
  if (Error error = checkTensorMaps(entry, variant, binary, target))
    return error;
  return checkParameters(entry, variant, binary);
}

/// A launch takes either, by its arguments, after its grid was checked.
Error checkFallback(const EntryModel &entry, const VariantModel &variant,
                    const DeviceBinary &binary, const TargetInfo &target) {
  const DeviceBinary &fallback = *binary.fallback;
  if (fallback.format != binary.format || fallback.target != binary.target ||
      fallback.launch.clusterDims != binary.launch.clusterDims)
    return wrong("{0}: the fallback of the binary for {1}: expected the binary's target, format "
                 "and clusters",
                 entry.name, binary.target);
  if (fallback.fallback || fallback.launch.tensorMaps.size() >= binary.launch.tensorMaps.size())
    return wrong("{0}: the fallback of the binary for {1}: expected fewer tensor maps, and no "
                 "fallback of its own",
                 entry.name, binary.target);
  return checkBinary(entry, variant, fallback, target);
}

Error checkGridNames(const EntryModel &entry, const VariantModel &variant) {
  for (const Expression &dimension : entry.grid)
    for (const std::string &name : dimension.names()) {
      auto argument = findArgument(entry, name);
      bool isArgument = argument && entry.arguments[*argument].type.isInteger();
      if (!isArgument && !findConstant(variant, name))
        return wrong("{0}: the grid needs '{1}', which is neither an integer argument nor an "
                     "integer constant of the variant {2}",
                     entry.name, name, variantName(entry, variant));
    }
  return Error::success();
}

Error checkVariant(const LibraryModel &model, const EntryModel &entry,
                   const VariantModel &variant) {
  for (const ArgumentFact &fact : variant.facts)
    if (fact.argument >= entry.arguments.size() || !isPowerOf2_32(fact.divisibility))
      return wrong("{0}: a fact is about no argument", entry.name);
  for (unsigned parameter : kernelParameters(entry, variant))
    if (parameter >= entry.arguments.size() || entry.arguments[parameter].isForLaunch)
      return wrong("{0}: a kernel parameter is no argument for kernels", entry.name);
  for (const Expression &condition : variant.conditions)
    for (const std::string &name : condition.names()) {
      auto argument = findArgument(entry, name);
      if (!argument || !entry.arguments[*argument].type.isInteger())
        return wrong("{0}: a condition needs '{1}', which is no integer argument", entry.name,
                     name);
    }
  if (variant.binaries.empty())
    return wrong("{0}: the variant {1} has no binary", entry.name, variantName(entry, variant));
  for (const VariantBinary &binary : variant.binaries) {
    if (binary.target >= model.targets.size())
      return wrong("{0}: a binary of {1} lacks its target", entry.name,
                   variantName(entry, variant));
    const TargetInfo &target = model.targets[binary.target];
    if (Error error = checkBinary(entry, variant, binary.binary, target))
      return error;
    if (!binary.binary.fallback)
      continue;
    if (Error error = checkFallback(entry, variant, binary.binary, target))
      return error;
  }
  return checkGridNames(entry, variant);
}
} // namespace

Error checkModel(const LibraryModel &model) {
  if (model.entries.empty())
    return wrong("the library '{0}' has no kernel", model.name);
  for (const EntryModel &entry : model.entries) {
    if (entry.variants.empty() || entry.grid.size() > 3)
      return wrong("{0}: expected a variant and at most three grid dimensions", entry.name);
    for (const EntryDescriptor &descriptor : entry.descriptors)
      if (descriptor.rank == 0 || descriptor.first + descriptor.size() > entry.arguments.size())
        return wrong("{0}: a tensor descriptor lacks its parts", entry.name);
    for (const EntryArgument &argument : entry.arguments)
      if (!argument.type.bytes())
        return wrong("{0}: the argument '{1}' has the type {2}, which C callers cannot pass yet",
                     entry.name, argument.name, argument.type.spelling());
    std::map<std::string, unsigned> ids;
    for (const auto &[index, variant] : enumerate(entry.variants)) {
      if (Error error = checkVariant(model, entry, variant))
        return error;
      auto [known, isNew] = ids.try_emplace(variantId(entry, variant), index);
      if (!isNew)
        return wrong("{0}: the variants {1} and {2} have one name, {3}", entry.name, known->second,
                     index, known->first);
    }
  }
  return Error::success();
}

} // namespace kiln
