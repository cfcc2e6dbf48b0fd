// Who proposes layouts, and how proposals spread.

#include "compiler/Conversion/TileToTileGPU/LayoutProposals.h"

#include "compiler/Analysis/ExpectedStrides.h"
#include "compiler/Conversion/TileToTileGPU/LegalizeDots.h"
#include "compiler/Layout/LaneSwaps.h"
#include "compiler/Layout/TileLayouts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using kiln::tilegpu::LayoutAttr;
using kiln::tilegpu::MatrixUnitAttr;

namespace kiln {
namespace {

class Proposals {
public:
  Proposals(LayoutGraph &graph, const TargetInfo &target, unsigned numWarps,
            const AxisInfoAnalysis &facts)
      : graph(graph), target(target), numWarps(numWarps), facts(facts), expected(facts) {}

  void run() {
    findChoicesOfDots();
    // Dots first: of equal layouts, the earlier proposal keeps the name.
    for (const auto &[node, choices] : choicesOfDots)
      for (const LayoutChoice &first : choices)
        propose(node, first);
    if (!target.matrix.matrixLoads)
      for (const auto &[node, choices] : choicesOfDots)
        for (const LayoutChoice &sum : choices)
          proposeSum(node, sum);
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      if (graph.nodes()[i].transfer != LayoutTransfer::Carried)
        proposeAccess(i, graph.nodes()[i].op);
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      if (auto store = dyn_cast<tile::StoreOp>(graph.nodes()[i].op);
          store && isa<RankedTensorType>(store.getPtr().getType())) {
        if (target.swappedLanes)
          proposeSwapped(i, store);
        if (target.matrix.mfmaGeneration)
          proposeDealt(i, store);
      }
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      if (graph.nodes()[i].choices.empty())
        propose(i, rowMajor(shapeOfNode(graph.nodes()[i])));
  }

  bool runForBroadcasts() {
    for (const LayoutNode &node : graph.nodes())
      for (auto [proposal, choice] : node.choiceOfProposal)
        units.resize(std::max<size_t>(units.size(), proposal + 1));
    findChoicesOfDots();
    size_t before = units.size();
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      if (graph.nodes()[i].transfer == LayoutTransfer::Broadcast)
        proposeRepetitions(i);
    return units.size() > before;
  }

private:
  void findChoicesOfDots() {
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      if (auto dot = dyn_cast<tile::DotOp>(graph.nodes()[i].op);
          dot && graph.nodes()[i].transfer == LayoutTransfer::Dot)
        choicesOfDots.insert({i, choicesOf(dot, i)});
  }

  /// Of a broadcast whose operand changes its layout: each thread repeats what it has, and lanes
  /// that have the same share the repetitions.
  void proposeRepetitions(size_t index) {
    const LayoutNode &node = graph.nodes()[index];
    OpOperand &operand = *node.operands.front();
    int producer = graph.definingNode(operand.get());
    if (producer < 0)
      return;
    LayoutAttr has = graph.resultLayout(graph.nodes()[producer], graph.nodes()[producer].chosen());
    if (has == graph.operandLayout(node, node.chosen(), operand))
      return;
    LinearLayout repeated = has.getLayout();
    for (auto [axis, size] : llvm::enumerate(shapeOfNode(node)))
      if (size != repeated.shape()[axis])
        repeated = repeated.growAxis(axis, size, /*overLanes=*/true);
    propose(index, choice(repeated));
  }

