// The cost model of layout assignment; LayoutCosts.h states it.

#include "compiler/Conversion/TileToTileGPU/LayoutCosts.h"

#include "compiler/Conversion/TileToTileGPU/LayoutProposals.h"
#include "compiler/Layout/AxisSteps.h"
#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace kiln {

static constexpr double forbidden = 1e9;

static bool hasProduct(LoopLikeOpInterface loop) {
  return llvm::any_of(loop.getLoopRegions(), [](Region *region) {
    return llvm::any_of(region->getOps(), [](Operation &op) { return isa<tile::DotOp>(op); });
  });
}

double LayoutCosts::weight(Block *block) {
  auto [known, isNew] = weights.try_emplace(block, 1.0);
  if (!isNew)
    return known->second;
  // What stands around a loop of products is not worth more of LDS, which bounds many of these on
  // CDNA 3. CDNA 4 copies to LDS: with as many iterations a kernel of neighbourhood attention took
  // twice as long for a SIMD. CDNA 2 was not measured.
  constexpr double iterations = 8, ofProducts = 32;
  constexpr unsigned generationOfLds = 3;
  double result = 1;
  for (Operation *op = block->getParentOp(); op; op = op->getParentOp())
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      result *= target.matrix.mfmaGeneration == generationOfLds && hasProduct(loop) ? ofProducts
                                                                                    : iterations;
  return weights[block] = result;
}

//===-- conversions
//------------------------------------------------------------------------------===//

double LayoutCosts::plannedConversion(const LinearLayout &from, const LinearLayout &to,
                                      unsigned bits, Taker taker) {
  SharedMemoryShape memory = tilegpu::sharedMemoryOf(target);
  int64_t bytes = to.out().totalSize() * bits / 8;
  // The unit has no registers for B.
  ConversionKind kind =
      taker == Taker::UnitAsB ? ConversionKind::Shared : classifyConversion(from, to);
  if (kind == ConversionKind::None || kind == ConversionKind::Registers)
    return 0;
  bool hasRoom = bytes <= int64_t(target.maxSharedBytes);
  int64_t barriers = 2 * barrierCostOf(from);
  // What runs ahead through registers stands beside products, which other barriers part; what is
  // copied does not. So do they around loops of products: less there is ten registers more for two
  // kernels of twenty. RDNA's threads have no registers for what the exchange saves: numbers of
  // many columns, and addresses.
  constexpr int64_t parted = 3;
  if (target.matrix.mfmaGeneration && !target.warpCopies && taker == Taker::BesideProducts)
    barriers *= parted;
  if (kind == ConversionKind::Shared && !hasRoom)
    return forbidden;
  if (taker == Taker::DotAtBarriers)
    barriers = 0;
  bool isDotOfLoad = taker == Taker::DotOfLoad || taker == Taker::DotAtBarriers;
  if ((taker == Taker::Dot || isDotOfLoad) && hasRoom)
    if (auto staging = planOperandStaging(from, to, bits, memory, target.matrix.matrixLoads))
      return double(staging->cost + barriers);
  if (kind == ConversionKind::Shared && (taker == Taker::UnitAsA || taker == Taker::UnitAsB)) {
    Staging staging =
        planUnitStaging(from, /*axisK=*/taker == Taker::UnitAsA ? 1 : 0, bits, memory);
    return double(staging.cost + barriers);
  }
  LayoutConversion plan = planConversion(from, to, bits, memory);
  if (plan.kind == ConversionKind::Shuffle) {
    // RDNA's lanes read others in no simple pattern through shared memory, and wait for it. What is
    // loaded ahead may be stored at the other operand's barriers instead; results may not.
    bool waits =
        isDotOfLoad && target.matrix.wmmaGeneration && plan.shuffle && !plan.shuffle->readsByXor();
    return double(plan.shuffleCost(bits) + (waits ? barrierCostOf(from) : 0));
  }
  const SharedExchange &exchange = *plan.shared;
  if (exchange.bytes > int64_t(target.maxSharedBytes))
    return forbidden;
  return double(exchange.cost() + (plan.isWithinWarps ? 2 * ownWaitCost : barriers));
}

