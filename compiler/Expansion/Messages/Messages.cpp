#include "compiler/Expansion/Messages/Messages.h"

#include "compiler/Dialect/Tile/Transforms/PadShapes.h"

using namespace mlir;

namespace kiln {

/// Digits of the largest index of an axis, as Triton counts them: the axis's logarithm, rounded up.
static unsigned indexWidth(int64_t extent) {
  unsigned digits = 0;
  for (int64_t reach = 1; reach < extent; reach *= 10)
    ++digits;
  return digits;
}

std::string lineFormat(tile::PrintOp op) {
  std::string line = "pid (%i, %i, %i)";
  if (op.getValue()) {
    line += " idx (";
    for (auto [axis, extent] : llvm::enumerate(printedShape(op)))
      line += (axis ? ", %" : "%") +
              (indexWidth(extent) ? std::to_string(indexWidth(extent)) : std::string()) + "i";
    line += ")";
  }
  return line + op.getFormat().str() + "\n";
}

std::string placeText(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  return place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" +
         std::to_string(place.getColumn());
}

Value textAddress(OpBuilder &b, Location loc, ModuleOp module, StringRef text) {
  std::string bytes = text.str() + '\0';
  LLVM::GlobalOp found;
  unsigned count = 0;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    auto value = dyn_cast_or_null<StringAttr>(global.getValueOrNull());
    if (!global.getSymName().starts_with("kiln_message_"))
      continue;
    ++count;
    if (value && value.getValue() == bytes)
      found = global;
  }
  if (!found) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    found = LLVM::GlobalOp::create(top, top.getUnknownLoc(),
                                   LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                                   /*isConstant=*/true, LLVM::Linkage::Internal,
                                   "kiln_message_" + std::to_string(count), b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, loc, found);
}

} // namespace kiln
