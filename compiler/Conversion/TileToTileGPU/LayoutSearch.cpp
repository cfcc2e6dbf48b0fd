// Which of its choices each node takes; LayoutSearch.h has the moves.

#include "compiler/Conversion/TileToTileGPU/LayoutSearch.h"

#include "compiler/Layout/LayoutConversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using kiln::tilegpu::LayoutAttr;

namespace kiln {
namespace {

class Search {
public:
  Search(LayoutGraph &graph, LayoutCosts &costs) : graph(graph), costs(costs) {
    for (const LayoutNode &node : graph.nodes())
      places.push_back(placeOf(node));
  }

  double run() {
    for (LayoutNode &node : graph.nodes())
      node.current = cheapest(node);
    return settle();
  }

  /// Again from each choice of each dot, unless that takes long.
  double runFromDots(double least) {
    constexpr size_t most = 4096; // nodes, of all searches together
    size_t searches = 0;
    for (const LayoutNode &node : graph.nodes())
      if (node.transfer == LayoutTransfer::Dot)
        searches += node.choices.size() - 1;
    if (searches * graph.nodes().size() > most)
      return least;
    for (unsigned index = 0; index < graph.nodes().size(); ++index)
      if (graph.nodes()[index].transfer == LayoutTransfer::Dot)
        least = searchFromDot(index, least);
    return least;
  }

  /// Until no move lowers the total, which it returns.
  double settle() {
    constexpr int maxSweeps = 16;
    for (int sweep = 0; sweep < maxSweeps; ++sweep)
      if (!this->sweep())
        break;
    return total();
  }

private:
  /// A dot's layout and that of all around it may have to change together: searches again from each
  /// of its other choices, which it keeps until no move lowers the total. Takes what is a hundredth
  /// less than `least`: of nearer ones the model does not know which is better.
  double searchFromDot(unsigned dot, double least) {
    LayoutNode &node = graph.nodes()[dot];
    constexpr double worthwhile = 0.99;
    SmallVector<unsigned> best = assigned();
    for (unsigned choice = 0; choice < node.choices.size(); ++choice) {
      if (choice == best[dot])
        continue;
      kept = dot;
      node.current = choice;
      ++version;
      settle();
      kept.reset();
      ++version;
      double cost = settle();
      if (cost < worthwhile * least) {
        least = cost;
        best = assigned();
      } else {
        assign(best);
      }
    }
    return least;
  }

  SmallVector<unsigned> assigned() const {
    return llvm::map_to_vector(graph.nodes(), [](const LayoutNode &node) { return node.current; });
  }

  void assign(ArrayRef<unsigned> choices) {
    for (auto [node, choice] : llvm::zip_equal(graph.nodes(), choices))
      node.current = choice;
    ++version;
  }

  using Assignment = SmallVector<std::pair<unsigned, unsigned>>; // node, choice

  unsigned cheapest(const LayoutNode &node) {
    unsigned best = 0;
    for (unsigned i = 1; i < node.choices.size(); ++i)
      if (costs.node(node, node.choices[i]) < costs.node(node, node.choices[best]))
        best = i;
    return best;
  }

  //===-- cost
  //-----------------------------------------------------------------------------------===//

  double valueCost(Value value) {
    const LayoutNode &producer = graph.nodes()[graph.definingNode(value)];
    LayoutAttr from = graph.resultLayout(producer, producer.chosen());
    llvm::SmallSetVector<std::pair<LayoutAttr, LayoutCosts::Taker>, 4> wanted;
    for (OpOperand &use : value.getUses()) {
      int user = graph.usingNode(use);
      if (user >= 0)
        wanted.insert({graph.operandLayout(graph.nodes()[user], graph.nodes()[user].chosen(), use),
                       takerOf(graph.nodes()[user], use)});
    }
    double cost = 0;
    for (auto [to, taker] : wanted)
      cost += costs.conversion(from, to, getElementTypeOrSelf(value), taker);
    return cost * costs.weight(value.getParentBlock());
  }

  static bool isOperandOfDot(OpOperand &use) {
    return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
  }

