// Memory at an index vector: kernel memory through pointers, and buffers of the arena.
//
// In order of preference: one scalar access for all lanes, one vector access, a gather or scatter.
// Masked-off lanes are never touched.

#include "compiler/Conversion/TileToCPU/AddressRange.h"
#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Conversion/TileToCPU/Fusion.h"

using namespace mlir;

namespace kiln::cpu {

static unsigned bytesOf(Type element) {
  return isa<LLVM::LLVMPointerType>(element) ? 8
                                             : std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

/// The axis along which the lanes go, if they go along just one.
static std::optional<unsigned> steppingAxis(ArrayRef<Coord> coords) {
  std::optional<unsigned> axis;
  for (unsigned i = 0; i != coords.size(); ++i) {
    if (coords[i].kind == Coord::Lanes)
      return std::nullopt;
    if (coords[i].kind == Coord::Step)
      axis = i;
  }
  return axis;
}

/// How the lanes of the nest reach memory through these pointers.
AccessForm KernelEmitter::formOf(Value pointers, ArrayRef<Coord> coords) const {
  unsigned lanes = lanesOf(coords);
  std::optional<unsigned> axis = steppingAxis(coords);
  if (lanes == 1)
    return AccessForm::Same;
  return axis ? facts.form(pointers, *axis, lanes) : AccessForm::Scattered;
}

bool KernelEmitter::sameInAllLanes(Value value, ArrayRef<Coord> coords) const {
  std::optional<unsigned> axis = steppingAxis(coords);
  return axis && facts.sameInAllLanes(value, *axis, lanesOf(coords));
}

Value KernelEmitter::orElse(Location loc, Value condition, function_ref<Value()> then,
                            function_ref<Value()> otherwise) {
  // Builders of scf.if with regions want the types first; the values are made where they belong.
  OpBuilder::InsertionGuard guard(*b);
  Block *block = b->getInsertionBlock();
  Block::iterator point = b->getInsertionPoint();
  auto holder = scf::IfOp::create(*b, loc, TypeRange{}, condition,
                                  /*withElseRegion=*/true);
  b->setInsertionPoint(holder.thenBlock()->getTerminator());
  Value first = then();
  b->setInsertionPoint(holder.elseBlock()->getTerminator());
  Value second = otherwise();
  b->setInsertionPoint(block, point);
  auto branch =
      scf::IfOp::create(*b, loc, TypeRange{first.getType()}, condition, /*addThenBlock=*/true,
                        /*addElseBlock=*/true);
  for (auto [from, to, value] : {std::tuple(holder.thenBlock(), branch.thenBlock(), first),
                                 std::tuple(holder.elseBlock(), branch.elseBlock(), second)}) {
    from->getTerminator()->erase();
    to->getOperations().splice(to->end(), from->getOperations());
    OpBuilder end = OpBuilder::atBlockEnd(to);
    scf::YieldOp::create(end, loc, value);
  }
  holder.erase();
  return branch.getResult(0);
}

Value KernelEmitter::loadScalar(Location loc, Type element, Value pointer, Value mask, Value other,
                                bool isVolatile) {
  auto load = [&]() -> Value {
    return LLVM::LoadOp::create(*b, loc, element, pointer, bytesOf(element), isVolatile);
  };
  if (!mask)
    return load();
  return orElse(loc, mask, load, [&]() -> Value {
    if (other)
      return other;
    return isa<LLVM::LLVMPointerType>(element) ? Value(LLVM::ZeroOp::create(*b, loc, element))
                                               : vectors().constant(0, element);
  });
}

Value KernelEmitter::loadAt(tile::LoadOp load, ArrayRef<Coord> coords) {
  unsigned lanes = lanesOf(coords);
  Value mask = load.getMask() ? elements(load.getMask(), coords) : Value();
  Value other = load.getOther() ? elements(load.getOther(), coords) : Value();
  bool scalarMask = !mask || laneCount(mask) == 1;
  if (lanes > 1 && !scalarMask && sameInAllLanes(load.getMask(), coords)) {
    mask = elements(load.getMask(), firstLane(coords));
    scalarMask = true;
  }

  // One element for all lanes.
  AccessForm form = formOf(load.getPtr(), coords);
  bool uniform = lanes == 1 || (scalarMask && form == AccessForm::Same);
  if (uniform && (lanes == 1 || !other || laneCount(other) == 1)) {
    Coords first = lanes == 1 ? Coords(coords.begin(), coords.end()) : firstLane(coords);
    Value pointer = elements(load.getPtr(), first);
    setLevel(levelOf(coords));
    return loadScalar(loc, lowered(tile::elementTypeOf(load.getType())),
                      guardedAddress(load, pointer, first), mask, other, isVolatile(load));
  }
  return loadLanes(load, coords, mask, other, form);
}

/// The address of a load, or that in its copy if the store's writes may meet it and do.
Value KernelEmitter::guardedAddress(tile::LoadOp load, Value address, ArrayRef<Coord> coords) {
  auto guard = guards.find(load);
  if (guard == guards.end())
    return address;
  Value copy = isa<VectorType>(address.getType()) ? bufferAddresses(guard->second.copy, coords)
                                                  : bufferAddress(guard->second.copy, coords);
  return vectors().select(guard->second.overlaps, copy, address);
}

/// A load by several lanes. The mask may be a scalar, and both it and `other` null.
Value KernelEmitter::loadLanes(tile::LoadOp load, ArrayRef<Coord> coords, Value mask, Value other,
                               AccessForm form) {
  unsigned lanes = lanesOf(coords);
  Type element = lowered(tile::elementTypeOf(load.getType())), type = vectorOf(element, lanes);
  unsigned alignment = bytesOf(element);
  VectorBuilder v = vectors();
  std::optional<unsigned> axis = steppingAxis(coords);
  const Buffer *copied = guards.lookup(load).copy;
  bool copyFits = axis && (!copied || copied->strides[*axis] == 1);
  bool isContiguous = copyFits && form == AccessForm::Contiguous;
  Value inOrder =
      copyFits && form == AccessForm::Checked ? contiguityCheck(load.getPtr(), coords) : Value();
  Value first, each;
  if (isContiguous || inOrder)
    first = elements(load.getPtr(), firstLane(coords));
  if (!isContiguous)
    each = elementVector(load.getPtr(), coords);
  setLevel(levelOf(coords));
  if (first)
    first = guardedAddress(load, first, firstLane(coords));
  if (each)
    each = guardedAddress(load, each, coords);
  Value passThrough = other ? v.splat(other, lanes) : Value();
  if (!passThrough)
    passThrough = isa<LLVM::LLVMPointerType>(element) ? Value(LLVM::ZeroOp::create(*b, loc, type))
                                                      : v.constant(0, type);
  Value lanesMask = mask && laneCount(mask) > 1 ? mask : Value();
  auto whole = [&]() -> Value {
    return LLVM::LoadOp::create(*b, loc, type, first, alignment, isVolatile(load));
  };
  auto masked = [&]() -> Value {
    if (!lanesMask)
      return whole();
    auto some = [&]() -> Value {
      return LLVM::MaskedLoadOp::create(*b, loc, type, first, lanesMask, passThrough, alignment);
    };
    return masksAreCheap() ? some() : orElse(loc, allLanes(lanesMask), whole, some);
  };
  auto gather = [&]() -> Value {
    return LLVM::masked_gather::create(
        *b, loc, type, each, lanesMask ? lanesMask : emptyMask(lanes), passThrough, alignment);
  };
  auto access = [&]() -> Value {
    if (inOrder)
      return orElse(loc, inOrder, masked, gather);
    return isContiguous ? masked() : gather();
  };
  return mask && !lanesMask ? orElse(loc, mask, access, [&] { return passThrough; }) : access();
}

/// Whether masked vector accesses are single instructions for every type.
bool KernelEmitter::masksAreCheap() const { return options.vectorBits >= 512; }

Value KernelEmitter::allLanes(Value mask) {
  Type bits = b->getIntegerType(laneCount(mask));
  Value word = LLVM::BitcastOp::create(*b, loc, bits, mask);
  return vectors().compare(arith::CmpIPredicate::eq, word, vectors().constant(-1, bits));
}

/// For pointers that are contiguous or not as the kernel's arguments have it (a stride that may be
/// 1, an index modulo something): whether they are, for these lanes, by a few of them.
Value KernelEmitter::contiguityCheck(Value pointers, ArrayRef<Coord> coords) {
  unsigned axis = *steppingAxis(coords), lanes = lanesOf(coords), at = levelOf(coords);
  Coords lane = firstLane(coords);
  auto address = [&](unsigned number) {
    Coords moved = lane;
    setLevel(moved[axis].level);
    moved[axis].base = vectors().add(lane[axis].base, index(number));
    moved[axis].firstOfStep = false;
    Value pointer = elements(pointers, moved);
    setLevel(at);
    return vectors().bitcast(pointer, b->getI64Type());
  };
  auto pointer = cast<tile::PtrType>(tile::elementTypeOf(pointers.getType()));
  Value first = address(0), second = address(1);
  VectorBuilder v = vectors();
  auto isApart = [&](Value later, unsigned distance) {
    return v.compare(arith::CmpIPredicate::eq, v.sub(later, first),
                     index(distance * pointer.getElementBytes()));
  };
  // The first step shows the stride, the last lane that nothing wrapped on the way.
  Value result = isApart(second, 1);
  if (facts.mayWrap(pointers, axis)) {
    Value last = address(lanes - 1);
    result = v.bitAnd(result, isApart(last, lanes - 1));
  }
  return result;
}

/// A mask that masks nothing.
Value KernelEmitter::emptyMask(unsigned lanes) {
  Type type = vectorOf(b->getI1Type(), lanes);
  return arith::ConstantOp::create(
      *b, loc, DenseElementsAttr::get(cast<VectorType>(type), Attribute(b->getBoolAttr(true))));
}

//--- Stores ---

void KernelEmitter::emitScalarStore(tile::StoreOp store) {
  Value value = scalar(store.getValue()), pointer = scalar(store.getPtr());
  unsigned alignment = bytesOf(value.getType());
  if (!store.getMask()) {
    LLVM::StoreOp::create(*b, loc, value, pointer, alignment);
    return;
  }
  auto branch = scf::IfOp::create(*b, loc, scalar(store.getMask()),
                                  /*withElseRegion=*/false);
  OpBuilder inner = OpBuilder::atBlockBegin(branch.thenBlock());
  LLVM::StoreOp::create(inner, loc, value, pointer, alignment);
}

/// Where loads of the store's nest may meet its writes, copies the loads first, if they do meet.
void KernelEmitter::emitGuards(tile::StoreOp store) {
  const std::vector<Guard> &planned = plan.of(store).guards;
  if (planned.empty())
    return;
  auto emitted = [&](Value value) { return scalar(value); };
  VectorBuilder v = vectors();
  Range written = *rangeOf(store.getPtr(), *b, loc, emitted);
  int64_t writtenBytes = bytesOf(lowered(tile::elementTypeOf(store.getValue().getType())));
  llvm::DenseMap<Operation *, GuardedCopy> made;
  for (const Guard &guard : planned) {
    tile::LoadOp load = guard.load;
    const Fill &copy = guard.copy;
    Range read = *rangeOf(load.getPtr(), *b, loc, emitted);
    int64_t readBytes = bytesOf(lowered(tile::elementTypeOf(load.getType())));
    Value overlaps = v.bitAnd(v.less(read.low, v.add(written.high, index(writtenBytes))),
                              v.less(written.low, v.add(read.high, index(readBytes))));
    allocate(copy.buffer);
    auto branch = scf::IfOp::create(*b, loc, overlaps, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard restore(*b);
      b->setInsertionPoint(branch.thenBlock()->getTerminator());
      emitFill(copy);
    }
    made[load] = {copy.buffer, overlaps};
  }
  guards = std::move(made);
}

void KernelEmitter::emitStore(tile::StoreOp store) {
  if (!isa<RankedTensorType>(store.getPtr().getType()))
    return emitScalarStore(store);
  emitGuards(store);
  walkNest(plan.of(store).nest, [&](const Coords &coords) { storeAt(store, coords); });
  guards.clear();
}

void KernelEmitter::storeAt(tile::StoreOp store, ArrayRef<Coord> coords) {
  unsigned lanes = lanesOf(coords);
  Value value = elementVector(store.getValue(), coords);
  Value mask = store.getMask() ? elements(store.getMask(), coords) : Value();
  unsigned alignment = bytesOf(laneType(value.getType()));
  if (lanes > 1 && mask && laneCount(mask) > 1 && sameInAllLanes(store.getMask(), coords))
    mask = elements(store.getMask(), firstLane(coords));
  AccessForm form = formOf(store.getPtr(), coords);
  bool isContiguous = lanes == 1 || form == AccessForm::Contiguous;
  Value inOrder = form == AccessForm::Checked ? contiguityCheck(store.getPtr(), coords) : Value();
  Value first, each;
  if (isContiguous || inOrder)
    first = elements(store.getPtr(),
                     lanes == 1 ? Coords(coords.begin(), coords.end()) : firstLane(coords));
  if (!isContiguous)
    each = elementVector(store.getPtr(), coords);
  setLevel(level());
  OpBuilder::InsertionGuard restore(*b);
  auto under = [&](Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
    auto branch = scf::IfOp::create(*b, loc, condition,
                                    /*withElseRegion=*/bool(otherwise));
    OpBuilder::InsertionGuard inner(*b);
    b->setInsertionPoint(branch.thenBlock()->getTerminator());
    then();
    if (otherwise) {
      b->setInsertionPoint(branch.elseBlock()->getTerminator());
      otherwise();
    }
  };
  Value lanesMask = mask && laneCount(mask) > 1 ? mask : Value();
  auto whole = [&] { LLVM::StoreOp::create(*b, loc, value, first, alignment); };
  auto masked = [&] {
    auto some = [&] { LLVM::MaskedStoreOp::create(*b, loc, value, first, lanesMask, alignment); };
    if (!lanesMask)
      whole();
    else if (masksAreCheap())
      some();
    else
      under(allLanes(lanesMask), whole, some);
  };
  auto scatter = [&] {
    LLVM::masked_scatter::create(*b, loc, value, each, lanesMask ? lanesMask : emptyMask(lanes),
                                 alignment);
  };
  auto access = [&] {
    if (inOrder)
      under(inOrder, masked, scatter);
    else if (isContiguous)
      masked();
    else
      scatter();
  };
  if (mask && !lanesMask)
    under(mask, access, nullptr);
  else
    access();
}

//--- Buffers ---

/// Unless the buffer has its place already.
void KernelEmitter::allocate(const Buffer *buffer) {
  if (buffer && !arena.holds(buffer))
    arena.allocate(loc, buffer);
}

/// The address of the element at these (uniform) coordinates.
Value KernelEmitter::bufferAddress(const Buffer *buffer, ArrayRef<Coord> coords) {
  VectorBuilder v = vectors();
  Value number = index(0);
  for (auto [coord, stride] : llvm::zip(coords, buffer->strides))
    number = v.add(number, v.mul(coord.base, index(stride)));
  Value base = arena.address(buffer);
  return LLVM::GEPOp::create(*b, loc, base.getType(), buffer->element, base, ValueRange{number});
}

/// The addresses of the elements in all lanes.
Value KernelEmitter::bufferAddresses(const Buffer *buffer, ArrayRef<Coord> coords) {
  VectorBuilder v = vectors();
  unsigned lanes = lanesOf(coords);
  Value number;
  for (auto [coord, stride] : llvm::zip(coords, buffer->strides)) {
    Value lane = coordVector(coord, lanes);
    Value part = v.mul(lane, v.integer(stride, lane));
    number = number ? v.add(number, part) : part;
  }
  Value base = arena.address(buffer);
  return LLVM::GEPOp::create(*b, loc, vectorOf(base.getType(), lanes), buffer->element, base,
                             ValueRange{number});
}

Value KernelEmitter::loadBuffer(const Buffer *buffer, ArrayRef<Coord> coords) {
  VectorBuilder v = vectors();
  unsigned lanes = lanesOf(coords), alignment = bytesOf(buffer->element);
  Type type = vectorOf(buffer->element, lanes);
  std::optional<unsigned> axis = steppingAxis(coords);
  Value loaded;
  if (lanes == 1) {
    loaded = LLVM::LoadOp::create(*b, loc, type, bufferAddress(buffer, coords), alignment);
  } else if (axis && buffer->strides[*axis] == 1) {
    loaded =
        LLVM::LoadOp::create(*b, loc, type, bufferAddress(buffer, firstLane(coords)), alignment);
  } else {
    Value zero = isa<LLVM::LLVMPointerType>(buffer->element)
                     ? Value(LLVM::ZeroOp::create(*b, loc, type))
                     : v.constant(0, type);
    loaded = LLVM::masked_gather::create(*b, loc, type, bufferAddresses(buffer, coords),
                                         emptyMask(lanes), zero, alignment);
  }
  if (!buffer->valueElement.isInteger(1))
    return loaded;
  return v.compare(arith::CmpIPredicate::ne, loaded, v.integer(0, loaded));
}

void KernelEmitter::storeBuffer(const Buffer *buffer, ArrayRef<Coord> coords, Value value) {
  VectorBuilder v = vectors();
  unsigned lanes = lanesOf(coords), alignment = bytesOf(buffer->element);
  value = v.splat(convertElement(value, buffer->valueElement), lanes);
  if (buffer->valueElement.isInteger(1))
    value = arith::ExtUIOp::create(*b, loc, vectorOf(buffer->element, lanes), value);
  std::optional<unsigned> axis = steppingAxis(coords);
  if (lanes == 1)
    LLVM::StoreOp::create(*b, loc, value, bufferAddress(buffer, coords), alignment);
  else if (axis && buffer->strides[*axis] == 1)
    LLVM::StoreOp::create(*b, loc, value, bufferAddress(buffer, firstLane(coords)), alignment);
  else
    LLVM::masked_scatter::create(*b, loc, value, bufferAddresses(buffer, coords), emptyMask(lanes),
                                 alignment);
}

} // namespace kiln::cpu
