#include "runtime/emulator/Fragments.h"

namespace kiln::emulator {

uint32_t bitsOf(uint32_t type) {
  switch (type) {
  case KILN_EMU_F16:
  case KILN_EMU_BF16:
    return 16;
  case KILN_EMU_TF32:
  case KILN_EMU_F32:
  case KILN_EMU_S32:
    return 32;
  case KILN_EMU_F64:
    return 64;
  case KILN_EMU_E2M1:
    return 4;
  default:
    return 8;
  }
}

uint32_t lanesOf(const kiln_emu_matrix &matrix) {
  return matrix.family == KILN_EMU_MFMA || matrix.family == KILN_EMU_MFMA_SCALED ? 64 : 32;
}

/// gfx11 has every element of A and B twice: lanes 16 to 31 repeat lanes 0 to 15.
static uint32_t copiesOf(const kiln_emu_matrix &matrix) {
  return matrix.family == KILN_EMU_WMMA_GFX11 ? 2 : 1;
}

uint32_t elementsOfA(const kiln_emu_matrix &matrix) {
  return matrix.m * matrix.k * copiesOf(matrix) / lanesOf(matrix);
}
uint32_t elementsOfB(const kiln_emu_matrix &matrix) {
  return matrix.k * matrix.n * copiesOf(matrix) / lanesOf(matrix);
}
uint32_t elementsOfC(const kiln_emu_matrix &matrix) {
  return matrix.m * matrix.n / lanesOf(matrix);
}

/// mma.sync with m = 16: `groupID = lane >> 2`, `threadID_in_group = lane % 4`. A's first register
/// is of row groupID, the second of row groupID + 8, the next two are those k further on; a
/// register holds neighbours in k. m8n8k4 (f64) has one element each.
static Place mmaPlaceOfA(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e) {
  uint32_t group = lane >> 2, inGroup = lane % 4;
  if (matrix.m == 8)
    return {group, inGroup};
  uint32_t perRegister = 32 / bitsOf(matrix.a), reg = e / perRegister;
  return {group + 8 * (reg % 2),
          inGroup * perRegister + e % perRegister + reg / 2 * 4 * perRegister};
}

static Place mmaPlaceOfB(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e) {
  uint32_t group = lane >> 2, inGroup = lane % 4;
  if (matrix.m == 8)
    return {inGroup, group};
  uint32_t perRegister = 32 / bitsOf(matrix.b), reg = e / perRegister;
  return {inGroup * perRegister + e % perRegister + reg * 4 * perRegister, group};
}

/// Products with scales: 32 numbers of a lane, of 4 bits all neighbours; of 8 bits 16 neighbours,
/// and 16 more behind those of all groups of `rows` lanes.
static uint32_t scaledPlace(uint32_t bits, uint32_t rows, uint32_t lane, uint32_t e) {
  uint32_t group = lane / rows, together = 128 / bits;
  return e / together * (64 / rows * together) + group * together + e % together;
}

Place placeOfA(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e) {
  switch (matrix.family) {
  case KILN_EMU_MMA_SYNC:
    return mmaPlaceOfA(matrix, lane, e);
  case KILN_EMU_MFMA:
    // Lanes hold consecutive rows; each group of m lanes holds the next elements of k.
    return {lane % matrix.m, elementsOfA(matrix) * (lane / matrix.m) + e};
  case KILN_EMU_MFMA_SCALED:
    return {lane % matrix.m, scaledPlace(bitsOf(matrix.a), matrix.m, lane, e)};
  case KILN_EMU_WMMA_GFX11:
    return {lane % 16, e};
  default: // gfx12: the lower half of the lanes holds the lower half of k
    return {lane % 16, 8 * (lane / 16) + e};
  }
}

Place placeOfB(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e) {
  switch (matrix.family) {
  case KILN_EMU_MMA_SYNC:
    return mmaPlaceOfB(matrix, lane, e);
  case KILN_EMU_MFMA:
    return {elementsOfB(matrix) * (lane / matrix.n) + e, lane % matrix.n};
  case KILN_EMU_MFMA_SCALED:
    return {scaledPlace(bitsOf(matrix.b), matrix.n, lane, e), lane % matrix.n};
  case KILN_EMU_WMMA_GFX11:
    return {e, lane % 16};
  default:
    return {8 * (lane / 16) + e, lane % 16};
  }
}

Place placeOfC(const kiln_emu_matrix &matrix, uint32_t lane, uint32_t e) {
  switch (matrix.family) {
  case KILN_EMU_MMA_SYNC:
    return {(lane >> 2) + 8 * (e / 2), lane % 4 * 2 + e % 2};
  case KILN_EMU_MFMA:
  case KILN_EMU_MFMA_SCALED:
    if (matrix.c == KILN_EMU_F64) // 16x16x4: consecutive groups of lanes, then registers
      return {4 * e + lane / 16, lane % 16};
    // Four registers are four consecutive rows; the groups of n lanes come in between.
    return {e / 4 * (4 * 64 / matrix.n) + 4 * (lane / matrix.n) + e % 4, lane % matrix.n};
  case KILN_EMU_WMMA_GFX11: // register r: row 2 r in lanes 0 to 15, row 2 r + 1 in the others
    return {2 * e + lane / 16, lane % 16};
  default:
    return {8 * (lane / 16) + e, lane % 16};
  }
}

bool isDescribed(const kiln_emu_matrix &matrix) {
  uint32_t m = matrix.m, n = matrix.n, k = matrix.k;
  switch (matrix.family) {
  case KILN_EMU_MMA_SYNC: {
    if (m == 8)
      return n == 8 && k == 4 && matrix.a == KILN_EMU_F64;
    uint32_t perRegister = 32 / bitsOf(matrix.a);
    return m == 16 && n == 8 && (k == 4 * perRegister || k == 8 * perRegister);
  }
  case KILN_EMU_MFMA: // one block
    return m == n && (m == 16 || m == 32) && m * k % 64 == 0;
  case KILN_EMU_MFMA_SCALED:
    return m == n && (m == 16 || m == 32) && m * k == 2048 && matrix.c == KILN_EMU_F32;
  default:
    return m == 16 && n == 16 && k == 16;
  }
}

} // namespace kiln::emulator
