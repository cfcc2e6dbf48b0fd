#include "compiler/Dialect/TileGPU/Transforms/BufferAliases.h"
#include "compiler/Analysis/ValueSources.h"

using namespace mlir;

namespace kiln {

BufferAliases::BufferAliases(func::FuncOp kernel) {
  kernel.walk([&](tilegpu::AllocOp alloc) { everything.push_back(alloc); });
}

ArrayRef<tilegpu::AllocOp> BufferAliases::of(Value buffer) {
  auto [entry, isNew] = known.try_emplace(buffer);
  if (!isNew)
    return entry->second;
  auto sources = sourcesOf(buffer, [](OpResult result, SmallVectorImpl<Value> &from) {
    if (auto slot = dyn_cast<tilegpu::SlotOp>(result.getOwner()))
      from.push_back(slot.getRing());
    if (auto trans = dyn_cast<tilegpu::TransBufferOp>(result.getOwner()))
      from.push_back(trans.getBuffer());
  });
  for (Value source : sources) {
    auto alloc = source.getDefiningOp<tilegpu::AllocOp>();
    if (!alloc) {
      entry->second = everything;
      break;
    }
    entry->second.push_back(alloc);
  }
  return entry->second;
}

bool isRing(tilegpu::AllocOp buffer) {
  return buffer.getType().isRing() ||
         llvm::any_of(buffer->getUsers(), llvm::IsaPred<tilegpu::SlotOp>);
}

} // namespace kiln