double LayoutCosts::conversion(tilegpu::LayoutAttr from, tilegpu::LayoutAttr to, Type element,
                               Taker taker) {
  if (from == to && taker != Taker::UnitAsB)
    return 0;
  unsigned bits = tilegpu::storageBits(element);
  auto [entry, isNew] = conversions.try_emplace({from, to, bits, unsigned(taker)}, 0.0);
  double cost =
      isNew ? plannedConversion(from.getLayout(), to.getLayout(), bits, taker) : entry->second;
  conversions[{from, to, bits, unsigned(taker)}] = cost;
  // A pointer from another thread has no base and offset any more.
  constexpr double withoutBuffer = 32;
  return isa<tile::PtrType>(element) && !target.matrix.matrixLoads ? cost + withoutBuffer : cost;
}

//===-- nodes
//------------------------------------------------------------------------------------===//

/// The columns without the coordinate bits on which the address does not depend, and without the
/// bits that lie within `unit` neighbours of the fastest axis.
static BinaryColumns addressColumns(ArrayRef<BinaryVector> columns, const LayoutSpace &out,
                                    ArrayRef<int64_t> constancy, unsigned fast, int64_t unit) {
  uint64_t ignored = 0;
  for (auto [axis, constant] : llvm::enumerate(constancy)) {
    uint64_t same = std::min<int64_t>(constant, out.size(Dim::axis(axis)));
    if (axis == fast)
      same = std::max<uint64_t>(same, std::min<int64_t>(unit, out.size(Dim::axis(axis))));
    ignored |= (same - 1) << out.position(Dim::axis(axis));
  }
  BinaryColumns result;
  for (BinaryVector column : columns)
    result.push_back(column & ~ignored);
  return result;
}

/// The axis along which neighbours are expected closest to each other, if they are apart at all.
std::optional<unsigned> LayoutCosts::closestAxis(Value pointers) {
  std::optional<unsigned> closest;
  int64_t least = 0;
  auto type = cast<RankedTensorType>(pointers.getType());
  for (unsigned axis = 0; axis < unsigned(type.getRank()); ++axis) {
    int64_t stride = std::abs(expected.of(pointers, axis).value_or(0));
    if (stride == 0 || type.getDimSize(axis) == 1 || (closest && stride >= least))
      continue;
    closest = axis;
    least = stride;
  }
  return closest;
}

std::optional<LayoutCosts::SampledAccess>
LayoutCosts::sample(Value pointers, Value mask, const LinearLayout &layout, uint64_t element) {
  auto [known, isNew] = sampled[{pointers, mask}].try_emplace(element, std::nullopt);
  if (!isNew)
    return known->second;
  SmallVector<int64_t, 4> coordinates = layout.out().unpack(element);
  std::optional<int64_t> address = samples.at(pointers, coordinates);
  std::optional<int64_t> isMade = mask ? samples.at(mask, coordinates) : 1;
  if (address && isMade)
    known->second = SampledAccess{*address, *isMade != 0};
  return known->second;
}

/// Whether indices are taken apart into rows and columns on the way to this value, so that
/// neighbours may be anywhere.
bool LayoutCosts::isTakenApart(Value value) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (!op || !isa<RankedTensorType>(value.getType()) || !isMemoryEffectFree(op))
    return false;
  auto [known, isNew] = takenApart.try_emplace(value, false);
  if (!isNew)
    return known->second;
  bool is = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) ||
            llvm::any_of(op->getOperands(), [&](Value operand) { return isTakenApart(operand); });
  takenApart[value] = is;
  return is;
}

/// What single elements of one warp cost, where their places can be sampled.
std::optional<double> LayoutCosts::sampledAccess(Value pointers, Value mask,
                                                 const LinearLayout &layout, AccessKind kind) {
  constexpr int64_t mostRegisters = 16, sectorBytes = 32, lineBytes = 128;
  const int64_t linesAtOnce = kind.isCached ? 5 : 1;
  int64_t registers = std::min(layout.numRegisters(), mostRegisters);
  DenseSet<int64_t> sectors;
  double cost = 0;
  for (int64_t reg = 0; reg < registers; ++reg) {
    DenseSet<int64_t> lines;
    for (int64_t lane = 0; lane < layout.numLanes(); ++lane) {
      uint64_t element =
          layout.apply({{Dim::Register, uint64_t(reg)}, {Dim::Lane, uint64_t(lane)}});
      std::optional<SampledAccess> access = sample(pointers, mask, layout, element);
      if (!access)
        return std::nullopt;
      if (!access->isMade)
        continue;
      sectors.insert(access->address / sectorBytes);
      lines.insert(access->address / lineBytes);
    }
    cost += lines.empty()
                ? 1
                : kind.single + 4 * double(std::max<int64_t>(0, lines.size() - linesAtOnce));
    if (!kind.isCached) {
      cost += 2 * double(sectors.size());
      sectors.clear();
    }
  }
  cost += 2 * double(sectors.size());
  return cost * double(layout.numRegisters()) / double(registers);
}

