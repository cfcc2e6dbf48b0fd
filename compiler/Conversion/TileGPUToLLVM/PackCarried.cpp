// Small values that a loop carries share registers.
//
// A tensor of 16-bit elements that goes from iteration to iteration is one value for each element,
// and a value that joins two paths has a register of its own. Those who want them packed, as the
// operands of products, would pack them anew in every iteration; and LLVM, which sees two
// conversions to 16 bits meet, converts behind the meeting, and carries twice as much.

#include "compiler/Conversion/TileGPUToLLVM/PackCarried.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr unsigned registerBits = 32, bytesOfRegister = 4;

/// How many of the values from `first` on fill a register: of one type, one after the other. 1 for
/// all that is packed no further.
unsigned lengthOfGroup(TypeRange types, unsigned first) {
  Type type = types[first];
  if (!type.isIntOrFloat() || type.isInteger(1) || type.getIntOrFloatBitWidth() >= registerBits)
    return 1;
  unsigned length = registerBits / type.getIntOrFloatBitWidth();
  TypeRange rest = types.drop_front(first);
  return rest.size() >= length && llvm::all_equal(rest.take_front(length)) ? length : 1;
}

/// The loop's values in groups that fill a register each.
class PackedLoop {
public:
  explicit PackedLoop(scf::ForOp loop) : loop(loop), b(loop) {
    TypeRange types = loop.getResultTypes();
    for (unsigned first = 0; first < types.size(); first += lengths.back())
      lengths.push_back(lengthOfGroup(types, first));
  }

  void run() {
    if (lengths.size() == loop.getNumResults())
      return;
    auto packed = scf::ForOp::create(
        b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
        pack(loop.getInits()), [](OpBuilder &, Location, Value, ValueRange) {},
        loop.getUnsignedCmp());
    loop.replaceAllUsesWith(unpack(packed.getResults()));
    b.setInsertionPointToStart(packed.getBody());
    SmallVector<Value> arguments{packed.getInductionVar()};
    arguments.append(unpack(packed.getRegionIterArgs()));
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [argument, value] : llvm::zip(loop.getBody()->getArguments(), arguments))
      argument.replaceAllUsesWith(value);
    packed.getBody()->getOperations().splice(packed.getBody()->end(),
                                             loop.getBody()->getOperations());
    b.setInsertionPoint(yield);
    yield->setOperands(pack(yield.getOperands()));
    loop.erase();
  }

private:
  SmallVector<Value> pack(ValueRange values) {
    SmallVector<Value> packed;
    for (unsigned length : lengths) {
      packed.push_back(packGroup(values.take_front(length)));
      values = values.drop_front(length);
    }
    return packed;
  }

  SmallVector<Value> unpack(ValueRange packed) {
    SmallVector<Value> values;
    for (auto [length, group] : llvm::zip(lengths, packed)) {
      if (length == 1)
        values.push_back(group);
      else
        values.append(scalars().unpack(unpacked(group)));
    }
    return values;
  }

  /// Bytes as a word: of a vector of bytes that joins two paths LLVM takes each byte by itself.
  Value packGroup(ValueRange group) {
    Value packed = scalars().pack(group);
    return group.size() == bytesOfRegister ? scalars().bitcast(packed, b.getI32Type()) : packed;
  }

  Value unpacked(Value group) {
    return isa<VectorType>(group.getType())
               ? group
               : scalars().bitcast(group, VectorType::get(bytesOfRegister, b.getI8Type()));
  }

  ScalarBuilder scalars() { return ScalarBuilder(b, loop.getLoc()); }

  scf::ForOp loop;
  OpBuilder b;
  SmallVector<unsigned> lengths;
};

} // namespace

void packCarriedValues(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    PackedLoop(loop).run();
}

} // namespace kiln
