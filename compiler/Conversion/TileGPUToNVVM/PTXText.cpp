#include "compiler/Conversion/TileGPUToNVVM/PTXText.h"

using namespace mlir;

namespace kiln {

std::string registerNames(unsigned first, unsigned count) {
  std::string list;
  for (unsigned index = 0; index < count; ++index)
    list += (index ? ", $" : "$") + std::to_string(first + index);
  return list;
}

SmallVector<Value> assemble(OpBuilder &b, Location loc, TypeRange results, ValueRange operands,
                            const std::string &text, const std::string &constraints) {
  SmallVector<Type> returned(results);
  if (results.size() > 1)
    returned = {LLVM::LLVMStructType::getLiteral(b.getContext(), returned)};
  auto assembly = LLVM::InlineAsmOp::create(
      b, loc, returned, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  if (results.size() <= 1)
    return SmallVector<Value>(assembly->getResults());
  SmallVector<Value> registers;
  for (int64_t index = 0; index < int64_t(results.size()); ++index)
    registers.push_back(
        LLVM::ExtractValueOp::create(b, loc, assembly.getRes(), ArrayRef<int64_t>{index}));
  return registers;
}

} // namespace kiln
