// Which lane and register of a matrix instruction holds which element, as the manuals say it.
//
// On purpose written anew, from the documents, and not from compiler/Layout, which it checks:
//  - PTX ISA, "Warp-level Matrix Instructions", sections "Matrix Fragments for mma.m8n8k4" (f64),
//    "mma.m16n8k4, m16n8k8, m16n8k16, m16n8k32" with each operand type.
//  - AMD "Instinct MI300" (CDNA 3) ISA, "Matrix Arithmetic Instructions", and AMD's matrix
//    instruction calculator for the register maps of single-block instructions.
//  - For products with scales AMD's composable_kernel, test/mx_mfma_op/mx_mfma_op.hpp, a test of
//  the
//    hardware.
//  - AMD "RDNA3 ISA" and "RDNA4 ISA", "Wave Matrix Multiply Accumulate".

#ifndef KILN_RUNTIME_EMULATOR_FRAGMENTS_H
#define KILN_RUNTIME_EMULATOR_FRAGMENTS_H

#include "runtime/emulator/kiln_emu.h"
#include <cstdint>

namespace kiln::emulator {

struct Place {
  uint32_t row, column;
  friend bool operator==(Place a, Place b) { return a.row == b.row && a.column == b.column; }
};

/// Bits of an element in a register.
uint32_t bitsOf(uint32_t type);

uint32_t lanesOf(const kiln_emu_matrix &matrix);

/// Elements of A, B and C that a lane holds.
uint32_t elementsOfA(const kiln_emu_matrix &matrix);
uint32_t elementsOfB(const kiln_emu_matrix &matrix);
uint32_t elementsOfC(const kiln_emu_matrix &matrix);

/// Where element `e` of a lane's fragment is in A (m x k), B (k x n), C and D (m x n). Elements are
/// counted from the lowest bits of the first register.
Place placeOfA(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e);
Place placeOfB(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e);
Place placeOfC(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e);

/// Whether these functions describe the instruction.
bool isDescribed(const kiln_emu_matrix &matrix);

} // namespace kiln::emulator

#endif
