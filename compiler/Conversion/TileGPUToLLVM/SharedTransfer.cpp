// Registers of a thread to and from shared memory, and to and from other lanes.

#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include <utility>

using namespace mlir;

namespace kiln {

SharedArray arrayOf(const Lowering &lowering, tilegpu::BufferType type, Value base) {
  return {base, lowering.elementType(type.getElementType()), type.getLayout().getPadInterval(),
          type.getLayout().getPadAmount()};
}

unsigned sharedBytes(Type element) { return std::max(1u, scalarBits(element) / 8); }

//===-- shared memory ------------------------------------------------------------------------===//

/// Booleans are bytes in memory, pointers integers.
static Type storedType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isa<LLVM::LLVMPointerType>(element))
    return IntegerType::get(element.getContext(), 64);
  return element;
}

static Value toStored(const ScalarBuilder &s, Value value) {
  Type stored = storedType(value.getType());
  return value.getType().isInteger(1) ? s.make<arith::ExtUIOp>(stored, value)
                                      : s.bitcast(value, stored);
}

static Value fromStored(const ScalarBuilder &s, Value value, Type element) {
  return element.isInteger(1) ? s.make<arith::TruncIOp>(element, value) : s.bitcast(value, element);
}

SharedAccess accessByOffsets(const LinearLayout &offsets, Type element) {
  SharedAccess access;
  SmallVector<unsigned> bits = neighbourBits(offsets, 0, 16 / sharedBytes(element));
  access.vector = 1u << bits.size();
  for (ArrayRef<unsigned> group : groupRegisters(offsets, bits)) {
    SharedAccess::Part part;
    part.registers.assign(group.begin(), group.end());
    part.offset = multiply(offsets.columns(Dim::Register), group[0]);
    access.parts.push_back(part);
  }
  access.laneOffsets.assign(offsets.columns(Dim::Lane).begin(), offsets.columns(Dim::Lane).end());
  access.warpOffsets.assign(offsets.columns(Dim::Warp).begin(), offsets.columns(Dim::Warp).end());
  access.freeLanes = offsets.freeBits(Dim::Lane);
  access.freeWarps = offsets.freeBits(Dim::Warp);
  return access;
}

namespace {
/// Addresses of a thread's accesses.
class Addresses {
public:
  Addresses(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
            const SharedAccess &access)
      : s(s), array(array), sharesAddresses(mayShare(lowering, array, access)) {
    unsigned laneBits = llvm::Log2_32(lowering.target().warpSize);
    BinaryColumns columns(access.laneOffsets);
    columns.resize(laneBits, 0);
    columns.append(access.warpOffsets.begin(), access.warpOffsets.end());
    for (uint64_t column : columns)
      possible |= column;
    Value id = lowering.device.threadId(s.builder(), s.location());
    thread = applyColumns(s, columns, id);
    uint64_t duplicates = access.freeLanes | access.freeWarps << laneBits;
    if (duplicates)
      owner = s.equal(s.bitAnd(id, duplicates), 0);
  }

  /// The bits of a constant offset that a thread's part cannot have are the access's own field:
  /// accesses that differ in these alone have one address. On AMD not all do where they have others
  /// too: LLVM moves loads of one address together.
  Value of(uint64_t offset) const {
    if (array.padInterval || (!sharesAddresses && (possible & offset)))
      return at(combineParts(s, thread, possible, offset));
    Value begin = at(combineParts(s, thread, possible, offset & possible));
    return s.byteOffset(begin, s.i32((offset & ~possible) * sharedBytes(array.element)));
  }
  Value at(Value offset) const {
    Value place = offset;
    if (array.padInterval)
      place = s.add(offset,
                    s.mul(s.shiftRight(offset, llvm::Log2_32(array.padInterval)), array.padAmount));
    return s.byteOffset(array.base, s.mul(place, sharedBytes(array.element)));
  }

  /// i1: this thread stores; null when all do.
  Value owner;

private:
  /// Of one address two accesses of up to 8 bytes are one instruction, and those of 16 need no
  /// registers of their own: CDNA's do. But with 8 bytes LLVM holds more in flight, and a thread
  /// that barely leaves a processor two waves would leave it one. What RDNA's threads lack
  /// registers for is mostly the addresses of wide accesses, and where they need few, addresses are
  /// what keeps a processor from more blocks; in between LLVM takes more for what it has in flight
  /// then, and a processor has fewer.
  static bool mayShare(const Lowering &lowering, const SharedArray &array,
                       const SharedAccess &access) {
    const TargetInfo &target = lowering.target();
    if (target.backend != Backend::HIP)
      return true;
    constexpr unsigned widest = 16;
    unsigned bytes = access.vector * sharedBytes(array.element), needed = lowering.neededRegisters;
    if (target.matrix.mfmaGeneration)
      return bytes != widest / 2 || needed <= 192 || needed > 256;
    constexpr unsigned few = 128, many = 160;
    return target.matrix.wmmaGeneration && bytes == widest && (needed <= few || needed > many);
  }