  static ArrayRef<int64_t> shapeOfNode(const LayoutNode &node) {
    bool bySource = node.transfer == LayoutTransfer::Reduce ||
                    node.transfer == LayoutTransfer::Histogram || node.results.empty();
    Value value = bySource ? node.operands.front()->get() : node.results.front();
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  LayoutChoice choice(const LinearLayout &layout, MatrixUnitAttr unit = {}) {
    return {LayoutAttr::get(graph.nodes().front().op->getContext(), layout), unit};
  }

  LayoutChoice rowMajor(ArrayRef<int64_t> shape) {
    return choice(
        coalescedLayout(shape, rowMajorOrder(shape.size()), 1, target.warpSize, numWarps));
  }

  //===-- anchors
  //--------------------------------------------------------------------------------===//

  void proposeAccess(size_t node, Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tile::LoadOp load) {
          proposeAccess(node, load.getPtr(), load.getMask(), 0, target.maxVectorBits);
          if (!target.matrix.matrixLoads)
            proposeBlocks(node, load);
        })
        .Case<tile::StoreOp, tile::AtomicCASOp>([&](auto access) {
          proposeAccess(node, access.getPtr(), access.getMask(), 0, target.maxVectorBits);
        })
        .Case([&](tile::AtomicRMWOp atomic) {
          unsigned bits = tilegpu::reductionBits(atomic, target);
          // A pair of 16-bit floats is one instruction, one alone a loop.
          proposeAccess(node, atomic.getPtr(), atomic.getMask(), bits ? 32 : 0,
                        bits ? bits : target.maxVectorBits);
        })
        .Case([&](tile::DescriptorLoadOp load) {
          propose(node, {blockLayout(load, target.warpSize, numWarps), {}});
        })
        .Case<tile::ReduceOp, tile::ScanOp>([&](auto combined) {
          proposeCombination(node, combined.getAxis(), isa<tile::ScanOp>(op));
        });
  }

  /// Rows along lanes, and warps along the axis that is combined only when the others are used up:
  /// what is combined then meets within warps. Of long rows also lanes along the others first, so
  /// that few threads have to meet (with dots, layouts are theirs). A scan, which goes from
  /// neighbour to neighbour, also has all of a thread's elements along the axis beside one another.
  /// A reduction across rows also has so many of a row's elements in a thread as one access moves.
  void proposeCombination(size_t node, unsigned axis, bool isScan) {
    ArrayRef<int64_t> shape = shapeOfNode(graph.nodes()[node]);
    SmallVector<unsigned, 4> inOrder = rowMajorOrder(shape.size()), axisLast;
    for (unsigned other = 0; other < shape.size(); ++other)
      if (other != axis)
        axisLast.push_back(other);
    axisLast.push_back(axis);
    SmallVector<unsigned> sizes(shape.size(), 1);
    BlockedShape blocked = combinedShape(shape, inOrder, axisLast, sizes);
    propose(node, blockedChoice(shape, blocked));
    if (isScan) {
      blocked.sizePerThread[axis] =
          shape[axis] / (blocked.lanesPerAxis[axis] * blocked.warpsPerAxis[axis]);
      propose(node, blockedChoice(shape, blocked));
      return;
    }
    constexpr int64_t mostElements = 256; // What more there is a thread spills, and reads again.
    int64_t threads = int64_t(target.warpSize) * numWarps;
    bool isHeld = ShapedType::getNumElements(shape) <= mostElements * threads;
    if (choicesOfDots.empty() && isHeld && shape[axis] >= int64_t(target.warpSize))
      propose(node, blockedChoice(shape, combinedShape(shape, axisLast, axisLast, sizes)));
    unsigned along = shape.size() - 1;
    constexpr unsigned accessLengths[] = {4, 8};
    for (unsigned length : accessLengths)
      if (axis != along && shape[along] >= int64_t(length) * target.warpSize) {
        sizes[along] = length;
        propose(node, blockedChoice(shape, combinedShape(shape, inOrder, axisLast, sizes)));
      }
  }

  /// So many elements a thread; lanes, and then warps, dealt along axes in these orders, as many as
  /// each has room for.
  BlockedShape combinedShape(ArrayRef<int64_t> shape, ArrayRef<unsigned> laneAxes,
                             ArrayRef<unsigned> warpAxes, ArrayRef<unsigned> sizes) const {
    BlockedShape blocked;
    blocked.order = rowMajorOrder(shape.size());
    blocked.sizePerThread.assign(sizes.begin(), sizes.end());
    blocked.lanesPerAxis.assign(shape.size(), 1);
    blocked.warpsPerAxis = blocked.lanesPerAxis;
    int64_t lanes = target.warpSize, warps = numWarps;
    for (unsigned dealt : laneAxes) {
      blocked.lanesPerAxis[dealt] = std::min(lanes, shape[dealt] / sizes[dealt]);
      lanes /= blocked.lanesPerAxis[dealt];
    }
    for (unsigned dealt : warpAxes) {
      blocked.warpsPerAxis[dealt] =
          std::min(warps, shape[dealt] / (sizes[dealt] * blocked.lanesPerAxis[dealt]));
      warps /= blocked.warpsPerAxis[dealt];
    }
    return blocked;
  }

