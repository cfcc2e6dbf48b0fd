// Instructions by which a warp loads and stores the fragments of matrices.

#include "runtime/emulator/Block.h"
#include <algorithm>
#include <cstring>

using namespace kiln::emulator;

namespace {

struct MatrixRows {
  const void *address;
  uint32_t *words;
};

} // namespace

// PTX ISA, "ldmatrix": the addresses of 8x8 matrix i are those of lanes 8 i to 8 i + 7; lane l gets
// elements 2 (l % 4) and the next of row l / 4, or of column l / 4 with .trans.
KILN_SWITCHES void kiln_emu_ldmatrix(kiln_emu_thread *thread, const kiln_emu_site *site,
                                     const void *address, uint32_t count, uint32_t transposed,
                                     uint32_t *out) {
  Thread &self = threadOf(thread);
  uint16_t row[8];
  kiln_emu_load(thread, site, KILN_EMU_SHARED, address, row, 16, 16, self.lane < 8 * count);
  MatrixRows own{row, out};
  self.inWarp->requests[self.lane] = &own;
  self.block->collective(self, site, ~uint64_t(0), [&](Warp &warp) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < count; ++i) {
        uint16_t pair[2];
        for (unsigned e = 0; e < 2; ++e) {
          unsigned from = transposed ? lane % 4 * 2 + e : lane / 4,
                   column = transposed ? lane / 4 : lane % 4 * 2 + e;
          pair[e] =
              static_cast<const uint16_t *>(warp.request<MatrixRows>(8 * i + from).address)[column];
        }
        std::memcpy(&warp.request<MatrixRows>(lane).words[i], pair, 4);
      }
  });
}

KILN_SWITCHES void kiln_emu_stmatrix(kiln_emu_thread *thread, const kiln_emu_site *site,
                                     void *address, uint32_t count, uint32_t transposed,
                                     const uint32_t *in) {
  Thread &self = threadOf(thread);
  uint16_t row[8];
  uint32_t words[4];
  std::copy(in, in + count, words);
  MatrixRows own{row, words};
  self.inWarp->requests[self.lane] = &own;
  self.block->collective(self, site, ~uint64_t(0), [&](Warp &warp) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < count; ++i) {
        uint16_t pair[2];
        std::memcpy(pair, &warp.request<MatrixRows>(lane).words[i], 4);
        for (unsigned e = 0; e < 2; ++e) {
          unsigned to = transposed ? lane % 4 * 2 + e : lane / 4,
                   column = transposed ? lane / 4 : lane % 4 * 2 + e;
          auto *target =
              static_cast<const uint16_t *>(warp.request<MatrixRows>(8 * i + to).address);
          const_cast<uint16_t *>(target)[column] = pair[e];
        }
      }
  });
  kiln_emu_store(thread, site, KILN_EMU_SHARED, address, row, 16, 16, self.lane < 8 * count);
}
