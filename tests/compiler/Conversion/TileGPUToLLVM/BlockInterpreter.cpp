// Runs a lowered kernel on the CPU: control flow, memory and the dispatch over operations.

#include "tests/compiler/Conversion/TileGPUToLLVM/BlockInterpreter.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/InterpreterTypes.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kiln::testing {

BlockInterpreter::BlockInterpreter(ModuleOp module, const TargetInfo &target) : target(target) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal())
      kernel = function;
  auto warps = kernel->getAttrOfType<IntegerAttr>("tile.num_warps");
  numThreads = target.threadsPerBlock(warps ? warps.getInt() : 4);
  llvm::ReversePostOrderTraversal<Region *> traversal(&kernel.getBody());
  for (Block *block : traversal)
    order[block] = order.size();
  auto bytes = kernel->getAttrOfType<IntegerAttr>("tilegpu.shared_bytes");
  shared.resize(bytes ? bytes.getInt() : 0);
}

std::string BlockInterpreter::run(ArrayRef<uint64_t> arguments, std::array<uint32_t, 3> extent) {
  grid = extent;
  // hsa_kernel_dispatch_packet_t: grid_size_x, y, z at bytes 12, 16, 20.
  dispatchPacket[3] = grid[0] * numThreads;
  dispatchPacket[4] = grid[1];
  dispatchPacket[5] = grid[2];
  for (block[2] = 0; block[2] < grid[2]; ++block[2])
    for (block[1] = 0; block[1] < grid[1]; ++block[1])
      for (block[0] = 0; block[0] < grid[0]; ++block[0]) {
        runBlockOfGrid(arguments);
        if (!error.empty())
          return error;
      }
  return error;
}

void BlockInterpreter::runBlockOfGrid(ArrayRef<uint64_t> arguments) {
  for (SharedByte &byte : shared)
    byte = SharedByte();
  epoch = 1;
  at.assign(numThreads, &kernel.getBody().front());
  active.assign(numThreads, true);
  for (auto [argument, value] : llvm::zip_equal(kernel.getArguments(), arguments))
    define(argument).assign(numThreads, value);
  while (Block *next = earliestBlock()) {
    for (unsigned thread = 0; thread < numThreads; ++thread)
      active[thread] = at[thread] == next;
    for (Operation &op : *next) {
      ++counts.operations;
      if (op.hasTrait<OpTrait::IsTerminator>())
        terminate(op);
      else
        execute(op);
      if (!error.empty())
        return;
    }
  }
}

Block *BlockInterpreter::earliestBlock() const {
  Block *earliest = nullptr;
  for (Block *block : at)
    if (block && (!earliest || order.lookup(block) < order.lookup(earliest)))
      earliest = block;
  return earliest;
}

void BlockInterpreter::jump(unsigned thread, Block *to, ValueRange passed) {
  at[thread] = to;
  std::vector<std::vector<uint64_t>> incoming;
  for (Value value : passed) {
    Lanes &lanes = of(value);
    std::vector<uint64_t> mine;
    for (size_t place = thread; place < lanes.size(); place += numThreads)
      mine.push_back(lanes[place]);
    incoming.push_back(std::move(mine));
  }
  for (auto [argument, mine] : llvm::zip_equal(to->getArguments(), incoming)) {
    Lanes &lanes = define(argument);
    for (size_t component = 0; component < mine.size(); ++component)
      lanes[component * numThreads + thread] = mine[component];
  }
}

void BlockInterpreter::terminate(Operation &op) {
  if (auto branch = dyn_cast<LLVM::BrOp>(op))
    return forActive([&](unsigned t) { jump(t, branch.getDest(), branch.getDestOperands()); });
  if (auto branch = dyn_cast<LLVM::CondBrOp>(op))
    return forActive([&](unsigned t) {
      if (of(branch.getCondition())[t] & 1)
        jump(t, branch.getTrueDest(), branch.getTrueDestOperands());
      else
        jump(t, branch.getFalseDest(), branch.getFalseDestOperands());
    });
  if (isa<LLVM::ReturnOp>(op))
    return forActive([&](unsigned t) { at[t] = nullptr; });
  fail(op, "is an unknown terminator");
}