/// How many accesses a thread makes: what it has repeatedly is loaded once.
double LayoutCosts::instructions(Operation *op, const LinearLayout &layout,
                                 AccessVector access) const {
  double all = double(layout.numRegisters() / access.elements);
  if (!isa<tile::LoadOp>(op))
    return all;
  auto distinct = [&](ArrayRef<int64_t> constancy) {
    return rank(addressColumns(layout.columns(Dim::Register), layout.out(), constancy, access.axis,
                               access.elements));
  };
  AxisInfo loaded = facts.get(op->getResult(0));
  unsigned repeated =
      distinct(AxisInfo::unknown(loaded.rank()).constancy) - distinct(loaded.constancy);
  return std::ldexp(all, -int(repeated));
}

/// As many sectors cost as much. What waits for no store is AMD's wave: of ways through shared
/// memory to write fewer lines at a time it waits for each.
int64_t LayoutCosts::sectorsOfLines(int64_t lines, bool isStore) const {
  return isStore && !target.matrix.matrixLoads ? lines : 2 * lines - 1;
}

double LayoutCosts::access(Operation *op, Value pointers, Value mask, const LinearLayout &layout,
                           AccessKind kind) {
  auto type = cast<RankedTensorType>(pointers.getType());
  int64_t bytes = cast<tile::PtrType>(type.getElementType()).getElementBytes();
  AxisInfo info = facts.get(pointers);
  AccessVector vectors = accessVector(pointers, mask, layout, kind.maxBits, facts);
  auto [vector, fast] = vectors;
  int64_t run = info.contiguity[fast], stride = 1;
  bool isGuess = false;
  if (run == 1) {
    std::optional<unsigned> axis = closestAxis(pointers);
    if (!axis) {
      axis = expected.guessUnitAxis(pointers);
      isGuess = axis.has_value();
    }
    if (axis) {
      fast = *axis;
      run = type.getDimSize(fast);
      stride = std::abs(expected.of(pointers, fast).value_or(1));
    }
  } else if (expected.of(pointers, fast) == 1) {
    // What is known ends where a remainder may begin again, as of rows that wrap around.
    run = type.getDimSize(fast);
  }
  if (type.getRank() == 1 && facts.accessLength(pointers, mask, fast) == 1 &&
      (isTakenApart(pointers) || isTakenApart(mask)))
    if (std::optional<double> cost = sampledAccess(pointers, mask, layout, kind))
      return *cost;

  BinaryColumns columns(layout.columns(Dim::Register).take_front(llvm::Log2_64(vector)));
  ArrayRef<BinaryVector> lanes = layout.columns(Dim::Lane);
  columns.append(lanes.begin(), lanes.end());
  auto touched = [&, fast = fast](int64_t pieceBytes) {
    uint64_t neighbours = std::max<int64_t>(1, pieceBytes / (bytes * stride));
    int64_t unit = std::min<int64_t>(run, llvm::bit_floor(neighbours));
    return int64_t(1) << rank(addressColumns(columns, layout.out(), info.constancy, fast, unit));
  };
  constexpr int64_t sectorBytes = 32, lineBytes = 128, fewSectors = 8;
  int64_t sectors = touched(sectorBytes);
  // To make few sectors fewer still by a guess is not worth an exchange in each iteration.
  if (isGuess)
    sectors = std::max(sectors, loopDepth(op->getBlock()) > 0 ? fewSectors : 1);
  else
    sectors = std::max(sectors, sectorsOfLines(touched(lineBytes), isa<tile::StoreOp>(op)));
  return instructions(op, layout, vectors) *
         ((vector > 1 ? kind.vector : kind.single) + 2 * double(sectors));
}

