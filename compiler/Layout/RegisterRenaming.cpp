// Which registers of a thread hold which elements: pure layout arithmetic.

#include "compiler/Layout/RegisterRenaming.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln {

SmallVector<unsigned> firstDuplicates(const LinearLayout &layout, BinaryVector ignored) {
  SmallVector<BinaryVector> columns(layout.columns(Dim::Register));
  for (BinaryVector &column : columns)
    column &= ~ignored;
  BinarySpan span(columns);
  SmallVector<unsigned> first;
  for (uint64_t reg = 0; reg < uint64_t(1) << columns.size(); ++reg)
    first.push_back(*span.solve(multiply(columns, reg)));
  return first;
}

SmallVector<RegisterStep> registerSteps(const LinearLayout &layout, unsigned position,
                                        int64_t group) {
  ArrayRef<BinaryVector> columns = layout.columns(), registers = layout.columns(Dim::Register);
  BinaryVector own = BinaryVector(group - 1) << position;
  for (BinaryVector column : columns.drop_front(registers.size()))
    own &= ~column;
  SmallVector<RegisterStep> steps;
  for (auto [reg, first] : llvm::enumerate(firstDuplicates(layout, own))) {
    auto place = [&](uint64_t reg) {
      return int64_t((multiply(registers, reg) & own) >> position);
    };
    steps.push_back({first, place(reg) - place(first)});
  }
  return steps;
}

SmallVector<unsigned> neighbourBits(const LinearLayout &layout, unsigned position, int64_t limit) {
  ArrayRef<BinaryVector> registers = layout.columns(Dim::Register);
  SmallVector<unsigned> bits;
  while (int64_t(2) << bits.size() <= limit) {
    uint64_t step = uint64_t(1) << (position + bits.size());
    const auto *column = llvm::find(registers, step);
    auto changes = [&](uint64_t other) { return (other & step) != 0; };
    if (column == registers.end() || llvm::count_if(layout.columns(), changes) != 1)
      break;
    bits.push_back(column - registers.begin());
  }
  return bits;
}

RegisterGroups groupRegisters(const LinearLayout &layout, ArrayRef<unsigned> bits,
                              BinaryVector ignored) {
  unsigned mask = 0;
  for (unsigned bit : bits) {
    mask |= 1u << bit;
    ignored &= ~layout.columns(Dim::Register)[bit];
  }
  RegisterGroups groups;
  for (auto [reg, first] : llvm::enumerate(firstDuplicates(layout, ignored))) {
    if (reg != first || (reg & mask))
      continue;
    SmallVector<unsigned> group;
    for (unsigned place = 0; place < 1u << bits.size(); ++place) {
      unsigned member = reg;
      for (auto [index, bit] : llvm::enumerate(bits))
        member |= (place >> index & 1) << bit;
      group.push_back(member);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::optional<SmallVector<unsigned>> renameRegisters(const LinearLayout &source,
                                                     const LinearLayout &wanted) {
  auto sameThreads = [&](Dim dim) { return source.columns(dim) == wanted.columns(dim); };
  if (!sameThreads(Dim::Lane) || !sameThreads(Dim::Warp))
    return std::nullopt;
  BinarySpan span(source.columns(Dim::Register));
  SmallVector<unsigned> registers;
  for (int64_t reg = 0; reg < wanted.numRegisters(); ++reg) {
    std::optional<uint64_t> from = span.solve(multiply(wanted.columns(Dim::Register), reg));
    if (!from)
      return std::nullopt;
    registers.push_back(*from);
  }
  return registers;
}

} // namespace kiln
