#include "tests/amdgcn/Operations.h"

namespace kiln::amdgcn {

const OperationTable &operations() {
  static const OperationTable table = [] {
    OperationTable all;
    for (auto *add :
         {addScalarArithmetic, addScalarFloats, addScalarComparisons, addControl, addWaits,
          addScalarLoads, addProcessorRegisters, addVectorFloats, addVectorIntegers, addCarries,
          addComparisons, addConversions, addDivision, addPacked, addLaneExchange,
          addMatrixProducts, addGlobalMemory, addSharedMemory})
      add(all);
    return all;
  }();
  return table;
}

} // namespace kiln::amdgcn