  /// The dot whose two operands run ahead through registers, and may be in shared memory from one
  /// pair of barriers to the next, if it multiplies the value from the left.
  tile::DotOp dotOfPair(OpOperand &use) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    bool isPair = dot && use.getOperandNumber() == 0 && !costs.hasAsyncCopies() &&
                  !costs.isShort(dot) && costs.mayRunAhead(dot.getA()) &&
                  costs.mayRunAhead(dot.getB()) && dot.getA() != dot.getB();
    return isPair ? dot : tile::DotOp();
  }

  /// Whether the use is a dot's second operand and its first goes through shared memory, too, at
  /// the same barriers.
  bool joinsFirstOperand(const LayoutNode &user, OpOperand &use) {
    OpOperand &first = user.op->getOpOperand(0);
    if (use.getOperandNumber() != 1 || !dotOfPair(first))
      return false;
    const LayoutNode &producer = graph.nodes()[graph.definingNode(first.get())];
    LinearLayout from = graph.resultLayout(producer, producer.chosen()).getLayout(),
                 to = graph.operandLayout(user, user.chosen(), first).getLayout();
    return classifyConversion(from, to) == ConversionKind::Shared;
  }

  LayoutCosts::Taker takerOf(const LayoutNode &user, OpOperand &use) {
    using Taker = LayoutCosts::Taker;
    // One load for dots that take the tile both ways, as attention's backward pass does.
    if (isa<tile::TransOp>(user.op) && llvm::all_of(user.op->getUses(), isOperandOfDot) &&
        llvm::any_of(use.get().getUses(), isOperandOfDot))
      return Taker::Any;
    if (user.transfer != LayoutTransfer::Dot || use.getOperandNumber() == 2)
      return hasProducts ? Taker::BesideProducts : Taker::Any;
    tilegpu::MatrixUnitAttr unit = user.chosen().unit;
    if (!unit || !unit.getTiling().instruction->readsSharedMemory()) {
      if (costs.isCopied(use.get()) || joinsFirstOperand(user, use))
        return Taker::DotAtBarriers;
      return costs.mayRunAhead(use.get()) ? Taker::DotOfLoad : Taker::Dot;
    }
    return use.getOperandNumber() == 0 ? Taker::UnitAsA : Taker::UnitAsB;
  }

  /// What changes when these nodes do: they themselves, the values at them, and what shares
  /// barriers with these.
  double costAround(ArrayRef<std::pair<unsigned, unsigned>> nodes) {
    llvm::SmallSetVector<Value, 16> values;
    double cost = 0;
    for (auto [index, choice] : nodes) {
      const LayoutNode &node = graph.nodes()[index];
      cost += costs.node(node, node.chosen());
      for (Value result : node.results)
        values.insert(result);
      for (OpOperand *operand : node.operands)
        if (graph.definingNode(operand->get()) >= 0)
          values.insert(operand->get());
    }
    for (unsigned index = 0; index < values.size(); ++index)
      for (OpOperand &use : values[index].getUses())
        if (tile::DotOp dot = dotOfPair(use))
          values.insert(dot.getB());
    for (Value value : values)
      cost += valueCost(value);
    return cost;
  }

  double total() {
    Assignment all;
    for (unsigned i = 0; i < graph.nodes().size(); ++i)
      all.push_back({i, 0});
    return costAround(all);
  }

  //===-- moves
  //----------------------------------------------------------------------------------===//

  /// Takes the assignment if it lowers the cost.
  bool tryMove(const Assignment &move) {
    bool movesKept = llvm::any_of(move, [&](auto entry) { return entry.first == kept; });
    if (move.empty() || movesKept)
      return false;
    double before = costAround(move);
    SmallVector<unsigned> old;
    for (auto [node, choice] : move) {
      old.push_back(graph.nodes()[node].current);
      graph.nodes()[node].current = choice;
    }
    if (costAround(move) < before - margin) {
      ++version;
      return true;
    }
    for (auto [entry, choice] : llvm::zip(move, old))
      graph.nodes()[entry.first].current = choice;
    return false;
  }