  const ScalarBuilder &s;
  const SharedArray &array;
  const bool sharesAddresses;
  Value thread;
  uint64_t possible = 0;
};
} // namespace

void storeShared(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                 const SharedAccess &access, ValueRange registers) {
  OpBuilder &b = s.builder();
  Addresses addresses(s, lowering, array, access);
  OpBuilder::InsertionGuard guard(b);
  if (addresses.owner) {
    auto branch = scf::IfOp::create(b, s.location(), addresses.owner, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  llvm::SmallDenseSet<uint64_t> done;
  for (const SharedAccess::Part &part : access.parts) {
    if (!done.insert(part.offset).second)
      continue;
    SmallVector<Value> elements;
    for (unsigned reg : part.registers)
      elements.push_back(toStored(s, registers[reg]));
    LLVM::StoreOp::create(b, s.location(), s.pack(elements), addresses.of(part.offset),
                          access.vector * sharedBytes(array.element));
  }
}

void loadShared(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                const SharedAccess &access, MutableArrayRef<Value> registers) {
  OpBuilder &b = s.builder();
  Addresses addresses(s, lowering, array, access);
  Type stored = storedType(array.element);
  Type type = access.vector == 1 ? stored : VectorType::get(access.vector, stored);
  llvm::DenseMap<uint64_t, SmallVector<Value>> loaded;
  for (const SharedAccess::Part &part : access.parts) {
    SmallVector<Value> &elements = loaded[part.offset];
    if (elements.empty()) {
      Value vector = LLVM::LoadOp::create(b, s.location(), type, addresses.of(part.offset),
                                          access.vector * sharedBytes(array.element));
      for (Value element : s.unpack(vector))
        elements.push_back(fromStored(s, element, array.element));
    }
    for (auto [reg, element] : llvm::zip_equal(part.registers, elements))
      registers[reg] = element;
  }
}

SmallVector<Value> loadShared(const ScalarBuilder &s, const Lowering &lowering,
                              const SharedArray &array, const SharedAccess &access) {
  SmallVector<Value> registers(access.parts.size() * access.vector);
  loadShared(s, lowering, array, access, registers);
  return registers;
}

SmallVector<Value> loadMatrices(const ScalarBuilder &s, const Lowering &lowering,
                                const SharedArray &array, const MatrixAccess &access) {
  SharedAccess rows;
  rows.laneOffsets = access.laneOffsets;
  rows.warpOffsets = access.warpOffsets;
  Addresses addresses(s, lowering, array, rows);
  unsigned perWord = access.parts.front().registers.size() / access.matrices;
  Type type = perWord == 1 ? array.element : VectorType::get(perWord, array.element);
  SmallVector<Value> registers(access.parts.size() * access.parts.front().registers.size());
  llvm::DenseMap<uint64_t, SmallVector<Value>> loaded;
  for (const MatrixAccess::Part &part : access.parts) {
    SmallVector<Value> &elements = loaded[part.offset];
    if (elements.empty())
      for (Value word :
           lowering.device.loadMatrices(s.builder(), s.location(), addresses.of(part.offset),
                                        access.matrices, access.transposed))
        llvm::append_range(elements, s.unpack(s.bitcast(word, type)));
    for (auto [reg, element] : llvm::zip_equal(part.registers, elements))
      registers[reg] = element;
  }
  return registers;
}

SmallVector<Value> loadTransposed(const ScalarBuilder &s, const Lowering &lowering,
                                  const SharedArray &array, const SharedAccess &access) {
  Addresses addresses(s, lowering, array, access);
  Type type = VectorType::get(access.vector, array.element);
  SmallVector<Value> registers(access.parts.size() * access.vector);
  llvm::DenseMap<uint64_t, SmallVector<Value>> loaded;
  for (const SharedAccess::Part &part : access.parts) {
    SmallVector<Value> &elements = loaded[part.offset];
    if (elements.empty())
      elements = s.unpack(lowering.device.readTransposed(s.builder(), s.location(), type,
                                                         addresses.of(part.offset)));
    for (auto [reg, element] : llvm::zip_equal(part.registers, elements))
      registers[reg] = element;
  }
  return registers;
}

/// Whether the booleans, of which the true ones come first, are all one: they are equal, or compare
/// neighbours with a bound below them, which the first one would be the only one not to reach.
static bool areOne(ArrayRef<Value> booleans) {
  auto isAboveSameBound = [&](Value boolean) {
    auto compare = boolean.getDefiningOp<arith::CmpIOp>(),
         first = booleans[0].getDefiningOp<arith::CmpIOp>();
    return compare && first && compare.getRhs() == first.getRhs() &&
           compare.getPredicate() == arith::CmpIPredicate::sge &&
           first.getPredicate() == arith::CmpIPredicate::sge;
  };
  return llvm::all_equal(booleans) || llvm::all_of(booleans, isAboveSameBound);
}

/// How many of the booleans hold, of which the true ones come first. What all of them have in
/// common, such as a row's bound, is asked once; what is left of a row's elements is the same in
/// every row.
static Value countTrue(const ScalarBuilder &s, ArrayRef<Value> booleans) {
  if (areOne(booleans))
    return s.select(booleans[0], s.i32(booleans.size()), s.i32(0));
  auto operands = [&](unsigned number) {
    SmallVector<Value> values;
    for (Value boolean : booleans)
      if (auto both = boolean.getDefiningOp<arith::AndIOp>())
        values.push_back(both->getOperand(number));
    return values;
  };
  for (unsigned number : {0, 1}) {
    SmallVector<Value> common = operands(number);
    if (common.size() == booleans.size() && areOne(common))
      return s.select(common[0], countTrue(s, operands(1 - number)), s.i32(0));
  }
  Value count = s.i32(0);
  for (Value boolean : booleans)
    count = s.add(count, s.make<arith::ExtUIOp>(s.builder().getI32Type(), boolean));
  return count;
}

void copyToShared(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                  const SharedAccess &access, ValueRange pointers, ValueRange masks,
                  Value condition, bool counted, bool needsNoZeros) {
  Addresses addresses(s, lowering, array, access);
  unsigned bytes = access.vector * sharedBytes(array.element);
  auto bytesIf = [&](Value isCopied) {
    return isCopied ? s.select(isCopied, s.i32(bytes), s.i32(0)) : s.i32(bytes);
  };
  Value owner = addresses.owner;
  if (owner && condition && needsNoZeros)
    owner = s.bitAnd(owner, std::exchange(condition, Value()));
  llvm::SmallDenseSet<uint64_t> done;
  for (const SharedAccess::Part &part : access.parts) {
    if (!done.insert(part.offset).second)
      continue;
    unsigned first = part.registers.front();
    Value copied;
    if (counted) {
      SmallVector<Value> elements;
      for (unsigned reg : part.registers)
        elements.push_back(masks[reg]);
      copied = s.mul(countTrue(s, elements), sharedBytes(array.element));
      if (condition)
        copied = s.select(condition, copied, s.i32(0));
    } else if (masks.empty()) {
      copied = bytesIf(condition);
    } else {
      copied = bytesIf(condition ? s.bitAnd(masks[first], condition) : masks[first]);
    }
    // No branch around it: products may be in flight.
    lowering.device.copyAsync(s.builder(), s.location(), addresses.of(part.offset), pointers[first],
                              bytes, copied, owner);
  }
}

void copyByWarps(const ScalarBuilder &s, const Lowering &lowering, const SharedArray &array,
                 const SharedAccess &access, function_ref<void(unsigned first, Value to)> copy) {
  uint64_t possible = 0;
  for (uint64_t column : access.warpOffsets)
    possible |= column;
  Value ofWarp =
      applyColumns(s, access.warpOffsets, lowering.device.warpNumber(s.builder(), s.location()));
  for (const SharedAccess::Part &part : access.parts) {
    Value offset = combineParts(s, ofWarp, possible, part.offset);
    copy(part.registers.front(),
         s.byteOffset(array.base, s.mul(offset, sharedBytes(array.element))));
  }
}

FailureOr<SharedAccess> planWarpCopies(Operation *op, const Lowering &lowering,
                                       const LinearLayout &layout, tilegpu::BufferType buffer,
                                       unsigned vector) {
  unsigned bits = tilegpu::storageBits(buffer.getElementType());
  SharedMemoryShape memory = tilegpu::sharedMemoryOf(lowering.target());
  memory.maxVectorBits = vector * bits;
  const SharedLayout &shared = buffer.getLayout().getShared();
  SharedAccess access = planSharedAccess(layout, shared, bits, memory);
  if (access.vector != vector || !isSideBySide(access, shared, bits))
    return op->emitError() << "expected 16 bytes of each lane, side by side in the buffer and "
                              "under one mask";
  return access;
}

void shareOwners(const ScalarBuilder &s, const Lowering &lowering, Type type, Value owner,
                 Value scratch, MutableArrayRef<Value> registers, bool ordersGlobal) {
  OpBuilder &b = s.builder();
  Type element = registers[0].getType();
  SmallVector<Value> offsets{s.i32(0)};
  if (isa<RankedTensorType>(type)) {
    Value thread = lowering.device.threadId(b, s.location());
    offsets = flatOutputs(s, tilegpu::layoutOf(type), thread, lowering.target());
  }
  SmallVector<Value> addresses;
  for (Value offset : offsets)
    addresses.push_back(s.byteOffset(scratch, s.mul(offset, sharedBytes(element))));
  auto branch = scf::IfOp::create(b, s.location(), owner, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    for (auto [value, address] : llvm::zip_equal(registers, addresses))
      LLVM::StoreOp::create(b, s.location(), toStored(s, value), address);
  }
  if (ordersGlobal)
    lowering.device.barrier(b, s.location());
  else
    lowering.device.sharedBarrier(b, s.location());
  for (auto [value, address] : llvm::zip_equal(registers, addresses)) {
    Value loaded = LLVM::LoadOp::create(b, s.location(), storedType(element), address);
    value = fromStored(s, loaded, element);
  }
}

Value loadSharedElement(const ScalarBuilder &s, const SharedArray &array, Value offset) {
  Value address = s.byteOffset(array.base, s.mul(offset, sharedBytes(array.element)));
  Value loaded = LLVM::LoadOp::create(s.builder(), s.location(), storedType(array.element), address,
                                      sharedBytes(array.element));
  return fromStored(s, loaded, array.element);
}

//===-- lanes --------------------------------------------------------------------------------===//

Value packWord(const ScalarBuilder &s, ArrayRef<Value> values) {
  if (values.size() == 1)
    return values[0];
  auto stored = llvm::map_to_vector<4>(values, [&](Value value) { return toStored(s, value); });
  unsigned bits = scalarBits(stored[0].getType()) * stored.size();
  return s.bitcast(s.pack(stored), s.builder().getIntegerType(bits));
}

SmallVector<Value> unpackWord(const ScalarBuilder &s, Value word, Type element, unsigned count) {
  if (count == 1)
    return {word};
  SmallVector<Value> stored =
      s.unpack(s.bitcast(word, VectorType::get(count, storedType(element))));
  return llvm::map_to_vector(stored, [&](Value value) { return fromStored(s, value, element); });
}

Value inWords(const ScalarBuilder &s, Value value, function_ref<Value(Value)> move) {
  OpBuilder &b = s.builder();
  Type type = value.getType(), word = b.getI32Type();
  unsigned bits = scalarBits(type);
  Type integer = b.getIntegerType(bits);
  Value raw = s.bitcast(value, integer);
  if (bits < 32) {
    Value moved = move(s.make<arith::ExtUIOp>(word, raw));
    return s.bitcast(s.make<arith::TruncIOp>(integer, moved), type);
  }
  if (bits == 32)
    return s.bitcast(move(raw), type);
  Value low = move(s.make<arith::TruncIOp>(word, raw));
  Value high = move(s.make<arith::TruncIOp>(word, s.shiftRight(raw, 32)));
  Value whole = s.bitOr(s.make<arith::ExtUIOp>(integer, low),
                        s.shiftLeft(s.make<arith::ExtUIOp>(integer, high), 32));
  return s.bitcast(whole, type);
}

Value shuffleXor(const ScalarBuilder &s, const TargetLowering &device, Value value, unsigned mask) {
  return inWords(s, value, [&](Value word) {
    return device.shuffleXor(s.builder(), s.location(), word, mask);
  });
}

std::pair<Value, Value> swapLanes(const ScalarBuilder &s, const TargetLowering &device, Value first,
                                  Value second, unsigned mask) {
  SmallVector<Value, 2> words, swapped;
  inWords(s, second, [&](Value word) {
    words.push_back(word);
    return word;
  });
  auto other = words.begin();
  Value clear = inWords(s, first, [&](Value word) {
    auto [ofClear, ofSet] = device.swapLanes(s.builder(), s.location(), word, *other++, mask);
    swapped.push_back(ofSet);
    return ofClear;
  });
  auto next = swapped.begin();
  return {clear, inWords(s, second, [&](Value) { return *next++; })};
}

Value shuffleIndex(const ScalarBuilder &s, const TargetLowering &device, Value value, Value lane) {
  return inWords(s, value, [&](Value word) {
    return device.shuffleIndex(s.builder(), s.location(), word, lane);
  });
}

} // namespace kiln