/// Whether the load could be a copy that runs ahead: a dot of the same loop's body takes what is
/// computed from it, and there are stages to run ahead in.
static bool feedsDotAhead(tile::LoadOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!loop || !type || type.getRank() < 2)
    return false;
  auto kernel = loop->getParentOfType<func::FuncOp>();
  auto stages = loop->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr);
  if (!stages)
    stages = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numStagesAttr);
  if (!stages || stages.getInt() < 2)
    return false;
  SmallVector<Operation *> pending{op};
  DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *part = pending.pop_back_val();
    for (OpOperand &use : part->getUses()) {
      Operation *user = use.getOwner();
      if (isa<tile::DotOp>(user) && use.getOperandNumber() < 2 && user->getParentOp() == loop)
        return true;
      if (user->getParentOp() == loop && isMemoryEffectFree(user) && user->getNumRegions() == 0 &&
          !isa<tile::DotOp>(user) && seen.insert(user).second)
        pending.push_back(user);
    }
  }
  return false;
}

bool LayoutCosts::mayRunAhead(Value value) {
  auto load = value.getDefiningOp<tile::LoadOp>();
  if (!load)
    return false;
  auto [known, isNew] = runsAhead.try_emplace(load, false);
  if (isNew)
    known->second = feedsDotAhead(load);
  return known->second;
}

bool LayoutCosts::isShort(tile::DotOp dot) const {
  int64_t products = dot.getType().getNumElements() * dot.getA().getType().getShape().back();
  return products <= target.matrix.productsOfShortLoop() * tilegpu::numWarpsOf(dot);
}

bool LayoutCosts::isCopied(Value value) { return target.warpCopies && mayRunAhead(value); }

double LayoutCosts::load(tile::LoadOp op, const LinearLayout &layout) {
  double cost = access(op, op.getPtr(), op.getMask(), layout, {target.maxVectorBits, 4, 4, true});
  // What repeats elements of a tile in threads, as for products without a unit, may be more than
  // they can hold: to local memory and back.
  constexpr double held = 128, spilled = 8;
  unsigned bits = tilegpu::storageBits(getElementTypeOrSelf(op.getType()));
  cost += spilled * std::max(0.0, double(layout.numRegisters()) * bits / 32 - held);
  if (!mayRunAhead(op.getResult()))
    return cost;
  auto pointer = cast<tile::PtrType>(getElementTypeOrSelf(op.getPtr().getType()));
  int64_t vector =
      accessVector(op.getPtr(), op.getMask(), layout, target.maxVectorBits, facts).elements;
  int64_t pieceBytes = vector * pointer.getElementBytes();
  constexpr int64_t wordBytes = 4, leastBytes = 8, wholeBytes = 16;
  if (!target.asyncCopies)
    return pieceBytes < wordBytes ? cost + double(layout.numRegisters()) : cost;
  constexpr double latency = 200, throughL1 = 64;
  return pieceBytes < leastBytes   ? cost + latency
         : pieceBytes < wholeBytes ? cost + throughL1
                                   : cost;
}

double LayoutCosts::product(tile::DotOp op, const LayoutChoice &choice) const {
  constexpr unsigned fasterGeneration = 4;
  if (!choice.unit || target.matrix.mfmaGeneration < fasterGeneration)
    return 0;
  // CDNA 4 ISA, "Matrix Arithmetic Instructions": those that the generations before had do half as
  // much in a cycle as those of twice as many elements.
  constexpr double bitsPerSlot = 32768;
  constexpr unsigned leastBits = 8192;
  const MatrixInstruction &unit = *choice.unit.getTiling().instruction;
  unsigned bits = elementBits(unit.operand);
  ArrayRef<int64_t> a = op.getA().getType().getShape(), b = op.getB().getType().getShape();
  // Of two widths the unit takes the time of the larger one.
  int64_t depth = std::max(a.back(), b[b.size() - 2]);
  double multiplied =
      double(choice.layout.getLayout().numRegisters()) * target.warpSize * double(depth) * bits;
  bool isSlow = unit.m * unit.k / unit.numSteps() * bits < leastBits;
  return multiplied / bitsPerSlot * (isSlow ? 2 : 1);
}

double LayoutCosts::atomic(tile::AtomicRMWOp op, const LinearLayout &layout) {
  // Memory does what lanes of an instruction ask of a line at once, and instructions one by one:
  // those that lanes with duplicates make necessary, of all warps.
  constexpr double instructionAlone = 8;
  double instructions =
      double(layout.numRegisters() >> llvm::popcount(layout.freeBits(Dim::Register)));
  double warps = double(layout.numWarps() >> llvm::popcount(layout.freeBits(Dim::Warp)));
  double lanes = double(layout.numLanes() >> llvm::popcount(layout.freeBits(Dim::Lane)));
  double fullest = std::max(1.0, instructions * warps * lanes / double(target.warpSize));
  double alone = instructionAlone * (instructions * warps - fullest);
  unsigned bits = tilegpu::reductionBits(op, target);
  if (!bits)
    return alone + 16 * double(layout.numRegisters());
  bool isLoopAlone = tilegpu::storageBits(getElementTypeOrSelf(op.getType())) == 16;
  return alone + access(op, op.getPtr(), op.getMask(), layout, {bits, 8, isLoopAlone ? 64.0 : 8.0});
}

