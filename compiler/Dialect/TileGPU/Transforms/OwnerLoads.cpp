#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr StringLiteral byOwnerAttr = "tilegpu.by_owner";

/// Follows what is loaded to all that is computed of it: scalars of a scalar, of a tile's elements
/// those at their indices, which lie in the same threads.
class Uses {
public:
  explicit Uses(Value loaded)
      : isTile(isa<ShapedType>(loaded.getType())), layout(tilegpu::layoutAttrOf(loaded.getType())) {
    values.insert(loaded);
  }

  /// False where threads other than the owner need the value.
  bool areOwners() {
    for (size_t index = 0; index < values.size(); ++index)
      for (OpOperand &use : values[index].getUses())
        if (!isOwners(use))
          return false;
    return true;
  }

private:
  bool isOwners(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<tile::StoreOp>(user))
      return hasOwners(store.getValue());
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      BlockArgument carried = loop.getTiedLoopRegionIterArg(&use);
      return carried && follow({carried, loop.getTiedLoopResult(&use)});
    }
    if (isa<scf::YieldOp>(user))
      return isOwnersYield(user->getParentOp(), use.getOperandNumber());
    // In other threads it is computed of anything.
    bool isByElement = OpTrait::hasElementwiseMappableTraits(user) || isa<tile::BitcastOp>(user);
    return !user->getNumRegions() && isPure(user) && !user->hasTrait<OpTrait::IsTerminator>() &&
           (!isTile || isByElement) && follow(user->getResults());
  }

  bool isOwnersYield(Operation *parent, unsigned number) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return follow({loop.getRegionIterArg(number), loop.getResult(number)});
    return isa<scf::IfOp>(parent) && follow({parent->getResult(number)});
  }

  bool follow(ValueRange more) {
    for (Value value : more) {
      if (!hasOwners(value))
        return false;
      values.insert(value);
    }
    return true;
  }

  /// Whether the loaded value's owners are its owners.
  bool hasOwners(Value value) const {
    return isa<ShapedType>(value.getType()) == isTile &&
           tilegpu::layoutAttrOf(value.getType()) == layout;
  }

  bool isTile;
  tilegpu::LayoutAttr layout;
  llvm::SmallSetVector<Value, 16> values;
};

} // namespace

bool isLoadedByOwner(Operation *load) { return load->hasAttr(byOwnerAttr); }

void setLoadedByOwner(Operation *load) {
  load->setAttr(byOwnerAttr, UnitAttr::get(load->getContext()));
}

void loadByOwners(func::FuncOp kernel, GlobalOrder &order) {
  SmallVector<GlobalAccess> stores;
  kernel.walk([&](tile::StoreOp store) { stores.push_back(*globalAccessOf(store)); });
  kernel.walk([&](tile::LoadOp load) {
    if (!order.hasSeveralThreads(load.getPtr()) || load->use_empty() || tilegpu::isReadForAll(load))
      return;
    const GlobalAccess access = *globalAccessOf(load);
    GlobalAccess owned = access;
    owned.byOwners = true;
    tilegpu::LayoutAttr layout = tilegpu::layoutAttrOf(load.getType());
    auto savesBarrier = [&](const GlobalAccess &store) {
      if (tilegpu::layoutAttrOf(store.pointers.getType()) != layout ||
          order.betweenArrays(access, store).isNever())
        return false;
      return !layout || (!order.between(access, store, {}).isNever() &&
                         order.between(owned, store, {}).isNever());
    };
    if (llvm::any_of(stores, savesBarrier) && Uses(load.getResult()).areOwners())
      setLoadedByOwner(load);
  });
}

} // namespace kiln
