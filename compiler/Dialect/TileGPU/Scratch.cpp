// Which operations need scratch in shared memory, and how much: the models of ScratchOpInterface.
//
// Layout conversions that cannot stay in a warp, reductions and scans along an axis that several
// warps share, gathers, histograms, atomics whose result other threads use than the one that
// performs them, volatile loads that one thread makes for others, clocks that one thread reads,
// tensor maps.

#include "compiler/Dialect/Tile/Combiners.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Layout/AxisSteps.h"
#include "compiler/Layout/LayoutConversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::tilegpu {

int64_t ConvertLayoutOp::getScratchBytes(const TargetInfo &target) {
  const LinearLayout &source = layoutOf(getSource()), &result = layoutOf(getResult());
  LayoutConversion plan = planConversion(source, result, storageBits(getType().getElementType()),
                                         sharedMemoryOf(target));
  if (plan.kind != ConversionKind::Shared)
    return 0;
  int64_t bytes = plan.shared->bytes;
  auto slices = getOperation()->getAttrOfType<IntegerAttr>(TileGPUDialect::slicesAttr);
  return slices ? bytes / slices.getInt() : bytes;
}

bool isReadForAll(tile::LoadOp load) {
  return load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV;
}

namespace {

template <typename Model, typename OpT>
using ScratchModel = ScratchOpInterface::ExternalModel<Model, OpT>;

/// One array of `elements` for each operand, 16-byte aligned.
int64_t arraysBytes(OperandRange operands, int64_t elements) {
  int64_t bytes = 0;
  for (Value operand : operands)
    bytes += llvm::alignTo(elements * storageBits(getElementTypeOrSelf(operand)) / 8, 16);
  return bytes;
}

struct ReduceScratch : ScratchModel<ReduceScratch, tile::ReduceOp> {
  int64_t getScratchBytes(Operation *op, const TargetInfo &) const {
    auto reduce = cast<tile::ReduceOp>(op);
    const LinearLayout &source = layoutOf(reduce.getSources()[0]);
    LayoutAttr result = layoutAttrOf(reduce.getResult(0).getType());
    const LinearLayout *resultLayout = result ? &result.getLayout() : nullptr;
    // Whether the combination commutes decides the order of the walk, and so what is exchanged. Of
    // several operations that is tried out in the end: there is room for either.
    bool isAnyOrder = reduce.getSingleCombiner() && tile::commutes(reduce);
    int64_t elements = 0;
    for (bool inOrder : {false, !isAnyOrder})
      elements = std::max(elements,
                          reduceScratchElements(source, resultLayout, reduce.getAxis(), inOrder));
    return arraysBytes(reduce.getSources(), elements);
  }
};

struct ScanScratch : ScratchModel<ScanScratch, tile::ScanOp> {
  int64_t getScratchBytes(Operation *op, const TargetInfo &) const {
    auto scan = cast<tile::ScanOp>(op);
    const LinearLayout &layout = layoutOf(scan.getSources()[0]);
    return arraysBytes(scan.getSources(), scanScratchElements(layout, scan.getAxis()));
  }
};

struct GatherScratch : ScratchModel<GatherScratch, tile::GatherOp> {
  int64_t getScratchBytes(Operation *op, const TargetInfo &) const {
    int64_t elements = layoutOf(cast<tile::GatherOp>(op).getSource()).out().totalSize();
    return arraysBytes(op->getOperands().take_front(), elements);
  }
};

struct HistogramScratch : ScratchModel<HistogramScratch, tile::HistogramOp> {
  int64_t getScratchBytes(Operation *op, const TargetInfo &) const {
    return layoutOf(op->getResult(0).getType()).out().totalSize() * int64_t(sizeof(int32_t));
  }
};

/// The result of an access that owners of elements make is wanted by the other threads, too.
int64_t sharedResultBytes(Operation *op) {
  if (op->use_empty())
    return 0;
  Type type = op->getResult(0).getType();
  int64_t bytes = storageBits(getElementTypeOrSelf(type)) / 8;
  LayoutAttr layout = layoutAttrOf(type);
  if (!layout)
    return bytes;
  const LinearLayout &map = layout.getLayout();
  bool isShared = map.freeBits(Dim::Lane) || map.freeBits(Dim::Warp);
  return isShared ? bytes * map.out().totalSize() : 0;
}

/// What an atomic orders it orders for all threads: a barrier before a release, one behind an
/// acquire.
template <typename OpT> struct AtomicScratch : ScratchModel<AtomicScratch<OpT>, OpT> {
  int64_t getScratchBytes(Operation *op, const TargetInfo &) const { return sharedResultBytes(op); }
  bool startsWithBarrier(Operation *op) const { return releases(cast<OpT>(op).getSemantic()); }
  bool endsWithBarrier(Operation *op) const { return acquires(cast<OpT>(op).getSemantic()); }
};

struct LoadScratch : ScratchModel<LoadScratch, tile::LoadOp> {
  int64_t getScratchBytes(Operation *op, const TargetInfo &) const {
    return isReadForAll(cast<tile::LoadOp>(op)) ? sharedResultBytes(op) : 0;
  }
};

struct RegisterScratch : ScratchModel<RegisterScratch, tile::ReadRegisterOp> {
  int64_t getScratchBytes(Operation *op, const TargetInfo &) const {
    bool isClock = cast<tile::ReadRegisterOp>(op).getReg() == tile::DeviceRegister::Nanoseconds;
    return isClock && !op->use_empty() ? 8 : 0;
  }
};

/// Where a tensor map is written before it goes to global memory.
struct TensorMapScratch : ScratchModel<TensorMapScratch, tile::MakeTensorMapOp> {
  int64_t getScratchBytes(Operation *, const TargetInfo &) const { return 128; }
};

} // namespace

void TileGPUDialect::attachScratchModels() {
  MLIRContext &context = *getContext();
  tile::ReduceOp::attachInterface<ReduceScratch>(context);
  tile::ScanOp::attachInterface<ScanScratch>(context);
  tile::GatherOp::attachInterface<GatherScratch>(context);
  tile::HistogramOp::attachInterface<HistogramScratch>(context);
  tile::AtomicRMWOp::attachInterface<AtomicScratch<tile::AtomicRMWOp>>(context);
  tile::AtomicCASOp::attachInterface<AtomicScratch<tile::AtomicCASOp>>(context);
  tile::LoadOp::attachInterface<LoadScratch>(context);
  tile::ReadRegisterOp::attachInterface<RegisterScratch>(context);
  tile::MakeTensorMapOp::attachInterface<TensorMapScratch>(context);
}

} // namespace kiln::tilegpu
