// What each mnemonic does, by families of instructions.
//
// The sources are AMD's ISA guides: "AMD Instinct MI200", "MI300" and "CDNA4" for GFX9, "RDNA3" and
// "RDNA4" for GFX11 and GFX12.
#ifndef KILN_TESTS_AMDGCN_OPERATIONS_H
#define KILN_TESTS_AMDGCN_OPERATIONS_H

#include "tests/amdgcn/Instruction.h"
#include <map>

namespace kiln::amdgcn {

using OperationTable = std::map<std::string, Operation>;

void addScalarArithmetic(OperationTable &table);
void addScalarFloats(OperationTable &table);
void addScalarComparisons(OperationTable &table);
void addControl(OperationTable &table);
void addWaits(OperationTable &table);
void addScalarLoads(OperationTable &table);
void addProcessorRegisters(OperationTable &table);
void addVectorFloats(OperationTable &table);
void addVectorIntegers(OperationTable &table);
void addCarries(OperationTable &table);
void addComparisons(OperationTable &table);
void addConversions(OperationTable &table);
void addDivision(OperationTable &table);
void addPacked(OperationTable &table);
void addLaneExchange(OperationTable &table);
void addMatrixProducts(OperationTable &table);
void addGlobalMemory(OperationTable &table);
void addSharedMemory(OperationTable &table);

/// All of these.
const OperationTable &operations();

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_OPERATIONS_H
