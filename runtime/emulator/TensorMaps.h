// Tensor maps that a kernel makes, and what orders them with the copies that go by them.
//
// PTX ISA, "tensormap.replace, tensormap.cp_fenceproxy, membar / fence", and "Tensor-map": the copy
// engine reads a map by a proxy of its own. What threads have written there it sees if it was
// released (by tensormap.cp_fenceproxy) and the thread that starts the copy has acquired it since.
// A copy in flight reads its map until its thread has waited for it.
//
// On a GPU records are parts of a variable of the module (ExpandMaps.cpp); here each block has one
// of its own, which holds poison but for the zeros that its head begins with.

#ifndef KILN_RUNTIME_EMULATOR_TENSORMAPS_H
#define KILN_RUNTIME_EMULATOR_TENSORMAPS_H

#include "runtime/emulator/kiln_emu.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kiln::emulator {

class Block;
struct Thread;

class TensorMaps {
public:
  static constexpr uint32_t mapBytes = sizeof(kiln_emu_tensor_map);

  explicit TensorMaps(Block &block) : block(block) {}
  void reset();

  char *claim(uint32_t maps, const kiln_emu_site *site);
  void release(Thread &self, const kiln_emu_site *site, const void *released);
  /// At the block's end.
  void reportUnreleased(const Thread &thread);
  bool owns(const void *address, uint32_t bytes) const {
    size_t offset = size_t(static_cast<const char *>(address) - record);
    return record && offset < recordBytes && recordBytes - offset >= bytes;
  }

  /// A warp has copied these words to `map`; `self` is its first lane.
  void publish(Thread &self, const kiln_emu_site *site, void *map, const uint32_t *words);
  void acquire(const Thread &self, const void *map);
  /// Why the engine need not see the map as the thread means it; "" if it does, or the kernel does
  /// not make it.
  std::string problemOf(const Thread &self, const void *map) const;

private:
  struct Published {
    uint32_t version = 0;
    const kiln_emu_site *site = nullptr;
    std::map<uint32_t, uint32_t> acquired; ///< versions, by thread
  };

  Block &block;
  std::vector<char> storage;
  char *record = nullptr; ///< null: the block has none
  size_t recordBytes = 0;
  const kiln_emu_site *claimedAt = nullptr;
  std::map<const void *, Published> published;
};

} // namespace kiln::emulator

#endif