  LayoutChoice blockedChoice(ArrayRef<int64_t> shape, const BlockedShape &blocked) {
    return choice(blockedLayout(shape, blocked)
                      .withInBits(Dim::Lane, llvm::Log2_32(target.warpSize))
                      .withInBits(Dim::Warp, llvm::Log2_32(numWarps)));
  }

  /// By axis, the more the closer neighbours are expected to each other; all the same where that is
  /// not known of some.
  SmallVector<int64_t> closenessOfAxes(Value pointers) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(pointers.getType()).getShape();
    SmallVector<int64_t> closeness(shape.size(), 0);
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      int64_t stride = std::abs(expected.of(pointers, axis).value_or(0));
      if (shape[axis] != 1 && stride == 0)
        return SmallVector<int64_t>(shape.size(), 0);
      closeness[axis] = shape[axis] == 1 ? std::numeric_limits<int64_t>::min() : -stride;
    }
    return closeness;
  }

  /// As wide as the access can be, up to `maxBits`, but not so that threads have nothing to do;
  /// unless that takes less than `minBits`.
  void proposeAccess(size_t node, Value pointers, Value mask, unsigned minBits, unsigned maxBits) {
    auto type = dyn_cast<RankedTensorType>(pointers.getType());
    if (!type)
      return;
    AxisInfo info = facts.get(pointers);
    SmallVector<unsigned, 4> order = rowMajorOrder(type.getRank());
    // Most contiguous first; of equals, what may be so, or where neighbours are expected closest to
    // each other, or else the last axis.
    std::optional<unsigned> guess = expected.guessUnitAxis(pointers);
    SmallVector<int64_t> closeness = closenessOfAxes(pointers);
    auto rank = [&](unsigned axis) {
      return std::tuple(info.contiguity[axis], expected.of(pointers, axis) == 1 || guess == axis,
                        closeness[axis], axis);
    };
    llvm::sort(order, [&](unsigned a, unsigned b) { return rank(a) > rank(b); });
    int64_t bytes = cast<tile::PtrType>(type.getElementType()).getElementBytes();
    int64_t vector = facts.accessLength(pointers, mask, order[0]);
    int64_t perThread = type.getNumElements() / (int64_t(target.warpSize) * numWarps);
    perThread = std::max(perThread, int64_t(minBits / 8) / bytes);
    vector = std::min({vector, int64_t(maxBits / 8) / bytes, perThread});
    propose(node, choice(coalescedLayout(type.getShape(), order, std::max<int64_t>(1, vector),
                                         target.warpSize, numWarps)));
  }

  /// The axis along which a dot adds up what it multiplies: elements of the tile, or what is
  /// computed of them one by one, be it for others, too (`isShared`).
  static std::optional<unsigned> axisOfSums(Operation *op, bool isShared,
                                            DenseSet<Operation *> &seen) {
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      unsigned operand = use.getOperandNumber();
      if (isa<tile::DotOp>(user) && operand < 2)
        return cast<RankedTensorType>(use.get().getType()).getRank() - 1 - operand;
      auto trans = dyn_cast<tile::TransOp>(user);
      bool isPassedOn = trans || (user->getNumRegions() == 0 && (isShared || user->hasOneUse()) &&
                                  user->hasTrait<OpTrait::Elementwise>());
      if (!isPassedOn || !seen.insert(user).second)
        continue;
      if (std::optional<unsigned> axis = axisOfSums(user, isShared, seen))
        return trans ? unsigned(trans.getOrder()[*axis]) : *axis;
    }
    return std::nullopt;
  }

  /// Registers along the second axis too, up to 16 bytes of its neighbours: a thread can then turn
  /// its block around on the way to a unit that reads along that axis and cannot have shared
  /// memory transposed. What is loaded element by element has those together that a lane of the
  /// unit multiplies: it stores and reads them as one.
  void proposeBlocks(size_t node, tile::LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getPtr().getType());
    if (!type || type.getRank() < 2)
      return;
    AxisInfo info = facts.get(load.getPtr());
    unsigned rank = type.getRank();
    unsigned fast = info.contiguity[rank - 2] > info.contiguity[rank - 1] ? rank - 2 : rank - 1;
    unsigned slow = fast == rank - 1 ? rank - 2 : rank - 1;
    ArrayRef<int64_t> shape = type.getShape();
    int64_t bytes = cast<tile::PtrType>(type.getElementType()).getElementBytes();
    int64_t perThread = type.getNumElements() / (int64_t(target.warpSize) * numWarps);
    int64_t widest = target.maxVectorBits / 8 / bytes;
    int64_t vector =
        std::min({facts.accessLength(load.getPtr(), load.getMask(), fast), widest, perThread});
    int64_t deep = std::min({perThread / std::max<int64_t>(1, vector), widest, shape[slow]});
    bool isSingle = vector < 2;
    DenseSet<Operation *> seen;
    std::optional<unsigned> axis = axisOfSums(load, isSingle && target.matrix.runBytes, seen);
    if (!axis)
      return;
    if (isSingle) {
      if (*axis + 2 < rank)
        return;
      slow = *axis;
      fast = 2 * rank - 3 - slow;
      deep = std::min({perThread, target.matrix.runBytes / bytes, shape[slow]});
    }
    if (deep < 2)
      return;
    proposeBlocks(node, shape, fast, slow, vector, deep);
  }

  void proposeBlocks(size_t node, ArrayRef<int64_t> shape, unsigned fast, unsigned slow,
                     int64_t vector, int64_t deep) {
    unsigned rank = shape.size();
    BlockedShape blocked;
    blocked.order = rowMajorOrder(rank);
    if (fast != rank - 1)
      std::swap(blocked.order[0], blocked.order[1]);
    blocked.sizePerThread.assign(rank, 1);
    blocked.lanesPerAxis = blocked.warpsPerAxis = blocked.sizePerThread;
    blocked.sizePerThread[fast] = unsigned(vector);
    blocked.sizePerThread[slow] = unsigned(deep);
    auto dealt = [&](unsigned axis) {
      return blocked.sizePerThread[axis] * blocked.lanesPerAxis[axis] * blocked.warpsPerAxis[axis];
    };
    int64_t lanes = target.warpSize, warps = numWarps;
    for (unsigned axis : blocked.order) {
      blocked.lanesPerAxis[axis] = unsigned(std::min(lanes, shape[axis] / dealt(axis)));
      lanes /= blocked.lanesPerAxis[axis];
    }
    for (unsigned axis : llvm::reverse(blocked.order)) {
      blocked.warpsPerAxis[axis] = unsigned(std::min(warps, shape[axis] / dealt(axis)));
      warps /= blocked.warpsPerAxis[axis];
    }
    LayoutChoice neighbours = blockedChoice(shape, blocked);
    propose(node, neighbours);
    if (target.matrix.operandsByHalves && deep < shape[slow])
      propose(node, choice(everySecondOf(neighbours.layout.getLayout(), slow, deep)));
  }

  /// What a dot makes, but that lanes have changed places with registers, so that a thread stores
  /// more of a row at once.
  void proposeSwapped(size_t node, tile::StoreOp store) {
    auto type = cast<RankedTensorType>(store.getPtr().getType());
    AxisInfo info = facts.get(store.getPtr());
    unsigned fast = llvm::max_element(info.contiguity) - info.contiguity.begin();
    int64_t bytes = cast<tile::PtrType>(type.getElementType()).getElementBytes();
    // Where a mask ends within a vector, halves are stored.
    int64_t vector = std::min(facts.vectorLength(store.getPtr(), fast),
                              int64_t(target.maxVectorBits) / 8 / bytes);
    if (store.getMask())
      vector = std::min(vector, facts.maskConstancy(store.getMask(), fast));
    for (const auto &[dot, choices] : choicesOfDots)
      for (const LayoutChoice &sum : choices)
        if (LinearLayout layout = sum.layout.getLayout(); layout.shape() == type.getShape())
          if (auto swapped = withNeighbours(layout, fast, vector))
            propose(node, choice(*swapped));
  }

  /// Single elements of which lanes hold the same, as sums across rows: each of these stores others
  /// of what a thread has several of, which it chooses by its number. RDNA's kernels lack registers
  /// for what is chosen.
  void proposeDealt(size_t node, tile::StoreOp store) {
    unsigned rank = cast<RankedTensorType>(store.getPtr().getType()).getRank();
    for (unsigned axis = 0; axis < rank; ++axis)
      if (facts.accessLength(store.getPtr(), store.getMask(), axis) > 1)
        return;
    auto others = graph.nodes()[node].choices;
    for (const LayoutChoice &other : others)
      if (std::optional<LinearLayout> dealt = withDealtRegisters(other.layout.getLayout()))
        propose(node, choice(*dealt));
  }

  /// What registers tell apart lanes do that hold the same elements so far.
  static std::optional<LinearLayout> withDealtRegisters(const LinearLayout &layout) {
    ArrayRef<BinaryVector> all = layout.columns(), lanes = layout.columns(Dim::Lane);
    BinaryColumns registers(layout.columns(Dim::Register)), dealt;
    for (BinaryVector lane : lanes)
      dealt.push_back(lane || registers.empty() ? lane : registers.pop_back_val());
    if (ArrayRef<BinaryVector>(dealt) == lanes)
      return std::nullopt;
    BinaryColumns columns(registers);
    columns.append(dealt.begin(), dealt.end());
    ArrayRef<BinaryVector> rest = all.drop_front(layout.in().bits(Dim::Register) + lanes.size());
    columns.append(rest.begin(), rest.end());
    LayoutSpace in({{Dim::Register, unsigned(registers.size())},
                    {Dim::Lane, layout.in().bits(Dim::Lane)},
                    {Dim::Warp, layout.in().bits(Dim::Warp)},
                    {Dim::Block, layout.in().bits(Dim::Block)}});
    return LinearLayout(in, layout.out(), columns);
  }

  /// The layout by swaps of lanes with registers in which a thread has so many neighbours along the
  /// axis; those nearest to them go to the lanes.
  std::optional<LinearLayout> withNeighbours(LinearLayout layout, unsigned axis,
                                             int64_t count) const {
    unsigned position = layout.out().position(Dim::axis(axis));
    uint64_t first = uint64_t(1) << position, end = first * count,
             last = first << layout.out().bits(Dim::axis(axis));
    for (uint64_t step = first; step < end; step <<= 1) {
      ArrayRef<BinaryVector> registers = layout.columns(Dim::Register),
                             lanes = layout.columns(Dim::Lane);
      if (llvm::is_contained(registers, step))
        continue;
      unsigned lane = llvm::find(lanes, step) - lanes.begin();
      // Of columns that are no neighbours, those along the axis first.
      auto order = [&](BinaryVector column) {
        bool isNeighbour = column >= first && column < end,
             isAlong = column >= end && column < last;
        return std::tuple(isNeighbour, !isAlong, column);
      };
      const auto *given = llvm::min_element(
          registers, [&](BinaryVector a, BinaryVector b) { return order(a) < order(b); });
      if (lane == lanes.size() || !(target.swappedLanes >> lane & 1) || given == registers.end() ||
          std::get<0>(order(*given)))
        return std::nullopt;
      layout = withSwapped(layout, {unsigned(given - registers.begin()), lane});
    }
    return layout;
  }

  /// A thread's `deep` neighbours along the axis, of more, become every second one, as instructions
  /// want them whose operands lie as accumulators do.
  static LinearLayout everySecondOf(const LinearLayout &layout, unsigned axis, int64_t deep) {
    BinaryColumns columns(layout.columns());
    uint64_t first = uint64_t(1) << layout.out().position(Dim::axis(axis));
    for (BinaryVector &column : columns)
      if (column == first * deep)
        column = first;
      else if (column >= first && column < first * deep)
        column <<= 1;
    return LinearLayout(layout.in(), layout.out(), columns);
  }

  /// How many neighbours of a row the stores move at once to which a dot's results come as they
  /// are, or computed one by one.
  SmallVector<unsigned, 2> neighboursStored(size_t dot) const {
    SmallVector<unsigned, 2> found;
    forEachReached(dot, /*throughSums=*/true, [&](size_t reached) {
      auto store = dyn_cast<tile::StoreOp>(graph.nodes()[reached].op);
      int64_t count = store ? neighboursOfRow(store) : 1;
      if (count > 1 && !llvm::is_contained(found, count))
        found.push_back(unsigned(count));
    });
    return found;
  }

  /// Calls `visit` with each node to which what a dot makes comes as it is, or computed one by one;
  /// `throughSums`: or as what another one adds to.
  void forEachReached(size_t dot, bool throughSums, function_ref<void(size_t)> visit) const {
    SmallVector<size_t> pending{dot};
    DenseSet<size_t> seen;
    while (!pending.empty()) {
      const LayoutNode &node = graph.nodes()[pending.pop_back_val()];
      for (Value result : node.results)
        for (OpOperand &use : result.getUses()) {
          int user = graph.usingNode(use);
          if (user < 0 || !seen.insert(user).second)
            continue;
          LayoutTransfer transfer = graph.nodes()[user].transfer;
          bool isSum =
              throughSums && transfer == LayoutTransfer::Dot && use.getOperandNumber() == 2;
          if (transfer != LayoutTransfer::Same && transfer != LayoutTransfer::Carried && !isSum)
            continue;
          pending.push_back(user);
          visit(user);
        }
    }
  }

  /// How many neighbours along the last axis an access moves at most.
  int64_t neighboursOfRow(tile::StoreOp store) const {
    auto type = dyn_cast<RankedTensorType>(store.getPtr().getType());
    if (!type)
      return 1;
    int64_t bytes = cast<tile::PtrType>(type.getElementType()).getElementBytes();
    return std::min(facts.accessLength(store.getPtr(), store.getMask(), type.getRank() - 1),
                    int64_t(target.maxVectorBits) / 8 / bytes);
  }

  SmallVector<LayoutChoice> choicesOf(tile::DotOp dot, size_t node) {
    ArrayRef<int64_t> shape = dot.getC().getType().getShape();
    UnitUse use;
    auto tiling = matrixTilingOf(dot, target, numWarps, use);
    if (tiling && tiling->instruction->readsSharedMemory() && !suitsSharedMemory(dot)) {
      use.fromShared = false;
      tiling = matrixTilingOf(dot, target, numWarps, use);
    }
    if (!tiling)
      return {registerTile(shape)};
    SmallVector<LayoutChoice> choices;
    SmallVector<unsigned, 2> stored;
    if (target.matrix.neighboursOfResults)
      stored = neighboursStored(node);
    addTiling(*tiling, shape, stored, choices);
    use.isAlongM = true;
    if (auto alongM = matrixTilingOf(dot, target, numWarps, use); alongM && !(*alongM == *tiling))
      addTiling(*alongM, shape, stored, choices);
    return choices;
  }

  /// A unit that reads shared memory transposes 16-bit elements alone: others that memory has along
  /// m or n would be stored one by one, and could not be copied ahead.
  bool suitsSharedMemory(tile::DotOp dot) const {
    constexpr unsigned transposedBits = 16;
    unsigned bits = tilegpu::storageBits(dot.getA().getType().getElementType());
    return bits == transposedBits || (isAlong(dot.getA(), 1) && isAlong(dot.getB(), 0));
  }

  /// Whether memory has the operand's elements side by side along the axis; true of what comes from
  /// no load.
  bool isAlong(Value operand, unsigned axis) const {
    Operation *op = operand.getDefiningOp();
    if (auto trans = dyn_cast_or_null<tile::TransOp>(op))
      return isAlong(trans.getSource(), trans.getOrder()[axis]);
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
      AxisInfo info = facts.get(load.getPtr());
      return info.contiguity[axis] >= info.contiguity[1 - axis];
    }
    if (auto load = dyn_cast_or_null<tile::DescriptorLoadOp>(op))
      return axis + 1 == load.getType().getRank();
    bool isConverted = op && op->getNumOperands() == 1 && op->getNumRegions() == 0 &&
                       op->hasTrait<OpTrait::Elementwise>();
    return !isConverted || isAlong(op->getOperand(0), axis);
  }

  /// The tiling, and that with operands in other orders; of each also those whose lanes have so
  /// many neighbours of a row of results.
  void addTiling(MatrixTiling tiling, ArrayRef<int64_t> shape, ArrayRef<unsigned> neighbours,
                 SmallVectorImpl<LayoutChoice> &choices) {
    MLIRContext *context = graph.nodes().front().op->getContext();
    auto add = [&](const MatrixTiling &one) {
      LayoutChoice added =
          choice(one.layout(MatrixOperand::C, shape), MatrixUnitAttr::get(context, one));
      bool isKnown = llvm::any_of(choices, [&](const LayoutChoice &other) {
        return other.layout == added.layout &&
               other.unit.getTiling().instruction == one.instruction;
      });
      if (!isKnown)
        choices.push_back(added);
    };
    for (; tiling.instruction; tiling.instruction = inOtherOrder(*tiling.instruction)) {
      add(tiling);
      for (unsigned count : neighbours) {
        MatrixTiling inRows = tiling;
        inRows.neighbours = count;
        add(inRows);
      }
    }
  }

  /// The same product whose operands have their elements where results of an earlier one are: one
  /// of the instructions that the row of the table stands for, if they are several, or neighbours
  /// four by four, or every second one first. Null if there is none other.
  const MatrixInstruction *inOtherOrder(const MatrixInstruction &unit) const {
    if (unit.isWmma() && !target.matrix.operandsByHalves)
      return nullptr;
    auto [family, rest] = unit.name.split('.');
    auto [shape, types] = rest.split('.');
    StringRef order = unit.isWmma() ? "by2" : "by4";
    std::string other = unit.numSteps() > 1 ? shape.rsplit('x').first.str() : (shape + order).str();
    return findMatrixInstruction((family + "." + other + "." + types).str());
  }

  /// Up to 4 x 4 results per thread and round: each operand element is used four times.
  LayoutChoice registerTile(ArrayRef<int64_t> shape) {
    unsigned rank = shape.size();
    BlockedShape blocked;
    blocked.order = rowMajorOrder(rank);
    blocked.sizePerThread.assign(rank, 1);
    blocked.lanesPerAxis = blocked.warpsPerAxis = blocked.sizePerThread;
    int64_t threads = int64_t(target.warpSize) * numWarps, elements = 1;
    for (int64_t size : shape)
      elements *= size;
    int64_t perThread = std::max<int64_t>(1, elements / threads);
    auto deal = [&](SmallVector<unsigned, 4> &sizes, unsigned axis, int64_t wanted) {
      int64_t used = int64_t(blocked.sizePerThread[axis]) * blocked.lanesPerAxis[axis] *
                     blocked.warpsPerAxis[axis];
      int64_t dealt = std::min(wanted, shape[axis] / used);
      sizes[axis] *= std::max<int64_t>(1, dealt);
      return std::max<int64_t>(1, dealt);
    };
    int64_t columns = deal(blocked.sizePerThread, rank - 1, std::min<int64_t>(4, perThread));
    deal(blocked.sizePerThread, rank - 2, std::min<int64_t>(4, perThread / columns));
    int64_t lanes = target.warpSize / deal(blocked.lanesPerAxis, rank - 1, 8);
    lanes /= deal(blocked.lanesPerAxis, rank - 2, lanes);
    deal(blocked.lanesPerAxis, rank - 1, lanes);
    int64_t warps = numWarps / deal(blocked.warpsPerAxis, rank - 2, numWarps);
    deal(blocked.warpsPerAxis, rank - 1, warps);
    return blockedChoice(shape, blocked);
  }

  //===-- spreading
  //------------------------------------------------------------------------------===//

  /// Adds a proposal at a node and lets it spread, breadth first. What has spread to the node from
  /// elsewhere need not be proposed again.
  void propose(size_t node, LayoutChoice first) {
    if (llvm::is_contained(graph.nodes()[node].choices, first))
      return;
    unsigned proposal = units.size();
    units.push_back(first.unit);
    SmallVector<size_t> frontier;
    if (offer(node, first, proposal))
      frontier.push_back(node);
    while (!frontier.empty()) {
      SmallVector<size_t> next;
      for (size_t current : frontier)
        spread(current, proposal, next);
      frontier = std::move(next);
    }
  }

  /// The node learns the choice; false if this proposal was there already or the node is full.
  bool offer(size_t index, const LayoutChoice &choice, unsigned proposal) {
    LayoutNode &node = graph.nodes()[index];
    if (node.choiceOfProposal.count(proposal))
      return false;
    auto known = llvm::find(node.choices, choice);
    constexpr size_t maxChoices = 12;
    if (known == node.choices.end() && node.choices.size() == maxChoices)
      return false;
    node.choiceOfProposal[proposal] = known - node.choices.begin();
    if (known == node.choices.end())
      node.choices.push_back(choice);
    return true;
  }

  bool isAccumulator(OpOperand &use) const {
    return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() == 2 &&
           choicesOfDots.contains(graph.usingNode(use));
  }

  /// What a dot makes may become its own operand in the next iteration. Its proposal comes there
  /// as the operand's layout, and so what lies between has to be proposed the sum's anew.
  void proposeSum(size_t dot, const LayoutChoice &sum) {
    forEachReached(dot, /*throughSums=*/false, [&](size_t reached) {
      propose(reached, {sum.layout, {}});
    });
  }

  /// Of the dot's own choices one that adds up in this layout, if it can be with this unit: dots
  /// that take each other's sums, be it in another loop, have them in one layout or convert them.
  std::optional<LayoutChoice> choiceOfDot(size_t node, LayoutAttr layout,
                                          MatrixUnitAttr unit) const {
    const LayoutChoice *found = nullptr;
    for (const LayoutChoice &own : choicesOfDots.find(node)->second)
      if (own.layout == layout && (!found || own.unit == unit))
        found = &own;
    return found ? std::optional(*found) : std::nullopt;
  }

  void spread(size_t index, unsigned proposal, SmallVectorImpl<size_t> &next) {
    const LayoutNode &node = graph.nodes()[index];
    LayoutChoice choice = node.choices[node.choiceOfProposal.lookup(proposal)];
    for (Value result : node.results) {
      LayoutAttr layout = graph.resultLayout(node, choice);
      for (OpOperand &use : result.getUses()) {
        int user = graph.usingNode(use);
        if (user < 0)
          continue;
        auto taken = isAccumulator(use) ? choiceOfDot(user, layout, units[proposal])
                                        : graph.choiceFromOperand(graph.nodes()[user], use, layout);
        if (taken && offer(user, *taken, proposal))
          next.push_back(user);
      }
    }
    for (OpOperand *operand : node.operands) {
      int producer = graph.definingNode(operand->get());
      if (producer < 0)
        continue;
      LayoutAttr layout = graph.operandLayout(node, choice, *operand);
      auto taken = choicesOfDots.contains(producer)
                       ? choiceOfDot(producer, layout, units[proposal])
                       : graph.choiceFromResult(graph.nodes()[producer], layout);
      if (taken && offer(producer, *taken, proposal))
        next.push_back(producer);
    }
  }

  LayoutGraph &graph;
  const TargetInfo &target;
  unsigned numWarps;
  const AxisInfoAnalysis &facts;
  ExpectedStrides expected;
  llvm::MapVector<size_t, SmallVector<LayoutChoice>> choicesOfDots; ///< by their nodes
  SmallVector<MatrixUnitAttr> units; ///< by proposal: with which unit it began
};

} // namespace

LayoutAttr blockLayout(tile::DescriptorLoadOp load, unsigned warpSize, unsigned numWarps) {
  RankedTensorType type = load.getType();
  int64_t perThread = type.getNumElements() / (int64_t(warpSize) * numWarps);
  int64_t piece = load.getDescriptor().getType().getStrideFactor();
  return LayoutAttr::get(load.getContext(),
                         coalescedLayout(type.getShape(), rowMajorOrder(type.getRank()),
                                         std::max<int64_t>(1, std::min(piece, perThread)), warpSize,
                                         numWarps));
}

void proposeLayouts(LayoutGraph &graph, const TargetInfo &target, unsigned numWarps,
                    const AxisInfoAnalysis &facts) {
  if (!graph.nodes().empty())
    Proposals(graph, target, numWarps, facts).run();
}

bool proposeBroadcasts(LayoutGraph &graph, const TargetInfo &target, unsigned numWarps,
                       const AxisInfoAnalysis &facts) {
  return !graph.nodes().empty() && Proposals(graph, target, numWarps, facts).runForBroadcasts();
}

} // namespace kiln
