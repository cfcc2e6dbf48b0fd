// Which operations need scratch in shared memory, and how much.

#include "compiler/Dialect/TileGPU/Transforms/SharedScratch.h"

#include "compiler/Layout/AxisSteps.h"
#include "compiler/Layout/LayoutConversion.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

static int64_t conversionBytes(tilegpu::ConvertLayoutOp op, const TargetInfo &target) {
  const LinearLayout &source = tilegpu::layoutOf(op.getSource());
  const LinearLayout &result = tilegpu::layoutOf(op.getResult());
  if (classifyConversion(source, result) != ConversionKind::Shared)
    return 0;
  return planSharedExchange(source, result, tilegpu::storageBits(op.getType().getElementType()),
                            tilegpu::sharedMemoryOf(target))
      .bytes;
}

/// One array of `elements` for each operand, 16-byte aligned.
static int64_t arraysBytes(OperandRange operands, int64_t elements) {
  int64_t bytes = 0;
  for (Value operand : operands)
    bytes += llvm::alignTo(elements * tilegpu::storageBits(getElementTypeOrSelf(operand)) / 8, 16);
  return bytes;
}

static int64_t reduceBytes(tile::ReduceOp op) {
  const LinearLayout &source = tilegpu::layoutOf(op.getSources()[0]);
  tilegpu::LayoutAttr result = tilegpu::layoutAttrOf(op.getResult(0).getType());
  const LinearLayout *resultLayout = result ? &result.getLayout() : nullptr;
  // Whether the combination commutes decides the order of the walk, and so what is exchanged.
  int64_t elements = 0;
  for (bool inOrder : {false, true})
    elements =
        std::max(elements, reduceScratchElements(source, resultLayout, op.getAxis(), inOrder));
  return arraysBytes(op.getSources(), elements);
}

/// The result of an access that owners of elements make is wanted by the other threads, too.
static int64_t sharedResultBytes(Operation *op) {
  if (op->use_empty())
    return 0;
  Type type = op->getResult(0).getType();
  int64_t bytes = tilegpu::storageBits(getElementTypeOrSelf(type)) / 8;
  tilegpu::LayoutAttr layout = tilegpu::layoutAttrOf(type);
  if (!layout)
    return bytes;
  const LinearLayout &map = layout.getLayout();
  bool isShared = map.freeBits(Dim::Lane) || map.freeBits(Dim::Warp);
  return isShared ? bytes * map.out().totalSize() : 0;
}

int64_t scratchBytes(Operation *op, const TargetInfo &target) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](tilegpu::ConvertLayoutOp convert) { return conversionBytes(convert, target); })
      .Case([&](tile::ReduceOp reduce) { return reduceBytes(reduce); })
      .Case([&](tile::ScanOp scan) {
        const LinearLayout &layout = tilegpu::layoutOf(scan.getSources()[0]);
        return arraysBytes(scan.getSources(), scanScratchElements(layout, scan.getAxis()));
      })
      .Case([&](tile::GatherOp gather) {
        int64_t elements = tilegpu::layoutOf(gather.getSource()).out().totalSize();
        return arraysBytes(gather->getOperands().take_front(), elements);
      })
      .Case<tile::AtomicRMWOp, tile::AtomicCASOp>(
          [&](auto atomic) { return sharedResultBytes(atomic); })
      .Case([&](tile::LoadOp load) { return isReadForAll(load) ? sharedResultBytes(load) : 0; })
      .Case([](tile::ReadRegisterOp read) {
        bool isClock = read.getReg() == tile::DeviceRegister::Nanoseconds;
        return isClock && !read.use_empty() ? 8 : 0;
      })
      .Default([](Operation *) { return 0; });
}

bool isReadForAll(tile::LoadOp load) {
  return load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV;
}

static std::optional<tile::MemorySemantic> semanticOf(Operation *op) {
  if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op))
    return atomic.getSemantic();
  if (auto atomic = dyn_cast<tile::AtomicCASOp>(op))
    return atomic.getSemantic();
  return std::nullopt;
}

bool startsWithBarrier(Operation *op) {
  std::optional<tile::MemorySemantic> semantic = semanticOf(op);
  return semantic && tile::releases(*semantic);
}

bool endsWithBarrier(Operation *op) {
  std::optional<tile::MemorySemantic> semantic = semanticOf(op);
  return semantic && tile::acquires(*semantic);
}

} // namespace kiln