  template <typename Fn> void forEachNeighbour(unsigned index, Fn visit) {
    const LayoutNode &node = graph.nodes()[index];
    for (Value result : node.results)
      for (OpOperand &use : result.getUses())
        if (int user = graph.usingNode(use); user >= 0)
          visit(unsigned(user), result, use);
    for (OpOperand *operand : node.operands)
      if (int producer = graph.definingNode(operand->get()); producer >= 0)
        visit(unsigned(producer), operand->get(), *operand);
  }

  bool isFreeEdge(Value value, OpOperand &use) {
    const LayoutNode &producer = graph.nodes()[graph.definingNode(value)];
    const LayoutNode &user = graph.nodes()[graph.usingNode(use)];
    return graph.resultLayout(producer, producer.chosen()) ==
           graph.operandLayout(user, user.chosen(), use);
  }

  /// Whether it will need no conversion once both ends have what they take from the proposal.
  bool becomesFree(Value value, OpOperand &use, unsigned proposal) {
    const LayoutNode &producer = graph.nodes()[graph.definingNode(value)];
    const LayoutNode &user = graph.nodes()[graph.usingNode(use)];
    auto choiceOf = [&](const LayoutNode &node) {
      return node.choices[node.choiceOfProposal.lookup(proposal)];
    };
    return graph.resultLayout(producer, choiceOf(producer)) ==
           graph.operandLayout(user, choiceOf(user), use);
  }

  /// How many loops surround what a node stands for, and the elements of its largest tensor.
  struct Place {
    unsigned depth;
    int64_t elements;
  };

  static Place placeOf(const LayoutNode &node) {
    bool isCarried = node.transfer == LayoutTransfer::Carried && isa<LoopLikeOpInterface>(node.op);
    Place place{loopDepth(node.op->getBlock()) + (isCarried ? 1 : 0), 1};
    auto take = [&](Value value) {
      if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
        place.elements = std::max(place.elements, tensor.getNumElements());
    };
    llvm::for_each(node.results, take);
    if (node.transfer != LayoutTransfer::Dot)
      for (OpOperand *operand : node.operands)
        take(operand->get());
    return place;
  }

  static bool isMultiplied(OpOperand &use) {
    return isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
  }

  /// Whether the node is in the same loops as `start`, or in some of these.
  bool isWithin(unsigned start, unsigned other) const {
    return places[other].depth >= places[start].depth;
  }
  bool isOfSameSize(unsigned start, unsigned other) const {
    return places[other].elements == places[start].elements;
  }

  /// Whether the node reads or writes memory, tiles no smaller than those of `start`.
  bool isAccessAsLarge(unsigned start, unsigned other) const {
    const LayoutNode &node = graph.nodes()[other];
    return places[other].elements >= places[start].elements &&
           node.transfer != LayoutTransfer::Carried && !isMemoryEffectFree(node.op);
  }

  /// Whether a conversion behind what the node is computed of costs less than one of that: it makes
  /// elements of fewer bits, or pointers, of which indices do.
  bool followsProducers(unsigned index) const {
    const LayoutNode &node = graph.nodes()[index];
    return isa_and_nonnull<arith::TruncFOp, arith::TruncIOp>(node.op) ||
           (!node.results.empty() &&
            isa<tile::PtrType>(getElementTypeOrSelf(node.results.front())));
  }

  /// Where a proposal spreads to.
  enum class Reach : uint8_t { FreeEdges, Tile, Loop, Computed, Producers, OwnProducers, Whole };

