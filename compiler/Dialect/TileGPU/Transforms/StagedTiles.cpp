#include "compiler/Dialect/TileGPU/Transforms/StagedTiles.h"

using namespace mlir;

namespace kiln {

static SmallVector<int32_t> compose(ArrayRef<int32_t> first, ArrayRef<int32_t> second) {
  SmallVector<int32_t> both;
  for (int32_t axis : second)
    both.push_back(first[axis]);
  return both;
}

Content contentOf(tilegpu::SharedStoreOp store) {
  Content content{store.getValue(), {}};
  auto rank = cast<RankedTensorType>(content.tile.getType()).getRank();
  content.order = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(rank)));
  while (auto trans = content.tile.getDefiningOp<tile::TransOp>()) {
    content.order = compose(trans.getOrder(), content.order);
    content.tile = trans.getSource();
  }
  return content;
}

Operation *onlyWriter(tilegpu::AllocOp buffer) {
  Operation *writer = nullptr;
  SmallVector<Operation *> users(buffer->getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (isa<tilegpu::SharedStoreOp, tilegpu::TmaLoadOp, tilegpu::CopyAsyncOp>(user)) {
      if (writer)
        return nullptr;
      writer = user;
    } else if (isa<tilegpu::TransBufferOp>(user)) {
      llvm::append_range(users, user->getUsers());
    } else if (!isa<tilegpu::SharedLoadOp, tilegpu::DotOp>(user)) {
      return nullptr;
    }
  }
  return writer;
}

bool isReadByDots(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return isa<tilegpu::DotOp>(user) ||
           (isa<tilegpu::TransBufferOp>(user) && isReadByDots(user->getResult(0)));
  });
}

} // namespace kiln
