// The caches between waves and global memory, as far as they are not coherent with each other.
//
// Those of loads hear nothing of what others store: an L1 of each compute unit on GFX9, on RDNA an
// L0 of each of a work-group processor's two and an L1 behind both. GFX942's and GFX950's L2, of
// which a device has several, keeps stores until it is written back (LLVM's "User Guide for AMDGPU
// Backend", "Memory Model"). A line stays until an instruction drops it or there is no room: what a
// missing invalidation or write-back may do wrong, it does. Scalar loads have a cache of their own,
// which nobody drops while the kernel runs.
#ifndef KILN_TESTS_AMDGCN_CACHES_H
#define KILN_TESTS_AMDGCN_CACHES_H

#include "tests/amdgcn/Instruction.h"
#include <unordered_map>

namespace kiln::amdgcn {

/// One cache, and by `next` all behind it up to memory.
class Cache {
public:
  /// Accesses through it are coherent for whoever is within the scope. It keeps stores to itself,
  /// or also gives them to the next.
  Cache(Scope coherentWithin, bool keepsStores, Cache *next)
      : coherentWithin(coherentWithin), keepsStores(keepsStores), next(next) {}
  Cache(const Cache &) = delete;

  /// What is to be coherent within a wider scope goes by the lines that are there.
  void load(uint64_t address, void *to, uint32_t bytes, Scope scope);
  void store(uint64_t address, const void *from, uint32_t bytes, Scope scope);
  /// Before an atomic operation, which takes place in memory: no cache has these bytes.
  void release(uint64_t address, uint32_t bytes);
  /// Drops all lines but what they keep of stores.
  void drop();
  /// Of this cache and those behind it, where their scope is narrower.
  void invalidate(Scope scope);
  void writeBack(Scope scope);

private:
  static constexpr uint32_t lineBytes = 64;
  struct Line {
    uint64_t valid = 0, dirty = 0; ///< a bit for each byte
    uint8_t data[lineBytes];
  };
  /// `function(address, offset, bytes)` for the part of each line.
  template <typename Function>
  static void forLines(uint64_t address, uint32_t bytes, Function function);
  static uint64_t bitsOf(uint32_t offset, uint32_t bytes) {
    return (bytes == lineBytes ? ~uint64_t(0) : (uint64_t(1) << bytes) - 1) << offset;
  }
  Line &lineAt(uint64_t address);
  void writeBack(uint64_t address, Line &line, uint64_t bytes);

  const Scope coherentWithin;
  const bool keepsStores;
  Cache *const next;
  std::unordered_map<uint64_t, Line> lines;
};

/// Of a place where one workgroup after the other runs.
class Caches {
public:
  explicit Caches(const std::string &processor);

  Cache &ofWave(unsigned number) { return *units[number % units.size()]; }
  Cache &ofScalars() { return *scalars; }
  /// RDNA's, behind those of the units.
  Cache &ofWorkgroup() { return *first; }
  /// At the kernel's end.
  void writeBack();

private:
  std::unique_ptr<Cache> second, first, scalars;
  std::vector<std::unique_ptr<Cache>> units;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_CACHES_H
