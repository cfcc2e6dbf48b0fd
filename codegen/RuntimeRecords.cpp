//===- RuntimeRecords.cpp - the model's parts as the runtime has them ------===//
#include "codegen/RuntimeRecords.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

kiln_param_kind parameterKind(const ArgumentType &type) {
  if (type.isPointer())
    return KILN_PARAM_POINTER;
  static constexpr kiln_param_kind kinds[] = {
#define KILN_ELEMENT_TYPE(NAME, SPEC, SYNONYM, LANGUAGE, CLASS, BITS, KIND, ...) KILN_PARAM_##KIND,
#include "runtime/element_types.def"
  };
  return kinds[static_cast<size_t>(type.element)];
}

static kiln_launch_number launchNumber(const LaunchNumber &number) {
  auto index = [](std::optional<uint32_t> parameter) {
    return parameter ? int32_t(*parameter) : int32_t(KILN_NO_PARAMETER);
  };
  return {index(number.parameter), index(number.factor), number.constant};
}

static kiln_tensor_element tensorElement(TensorMapElement element) {
  static constexpr kiln_tensor_element elements[] = {
#define KILN_TENSOR_ELEMENT(NAME, ...) KILN_TENSOR_##NAME,
#include "runtime/tensor_elements.def"
  };
  return elements[static_cast<size_t>(element)];
}

kiln_tensor_map tensorMapRecord(const TensorMapFacts &facts) {
  kiln_tensor_map map = {};
  map.name = facts.name.c_str();
  map.base = facts.base;
  map.element = uint16_t(tensorElement(facts.element));
  map.rank = uint16_t(facts.extents.size());
  llvm::transform(facts.extents, map.extents, launchNumber);
  llvm::transform(facts.strides, map.strides, launchNumber);
  llvm::copy(facts.box, map.box);
  map.swizzle_bytes = uint16_t(facts.swizzleBytes);
  map.flags = (facts.fillsWithNaN ? uint32_t(KILN_MAP_FILLS_WITH_NAN) : 0) |
              (facts.isWritten ? uint32_t(KILN_MAP_IS_WRITTEN) : 0);
  return map;
}

} // namespace kiln