void BlockInterpreter::execute(Operation &op) {
  if (executeArithmetic(op) || executeConversion(op) || executeMemory(op) || executeTarget(op) ||
      executeMatrix(op) || executeIntrinsic(op))
    return;
  fail(op, "is unknown to the interpreter");
}

void BlockInterpreter::fail(Operation &op, const std::string &why) {
  if (!error.empty())
    return;
  llvm::raw_string_ostream stream(error);
  stream << "block (" << block[0] << ", " << block[1] << ", " << block[2] << "): '" << op << "' at "
         << op.getLoc() << ": " << why;
}

BlockInterpreter::Lanes &BlockInterpreter::of(Value value) {
  auto found = values.find(value);
  assert(found != values.end() && "a value is defined before its use");
  return found->second;
}

BlockInterpreter::Lanes &BlockInterpreter::define(Value value) {
  Lanes &lanes = values[value];
  lanes.resize(componentsOf(value.getType()).size() * numThreads);
  return lanes;
}

//===-- memory -------------------------------------------------------------------------------===//

void BlockInterpreter::checkAccess(Operation &op, unsigned space, uint64_t address,
                                   unsigned bytes) {
  if (address % bytes)
    return fail(op, "is misaligned");
  if (space == 3) {
    if (address + bytes > shared.size())
      fail(op, "is outside shared memory, at byte " + std::to_string(address));
    return;
  }
  if (space == 4)
    return;
  counts.widestAccess = std::max(counts.widestAccess, bytes);
  for (const Buffer &buffer : buffers)
    if (address >= buffer.begin && address + bytes <= buffer.begin + buffer.bytes)
      return;
  int64_t nearest = INT64_MAX;
  for (const Buffer &buffer : buffers)
    nearest = std::min(nearest, std::abs(int64_t(address - buffer.begin)));
  fail(op, "is outside the registered buffers, " + std::to_string(nearest) +
               " bytes from the start of one");
}

uint64_t BlockInterpreter::loadBytes(Operation &op, unsigned space, uint64_t address,
                                     unsigned bytes, unsigned thread) {
  uint64_t value = 0;
  if (space != 3) {
    std::memcpy(&value, reinterpret_cast<const void *>(uintptr_t(address)), bytes);
    return value;
  }
  for (unsigned index = 0; index < bytes; ++index) {
    SharedByte &byte = shared[address + index];
    if (!byte.written)
      fail(op, "reads shared memory that nobody wrote, byte " + std::to_string(address + index));
    if (byte.writeEpoch == epoch && byte.writer != int(thread))
      fail(op, "reads in thread " + std::to_string(thread) + " what thread " +
                   std::to_string(byte.writer) + " wrote with no barrier between");
    byte.reader = byte.readEpoch == epoch && byte.reader != int(thread) ? -2 : int(thread);
    byte.readEpoch = epoch;
    value |= uint64_t(byte.value) << (8 * index);
  }
  return value;
}

void BlockInterpreter::storeBytes(Operation &op, unsigned space, uint64_t address, uint64_t value,
                                  unsigned bytes, unsigned thread) {
  if (space != 3) {
    std::memcpy(reinterpret_cast<void *>(uintptr_t(address)), &value, bytes);
    return;
  }
  for (unsigned index = 0; index < bytes; ++index) {
    SharedByte &byte = shared[address + index];
    if (byte.writeEpoch == epoch && byte.writer != int(thread))
      fail(op,
           "writes what thread " + std::to_string(byte.writer) + " wrote with no barrier between");
    if (byte.readEpoch == epoch && byte.reader != int(thread))
      fail(op, "writes what another thread reads with no barrier between");
    byte.value = value >> (8 * index);
    byte.written = true;
    byte.writer = thread;
    byte.writeEpoch = epoch;
  }
}

void BlockInterpreter::loadValue(Operation &op, Value result, unsigned space, uint64_t address,
                                 unsigned thread) {
  SmallVector<Type> components = componentsOf(result.getType());
  unsigned bytes = std::max(1u, bitsOf(components[0]) / 8);
  checkAccess(op, space, address, bytes * components.size());
  if (!error.empty())
    return;
  Lanes &lanes = define(result);
  for (unsigned c = 0; c < components.size(); ++c)
    lanes[c * numThreads + thread] = loadBytes(op, space, address + c * bytes, bytes, thread);
}

