#include "compiler/Sema/Values/KernelInstance.h"

namespace kiln {

ArgumentValue ArgumentValue::runTime(std::string dtype, unsigned divisibility, bool equalsOne) {
  ArgumentValue result;
  result.dtype = std::move(dtype);
  result.divisibility = divisibility;
  result.equalsOne = equalsOne;
  return result;
}
ArgumentValue ArgumentValue::ofConstant(Literal value) {
  ArgumentValue result;
  result.kind = Kind::Constant;
  result.constant = std::move(value);
  return result;
}

} // namespace kiln
