// What a kernel may touch of the host's memory.
#ifndef KILN_TESTS_AMDGCN_MEMORY_H
#define KILN_TESTS_AMDGCN_MEMORY_H

#include <cstdint>
#include <map>

namespace kiln::amdgcn {

class Allocations {
public:
  void add(const void *start, uint64_t bytes, bool isWritable = true);
  void remove(const void *start);

  /// Faults where not all of it is of one allocation, or a store is to one that is only read. Of an
  /// aligned load the first byte has to be, or the first of the 16 whose upper half it loads.
  void check(uint64_t address, uint64_t bytes, bool isStore) const;

private:
  struct Range {
    uint64_t start = 0, end = 0;
    bool isWritable = false;
  };
  bool holds(uint64_t address, uint64_t bytes, bool isStore) const;
  bool holdsLoad(uint64_t address, uint64_t bytes) const;

  std::map<uint64_t, Range> ranges;
  mutable Range last;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_MEMORY_H
