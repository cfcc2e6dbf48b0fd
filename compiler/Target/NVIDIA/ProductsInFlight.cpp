//===- ProductsInFlight.cpp - Products that ptxas would wait for one by one ---===//

#include "compiler/Target/NVIDIA/ProductsInFlight.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace kiln {

static constexpr llvm::StringLiteral wait = "wgmma.wait_group.sync.aligned 0;";
static constexpr llvm::StringLiteral branch = "{\n"
                                              ".reg .pred never;\n"
                                              ".reg .b32 lane;\n"
                                              "mov.u32 lane, %laneid;\n"
                                              "setp.gt.u32 never, lane, 31;\n"
                                              "@never trap;\n"
                                              "}\n";

std::string withProductsApart(llvm::StringRef ptx) {
  llvm::SmallVector<llvm::StringRef> lines;
  ptx.split(lines, '\n');
  llvm::StringMap<size_t> labels; ///< and how many products stand before each
  size_t products = 0;
  std::string text;
  for (auto [index, line] : llvm::enumerate(lines)) {
    text += line;
    if (index + 1 < lines.size())
      text += '\n';
    llvm::StringRef trimmed = line.trim();
    if (trimmed.starts_with("$") && trimmed.consume_back(":"))
      labels[trimmed] = products;
    else if (trimmed.starts_with("wgmma.mma_async"))
      ++products;
    bool isWait = trimmed == wait;
    auto [condition, target] = trimmed.split(" bra ");
    auto label = labels.find(target.trim("\t;"));
    if (condition.starts_with("@") && label != labels.end() && label->second < products) {
      text += wait;
      text += '\n';
      isWait = true;
    }
    if (isWait)
      text += branch;
  }
  return text;
}

} // namespace kiln
