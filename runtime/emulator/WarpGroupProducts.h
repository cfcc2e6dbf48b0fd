// Products of warp groups (wgmma) in flight.
//
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions". Four warps multiply together, each
// the 16 of the 64 rows that its number says; here each does so by itself, when it waits for the
// group that it committed, as late as the program allows. Until then
//  - the accumulators hold NaNs that name the product and the register. What is done to them is
//    lost, and a product that is given them adds to the values that they stand for. So the values
//    that a program passes on are what hardware has in registers;
//  - what the descriptors describe is as good as being read: whoever writes it has a race.

#ifndef KILN_RUNTIME_EMULATOR_WARPGROUPPRODUCTS_H
#define KILN_RUNTIME_EMULATOR_WARPGROUPPRODUCTS_H

#include "runtime/emulator/AccessHistory.h"
#include "runtime/emulator/MatrixDescriptor.h"
#include "runtime/emulator/kiln_emu.h"
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace kiln::emulator {

class Block;
struct Thread;
struct Warp;

/// What one warp does of a product.
struct WarpGroupProduct {
  enum class State { Issued, Committed, Complete };
  static constexpr uint32_t warps = 4, rows = 16, lanes = 32, noSource = ~0u;

  kiln_emu_wgmma_product shape;
  const kiln_emu_site *site;
  uint32_t id; ///< in the accumulators' NaNs
  uint32_t warp;
  State state = State::Issued;
  uint32_t group = 0;                 ///< number of the warp's commit
  std::vector<uint64_t> a, b;         ///< descriptors of the steps; of `a` none for registers
  std::vector<uint32_t> registersOfA; ///< four words of each lane, step by step
  bool adds = true;                   ///< to the accumulators
  std::vector<uint32_t> accumulators; ///< words lane by lane; the results once it is complete
  std::vector<uint32_t> sources;      ///< by register: whose result is meant, or noSource

  uint32_t words() const { return shape.n / (shape.accumulator == KILN_EMU_F16 ? 4 : 2); }
  uint32_t firstRow() const { return warp % warps * rows; }
  /// What the accumulators hold until it is complete.
  uint32_t placeholder(uint32_t word) const;
  /// The accumulator that `value` is the placeholder of, or noSource.
  uint32_t wordOf(uint32_t value) const;
  /// The 18-bit addresses of the 16 bytes that a step reads.
  template <typename Visit> void forUnits(uint32_t step, Visit visit) const;
  template <typename Visit> void forUnitsOfA(uint32_t step, Visit visit) const;
  template <typename Visit> void forUnitsOfB(uint32_t step, Visit visit) const;
};

/// D = A * B + C with what `shared` holds now; a multiple of 2^18 bytes.
void multiply(WarpGroupProduct &product, const char *shared);

class WarpGroupProducts {
public:
  /// One lane's operands of an instruction.
  struct Issue {
    const kiln_emu_wgmma_product *shape;
    const void *a;
    const uint64_t *b;
    const uint32_t *accumulators;
    uint32_t adds;
    uint32_t *out;
  };
  struct Wait {
    uint32_t words;
    const uint32_t *accumulators;
    uint32_t *out;
  };

  explicit WarpGroupProducts(Block &block) : block(block) {}
  void reset(uint32_t numWarps, uint32_t sharedBytes);

  /// Every lane of the warp has come, with its own Issue or Wait as its request. `self` is the one
  /// to blame.
  void issue(Thread &self, const kiln_emu_site *site);
  void commit(Warp &warp);
  void wait(Thread &self, const kiln_emu_site *site, uint32_t pending);

  /// A product in flight that reads one of these bytes of shared memory; null: none. Known while
  /// accesses are checked.
  const WarpGroupProduct *readerOf(uint32_t offset, uint32_t bytes) const;
  /// At the block's end: what was forgotten.
  void reportUnfinished();

private:
  using Products = std::vector<std::unique_ptr<WarpGroupProduct>>;
  struct OfWarp {
    Products products; ///< in flight, and complete ones that nobody has taken yet; oldest first
    uint32_t issued = 0, committed = 0;
  };
  /// What the four warps of a group must agree on.
  struct Common {
    const kiln_emu_site *site;
    std::vector<uint64_t> a, b;
    uint32_t arrived = 0;
  };
  struct OfGroup {
    std::deque<Common> products; ///< to which not all four warps have come
    uint32_t first = 0;          ///< number of the first of them
  };

  void validate(Thread &self, const kiln_emu_site *site) const;
  void agree(Thread &self, const WarpGroupProduct &product);
  void findSources(WarpGroupProduct &product) const;
  WarpGroupProduct *productOf(uint32_t warp, uint32_t value) const;
  void beginReads(Thread &self, const WarpGroupProduct &product);
  void endReads(const WarpGroupProduct &product);
  void complete(WarpGroupProduct &product);
  void release(Thread &self, const kiln_emu_site *site, std::vector<uint32_t> &taken);

  Block &block;
  std::vector<OfWarp> warps;
  std::vector<OfGroup> groups;
  /// By 16 bytes of shared memory: how many products in flight read them.
  std::vector<uint16_t> readers;
};

template <typename Visit> void WarpGroupProduct::forUnitsOfA(uint32_t step, Visit visit) const {
  if (a.empty())
    return;
  MatrixDescriptor matrix(a[step]);
  for (uint32_t i = 0; i < 32; ++i)
    visit(i, shape.transpose_a ? matrix.unitOfColumn(firstRow() / 8 + i / 16, i % 16)
                               : matrix.unitOfRow(firstRow() + i / 2, i % 2));
}

template <typename Visit> void WarpGroupProduct::forUnitsOfB(uint32_t step, Visit visit) const {
  MatrixDescriptor matrix(b[step]);
  for (uint32_t i = 0; i < 2 * shape.n; ++i)
    visit(i,
          shape.transpose_b ? matrix.unitOfColumn(i / 16, i % 16) : matrix.unitOfRow(i / 2, i % 2));
}

template <typename Visit> void WarpGroupProduct::forUnits(uint32_t step, Visit visit) const {
  auto address = [&](uint32_t, uint32_t unit) { visit(unit); };
  forUnitsOfA(step, address);
  forUnitsOfB(step, address);
}

} // namespace kiln::emulator

#endif
