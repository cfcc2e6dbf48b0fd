//===- SlicedExchange.cpp - moving tiles in slices ------------------------===//

#include "compiler/Layout/SlicedExchange.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;

namespace kiln {

/// What threads add to the coordinates, in either layout.
static BinaryColumns threadBases(const LinearLayout &source, const LinearLayout &result) {
  BinaryColumns bases;
  for (const LinearLayout *layout : {&source, &result})
    for (Dim dim : {Dim::Lane, Dim::Warp, Dim::Block})
      bases.append(layout->columns(dim).begin(), layout->columns(dim).end());
  return complementWithin({}, bases);
}

/// A basis of the linear functions that are zero on `vectors`: bit i of one is its value on
/// coordinate bit i.
static BinaryColumns annihilator(ArrayRef<BinaryVector> vectors, unsigned dimensions) {
  // Function f is zero on them all iff the sum of the rows that it selects is zero.
  BinaryColumns rows(dimensions, 0);
  for (auto [index, vector] : enumerate(vectors))
    for (unsigned bit = 0; bit < dimensions; ++bit)
      rows[bit] |= (vector >> bit & 1) << index;
  return kernel(rows);
}

unsigned maxSlices(const LinearLayout &source, const LinearLayout &result) {
  return 1u << (source.out().totalBits() - threadBases(source, result).size());
}

namespace {

/// The functions that tell slices apart, in echelon form.
class Slicing {
public:
  Slicing(const LinearLayout &source, const LinearLayout &result, unsigned count)
      : dimensions(source.out().totalBits()) {
    BinaryColumns zero = threadBases(source, result);
    // As many registers as leave enough functions, the first of both layouts in turn.
    ArrayRef<BinaryVector> first = source.columns(Dim::Register),
                           second = result.columns(Dim::Register);
    for (size_t bit = 0; bit < std::max(first.size(), second.size()); ++bit)
      for (ArrayRef<BinaryVector> registers : {first, second})
        if (bit < registers.size() && dimensions - zero.size() > count) {
          zero.push_back(registers[bit]);
          zero = complementWithin({}, zero);
        }
    functions = annihilator(zero, dimensions);
    assert(functions.size() >= count && "expected at most maxSlices");
    functions.truncate(count);
    reduce();
  }

  /// The slice of coordinates: bit k is function k of them.
  uint64_t sliceOf(BinaryVector coordinates) const {
    uint64_t slice = 0;
    for (auto [index, function] : enumerate(functions))
      slice |= uint64_t(popcount(function & coordinates) & 1) << index;
    return slice;
  }

  /// The coordinates without the pivots, which the others and the slice determine.
  BinaryVector within(BinaryVector coordinates) const {
    BinaryVector result = 0;
    unsigned bit = 0;
    for (unsigned from = 0; from < dimensions; ++from)
      if (!(pivots >> from & 1))
        result |= (coordinates >> from & 1) << bit++;
    return result;
  }

  unsigned remaining() const { return dimensions - functions.size(); }

private:
  /// Each function gets a bit of its own.
  void reduce() {
    for (size_t k = 0; k < functions.size(); ++k) {
      uint64_t pivot = uint64_t(1) << countr_zero(functions[k]);
      pivots |= pivot;
      for (size_t other = 0; other < functions.size(); ++other)
        if (other != k && functions[other] & pivot)
          functions[other] ^= functions[k];
    }
  }

  unsigned dimensions;
  BinaryColumns functions;
  uint64_t pivots = 0;
};

/// One side of the exchange: its registers by slice.
class SlicedSide {
public:
  SlicedSide(const LinearLayout &layout, const Slicing &slicing)
      : layout(layout), slicing(slicing) {
    for (BinaryVector column : layout.columns(Dim::Register))
      sliceOfBit.push_back(slicing.sliceOf(column));
    registers = kernel(sliceOfBit);
  }

  /// The layout of the slice with number 0.
  LinearLayout slice() const {
    LayoutSpace in({{Dim::Register, unsigned(registers.size())},
                    {Dim::Lane, unsigned(layout.columns(Dim::Lane).size())},
                    {Dim::Warp, unsigned(layout.columns(Dim::Warp).size())},
                    {Dim::Block, unsigned(layout.columns(Dim::Block).size())}});
    BinaryColumns columns;
    for (uint64_t combination : registers)
      columns.push_back(slicing.within(multiply(layout.columns(Dim::Register), combination)));
    for (Dim dim : {Dim::Lane, Dim::Warp, Dim::Block})
      for (BinaryVector column : layout.columns(dim))
        columns.push_back(slicing.within(column));
    return LinearLayout(in, LayoutSpace({{Dim::axis(0), slicing.remaining()}}), columns);
  }

  /// The access of slice `number`, from that of slice 0: the registers of a coset, and all offsets
  /// xor that of its leader.
  SharedAccess access(const SharedAccess &first, const SharedLayout &shared,
                      uint64_t number) const {
    uint64_t leader = *solve(sliceOfBit, number);
    BinaryVector at = slicing.within(multiply(layout.columns(Dim::Register), leader));
    uint64_t offset = *solve(shared.map.columns(), at);
    SharedAccess result = first;
    for (auto [part, original] : zip_equal(result.parts, first.parts)) {
      part.offset = original.offset ^ (offset & ~uint64_t(first.vector - 1));
      for (unsigned element = 0; element < first.vector; ++element)
        part.registers[element] =
            leader ^
            multiply(registers, original.registers[element ^ (offset & (first.vector - 1))]);
    }
    return result;
  }

private:
  const LinearLayout &layout;
  const Slicing &slicing;
  BinaryColumns sliceOfBit;
  /// Basis of the register numbers of slice 0.
  BinaryColumns registers;
};

} // namespace

bool SlicedExchange::keepsWarpsApart() const {
  // What the first warp touches spans no more than this.
  BinarySpan span;
  auto touch = [&](BinaryVector offset) {
    if (!span.contains(offset))
      span.insert(offset);
  };
  for (const Round &round : rounds)
    for (const SharedAccess *access : {&round.store, &round.load}) {
      for_each(access->laneOffsets, touch);
      for (const SharedAccess::Part &part : access->parts)
        touch(part.offset);
      for (uint64_t element = 1; element < access->vector; element *= 2)
        touch(element);
    }
  for (auto [stored, loaded] : zip_equal(rounds[0].store.warpOffsets, rounds[0].load.warpOffsets))
    if (!span.contains(stored ^ loaded))
      return false;
  return all_of(rounds[0].store.warpOffsets, [&](BinaryVector warp) { return span.insert(warp); });
}

SlicedExchange inOneRound(const SharedExchange &exchange) {
  return {exchange.shared, {{exchange.store, exchange.load}}, exchange.bytes};
}

SlicedExchange planSlicedExchange(const LinearLayout &source, const LinearLayout &result,
                                  unsigned elementBits, const SharedMemoryShape &memory,
                                  unsigned slices) {
  assert(slices <= maxSlices(source, result) && "expected slices that registers tell apart");
  Slicing slicing(source, result, Log2_32(slices));
  SlicedSide store(source, slicing), load(result, slicing);
  SharedExchange first = planSharedExchange(store.slice(), load.slice(), elementBits, memory);
  SlicedExchange plan{first.shared, {}, first.bytes};
  for (unsigned number = 0; number < slices; ++number)
    plan.rounds.push_back({store.access(first.store, first.shared, number),
                           load.access(first.load, first.shared, number)});
  return plan;
}

} // namespace kiln
