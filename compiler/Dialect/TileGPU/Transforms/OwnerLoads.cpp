#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"
#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr StringLiteral byOwnerAttr = "tilegpu.by_owner";

bool isScalar(Value value) { return !isa<ShapedType>(value.getType()); }

/// Follows a scalar to all that is computed of it.
class Uses {
public:
  /// False where threads other than the owner need the value.
  bool areOwners(Value loaded) {
    values.insert(loaded);
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
      return isScalar(store.getValue());
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      BlockArgument carried = loop.getTiedLoopRegionIterArg(&use);
      return carried && follow({carried, loop.getTiedLoopResult(&use)});
    }
    if (isa<scf::YieldOp>(user))
      return isOwnersYield(user->getParentOp(), use.getOperandNumber());
    // In other threads it is computed of anything.
    return !user->getNumRegions() && isPure(user) && !user->hasTrait<OpTrait::IsTerminator>() &&
           follow(user->getResults());
  }

  bool isOwnersYield(Operation *parent, unsigned number) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return follow({loop.getRegionIterArg(number), loop.getResult(number)});
    return isa<scf::IfOp>(parent) && follow({parent->getResult(number)});
  }

  bool follow(ValueRange more) {
    for (Value value : more) {
      if (!isScalar(value))
        return false;
      values.insert(value);
    }
    return true;
  }

  llvm::SmallSetVector<Value, 16> values;
};

} // namespace

bool isLoadedByOwner(Operation *load) { return load->hasAttr(byOwnerAttr); }

void setLoadedByOwner(Operation *load) {
  load->setAttr(byOwnerAttr, UnitAttr::get(load->getContext()));
}

void loadByOwners(func::FuncOp kernel, GlobalOrder &order) {
  SmallVector<GlobalAccess> stores;
  kernel.walk([&](tile::StoreOp store) {
    if (isScalar(store.getValue()))
      stores.push_back(*globalAccessOf(store));
  });
  kernel.walk([&](tile::LoadOp load) {
    if (!isScalar(load.getResult()) || load->use_empty() || tilegpu::isReadForAll(load))
      return;
    GlobalAccess access = *globalAccessOf(load);
    auto couldMeet = [&](const GlobalAccess &store) {
      return !order.betweenArrays(access, store).isNever();
    };
    if (llvm::any_of(stores, couldMeet) && Uses().areOwners(load.getResult()))
      setLoadedByOwner(load);
  });
}

} // namespace kiln