  /// The nodes that `proposal` takes over when it spreads from `start`. Empty if the same region
  /// was tried from another of its nodes since the last change: a long chain of operations would
  /// otherwise be walked once per operation.
  Assignment region(unsigned start, unsigned proposal, Reach reach) {
    Assignment result;
    auto reaches = [&](unsigned other, Value value, OpOperand &use) {
      switch (reach) {
      case Reach::FreeEdges:
        return isFreeEdge(value, use);
      case Reach::Tile:
      case Reach::Loop:
        return isWithin(start, other) && !isMultiplied(use) &&
               (reach == Reach::Loop || isOfSameSize(start, other)) &&
               becomesFree(value, use, proposal);
      case Reach::Computed:
        return isWithin(start, other) && !isMultiplied(use) && !isAccessAsLarge(start, other) &&
               becomesFree(value, use, proposal);
      case Reach::OwnProducers:
      case Reach::Producers:
        return graph.definingNode(value) == int(other) && !isMultiplied(use) &&
               (reach == Reach::Producers || value.hasOneUse()) && !isAccessAsLarge(start, other) &&
               becomesFree(value, use, proposal);
      case Reach::Whole:
        return true;
      }
      llvm_unreachable("a reach");
    };
    bool isOfLoop = reach == Reach::Tile || reach == Reach::Loop || reach == Reach::Computed;
    if (isOfLoop && places[start].depth == 0)
      return result;
    if (reach == Reach::Computed && isAccessAsLarge(start, start))
      return result;
    bool isOfProducers = reach == Reach::Producers || reach == Reach::OwnProducers;
    if (isOfProducers && (costs.hasAsyncCopies() || !followsProducers(start)))
      return result;
    auto &tried = this->tried[unsigned(reach)];
    auto known = tried.find({start, proposal});
    if (known != tried.end() && known->second == version)
      return result;
    SmallVector<unsigned> pending{start};
    DenseSet<unsigned> seen{start};
    while (!pending.empty()) {
      unsigned index = pending.pop_back_val();
      const LayoutNode &node = graph.nodes()[index];
      // From a smaller tile, and from what is computed of this, the region is another one.
      if (isOfProducers ? index == start : reach != Reach::Computed || isOfSameSize(start, index))
        tried[{index, proposal}] = version;
      unsigned choice = node.choiceOfProposal.lookup(proposal);
      if (choice != node.current)
        result.push_back({index, choice});
      forEachNeighbour(index, [&](unsigned other, Value value, OpOperand &use) {
        if (graph.nodes()[other].choiceOfProposal.count(proposal) && reaches(other, value, use) &&
            seen.insert(other).second)
          pending.push_back(other);
      });
    }
    return result;
  }

  bool sweep() {
    bool improved = false;
    for (unsigned index = 0; index < graph.nodes().size(); ++index) {
      LayoutNode &node = graph.nodes()[index];
      // In the order of proposals, not of the hash table.
      SmallVector<unsigned> proposals;
      for (auto &entry : node.choiceOfProposal)
        proposals.push_back(entry.first);
      llvm::sort(proposals);
      for (unsigned proposal : proposals) {
        unsigned choice = node.choiceOfProposal.lookup(proposal);
        if (choice == node.current)
          continue;
        improved |= tryMove(region(index, proposal, Reach::FreeEdges)) ||
                    tryMove(region(index, proposal, Reach::Whole)) ||
                    tryMove(region(index, proposal, Reach::Tile)) ||
                    tryMove(region(index, proposal, Reach::Loop)) ||
                    tryMove(region(index, proposal, Reach::Computed)) ||
                    tryMove(region(index, proposal, Reach::Producers)) ||
                    tryMove(region(index, proposal, Reach::OwnProducers)) ||
                    tryMove({{index, choice}});
      }
    }
    return improved;
  }

  static constexpr double margin = 1e-6; ///< less is no gain

  LayoutGraph &graph;
  LayoutCosts &costs;
  std::optional<unsigned> kept; ///< the node that no move changes
  bool hasProducts = llvm::any_of(
      graph.nodes(), [](const LayoutNode &node) { return isa_and_nonnull<tile::DotOp>(node.op); });
  /// Counts the moves that were taken, and by node and proposal, at which count the region around
  /// it was tried last.
  unsigned version = 0;
  std::array<DenseMap<std::pair<unsigned, unsigned>, unsigned>, 7> tried; // by reach
  SmallVector<Place> places;                                              ///< of nodes
};

} // namespace

double searchLayouts(LayoutGraph &graph, LayoutCosts &costs, bool fromDots) {
  Search search(graph, costs);
  double least = search.run();
  return fromDots ? search.runFromDots(least) : least;
}

double improveLayouts(LayoutGraph &graph, LayoutCosts &costs) {
  return Search(graph, costs).settle();
}

} // namespace kiln