double LayoutCosts::combination(Operation *op, unsigned axis, const LinearLayout &layout) {
  bool isScan = isa<tile::ScanOp>(op);
  AxisSteps steps = planAxisSteps(layout, axis, /*inOrder=*/isScan);
  double words = 0;
  for (Value operand : op->getOperands())
    words += (tilegpu::storageBits(getElementTypeOrSelf(operand)) + 31) / 32;
  // A reduction keeps what remains after its steps within threads; a scan all of its elements, but
  // of those that follow each other in a thread one goes from lane to lane, for all of them, and
  // takes what comes from another lane only where there is one before it.
  double registers = double(layout.numRegisters());
  auto inThread = [](const AxisStep &step) { return !step.lanes && !step.warps; };
  unsigned inRuns = ArrayRef(steps.local).take_while(inThread).size();
  double kept =
      isScan ? std::ldexp(registers, -int(inRuns)) : double(layout.slice(axis).numRegisters());
  auto shuffles = llvm::count_if(steps.local, [](const AxisStep &step) { return step.lanes != 0; });
  double cost = registers + (isScan ? 3 : 2) * kept * double(shuffles) * words;
  if (isScan && inRuns)
    cost += registers * words;
  if (steps.exchanged.empty())
    return cost;
  if (4 * words * double(steps.numPartials()) > double(target.maxSharedBytes))
    return forbidden;
  double threads = double(layout.numLanes() * layout.numWarps());
  cost += 2 * barrierCost + 4 * (kept + double(steps.numPartials()) / threads) * words;
  // A scan sums up the blocks before its own, once for each row that a thread has elements of.
  double rows = double(layout.slice(axis).numRegisters());
  return isScan ? cost + 3 * rows * double(size_t(1) << steps.exchanged.size()) * words : cost;
}

/// Among how many warps a store deals the work: those with duplicates leave it to one another.
/// Where there are matrix loads, what one warp has to do counts, as it always has.
double LayoutCosts::sharersOf(const LinearLayout &layout) const {
  return target.matrix.matrixLoads
             ? 1
             : double(int64_t(1) << llvm::popcount(layout.freeBits(Dim::Warp)));
}

/// Whether the operation rounds f32 to bf16 by several instructions.
static bool isRounding(Operation *op, const TargetInfo &target) {
  return !target.convertBF16 && isa<arith::TruncFOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isBF16();
}

double LayoutCosts::node(const LayoutNode &node, const LayoutChoice &choice) {
  const LinearLayout &layout = choice.layout.getLayout();
  double registers = double(layout.numRegisters());
  double cost =
      llvm::TypeSwitch<Operation *, double>(node.op)
          .Case([&](tile::LoadOp op) { return load(op, layout); })
          .Case([&](tile::StoreOp op) {
            return access(op, op.getPtr(), op.getMask(), layout, {target.maxVectorBits, 4, 4}) /
                   double(sharersOf(layout));
          })
          .Case([&](tile::AtomicRMWOp op) { return atomic(op, layout); })
          .Case([&](tile::AtomicCASOp) { return 16 * registers; })
          .Case<tile::ReduceOp, tile::ScanOp>(
              [&](auto op) { return combination(op, op.getAxis(), layout); })
          .Case([&](tile::DotOp op) { return product(op, choice); })
          .Case([&](tile::DescriptorLoadOp op) {
            bool isOwn = choice.layout == blockLayout(op, layout.numLanes(), layout.numWarps());
            return isOwn ? 0.0 : forbidden;
          })
          .Default([&](Operation *op) {
            if (node.transfer == LayoutTransfer::Carried)
              return 0.1 * registers;
            if (node.transfer != LayoutTransfer::Same)
              return 0.0;
            bool isLong = isa<math::MathDialect>(op->getDialect()) || isRounding(op, target);
            return (isLong ? 4 : 1) * registers;
          });
  return cost * weight(node.op->getBlock());
}

} // namespace kiln