void BlockInterpreter::storeValue(Operation &op, Value value, unsigned space, uint64_t address,
                                  unsigned thread) {
  SmallVector<Type> components = componentsOf(value.getType());
  unsigned bytes = std::max(1u, bitsOf(components[0]) / 8);
  checkAccess(op, space, address, bytes * components.size());
  if (!error.empty())
    return;
  Lanes &lanes = of(value);
  for (unsigned c = 0; c < components.size(); ++c)
    storeBytes(op, space, address + c * bytes, lanes[c * numThreads + thread], bytes, thread);
}

static unsigned spaceOf(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

bool BlockInterpreter::executeMemory(Operation &op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    define(load.getResult());
    forActive([&](unsigned t) {
      loadValue(op, load.getResult(), spaceOf(load.getAddr()), of(load.getAddr())[t], t);
    });
    return true;
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    forActive([&](unsigned t) {
      storeValue(op, store.getValue(), spaceOf(store.getAddr()), of(store.getAddr())[t], t);
    });
    return true;
  }
  if (auto load = dyn_cast<tilegpu::GlobalLoadOp>(op)) {
    Lanes &lanes = define(load.getResult());
    forActive([&](unsigned t) {
      if (!load.getPredicate() || (of(load.getPredicate())[t] & 1))
        return loadValue(op, load.getResult(), 1, of(load.getPtr())[t], t);
      // Without `other` the value is undefined: something that shows if it is used.
      for (size_t place = t; place < lanes.size(); place += numThreads)
        lanes[place] = load.getOther() ? of(load.getOther())[place] : 0x7F4D7F4D7F4D7F4Dull;
    });
    return true;
  }
  if (auto store = dyn_cast<tilegpu::GlobalStoreOp>(op)) {
    forActive([&](unsigned t) {
      if (!store.getPredicate() || (of(store.getPredicate())[t] & 1))
        storeValue(op, store.getValue(), 1, of(store.getPtr())[t], t);
    });
    return true;
  }
  if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
    Lanes &lanes = define(gep.getResult());
    uint64_t bytes = bitsOf(gep.getElemType()) / 8;
    auto index = *gep.getIndices().begin();
    forActive([&](unsigned t) {
      int64_t offset;
      if (auto value = dyn_cast<Value>(index))
        offset = signExtend(of(value)[t], bitsOf(value.getType()));
      else
        offset = cast<IntegerAttr>(index).getValue().getSExtValue();
      lanes[t] = of(gep.getBase())[t] + offset * bytes;
    });
    return true;
  }
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
    define(address.getResult()).assign(numThreads, 0);
    return true;
  }
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    Lanes &lanes = define(atomic.getResult());
    Type type = atomic.getVal().getType();
    unsigned bytes = bitsOf(type) / 8;
    forActive([&](unsigned t) {
      uint64_t address = of(atomic.getPtr())[t];
      checkAccess(op, 1, address, bytes);
      if (!error.empty())
        return;
      lanes[t] = loadBytes(op, 1, address, bytes, t);
      storeBytes(op, 1, address,
                 atomicResult(atomic.getBinOp(), type, lanes[t], of(atomic.getVal())[t]), bytes, t);
    });
    return true;
  }
  if (isa<LLVM::FenceOp>(op))
    return true;
  if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op)) {
    Lanes &lanes = define(exchange.getResult());
    unsigned bytes = bitsOf(exchange.getVal().getType()) / 8;
    forActive([&](unsigned t) {
      uint64_t address = of(exchange.getPtr())[t];
      checkAccess(op, 1, address, bytes);
      if (!error.empty())
        return;
      uint64_t old = loadBytes(op, 1, address, bytes, t);
      bool same = old == of(exchange.getCmp())[t];
      if (same)
        storeBytes(op, 1, address, of(exchange.getVal())[t], bytes, t);
      lanes[t] = old;
      lanes[numThreads + t] = same;
    });
    return true;
  }
  return false;
}

} // namespace kiln::testing
