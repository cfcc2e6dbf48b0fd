// Placing buffers by lifetime: see the header.

#include "compiler/Conversion/TileToCPU/Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <functional>

using namespace mlir;

namespace kiln::cpu {

static constexpr int64_t alignment = 64;

static int64_t elementBytes(Type element) {
  return isa<LLVM::LLVMPointerType>(element) ? 8
                                             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Buffer::Buffer(unsigned number, Type element, ArrayRef<int64_t> shape, unsigned minorAxis)
    : number(number),
      element(element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element),
      valueElement(element), shape(shape), strides(shape.size(), 1) {
  int64_t count = shape.empty() ? 1 : shape[minorAxis];
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis)
    if (unsigned(axis) != minorAxis) {
      strides[axis] = count;
      count *= shape[axis];
    }
  bytes = count * elementBytes(this->element);
}

void Arena::start(Block *block, Value address) {
  entry = block;
  base = address;
}

void Arena::allocate(Location loc, const Buffer *buffer) {
  assert(!holds(buffer) && "a buffer is allocated twice");
  OpBuilder builder = OpBuilder::atBlockBegin(entry);
  // The offset is a constant that place() fills in.
  Value offset = arith::ConstantIntOp::create(builder, loc, 0, 64);
  addresses[buffer] = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                          ValueRange{offset});
  allocated.push_back(buffer);
}

Value Arena::address(const Buffer *buffer) const {
  assert(holds(buffer) && "a buffer is used before it is allocated");
  return addresses.lookup(buffer);
}

namespace {

/// First and last position at which a buffer is in use.
struct Lifetime {
  unsigned first = 0, last = 0;
};

using Spans = DenseMap<Operation *, std::pair<unsigned, unsigned>>;

/// Positions of every operation: its own, and the last one inside it.
Spans numberOperations(Operation *root) {
  Spans spans;
  unsigned next = 0;
  std::function<void(Operation *)> number = [&](Operation *op) {
    unsigned first = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    spans[op] = {first, next++};
  };
  number(root);
  return spans;
}

/// The innermost block that holds all uses, and the operations of that block that hold them, bound
/// the lifetime: a loop that a buffer enters or leaves keeps it for all iterations, a loop that it
/// never leaves only within one.
Lifetime lifetimeOf(Value address, const Spans &spans) {
  SmallVector<Operation *> users(address.getUsers());
  // Addresses computed from it may be used far from where they are computed.
  for (size_t i = 0; i != users.size(); ++i)
    if (isa<LLVM::GEPOp, LLVM::SelectOp, LLVM::InsertElementOp, LLVM::ShuffleVectorOp>(users[i]))
      llvm::append_range(users, users[i]->getUsers());
  Block *common = users.front()->getBlock();
  auto holds = [&](Operation *op) { return common->findAncestorOpInBlock(*op) != nullptr; };
  while (!llvm::all_of(users, holds))
    common = common->getParentOp()->getBlock();
  Lifetime lifetime{~0u, 0};
  for (Operation *user : users) {
    auto [first, last] = spans.lookup(common->findAncestorOpInBlock(*user));
    lifetime.first = std::min(lifetime.first, first);
    lifetime.last = std::max(lifetime.last, last);
  }
  return lifetime;
}

} // namespace

int64_t Arena::place(func::FuncOp function) {
  Spans spans = numberOperations(function);
  struct Placed {
    Lifetime lifetime;
    int64_t begin, end;
  };
  SmallVector<Placed> placed;
  int64_t total = 0;
  SmallVector<std::pair<int64_t, unsigned>> largestFirst;
  for (auto [number, buffer] : llvm::enumerate(allocated))
    if (!address(buffer).use_empty())
      largestFirst.push_back({-buffer->bytes, unsigned(number)});
  llvm::sort(largestFirst);
  for (auto [negativeSize, number] : largestFirst) {
    const Buffer *buffer = allocated[number];
    Lifetime lifetime = lifetimeOf(address(buffer), spans);
    int64_t size = llvm::alignTo(buffer->bytes, alignment), begin = 0;
    // First fit among the buffers alive at the same time, which are kept in the order of their
    // places.
    for (const Placed &other : placed) {
      bool together =
          lifetime.first <= other.lifetime.last && other.lifetime.first <= lifetime.last;
      if (together && begin < other.end && other.begin < begin + size)
        begin = other.end;
    }
    Placed entryOfBuffer{lifetime, begin, begin + size};
    placed.insert(
        llvm::upper_bound(placed, entryOfBuffer,
                          [](const Placed &a, const Placed &b) { return a.begin < b.begin; }),
        entryOfBuffer);
    total = std::max(total, begin + size);
    auto gep = address(buffer).getDefiningOp<LLVM::GEPOp>();
    auto offset = gep.getDynamicIndices()[0].getDefiningOp<arith::ConstantOp>();
    offset.setValueAttr(IntegerAttr::get(offset.getType(), begin));
  }
  for (const Buffer *buffer : allocated)
    if (address(buffer).use_empty())
      address(buffer).getDefiningOp()->erase();
  return total;
}

} // namespace kiln::cpu
