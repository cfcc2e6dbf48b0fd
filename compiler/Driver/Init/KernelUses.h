// What a kernel's text says about its parameters: which are addresses, descriptors, integers, and
// which blocks of what the program numbers count.
//
// This is a guess for somebody to read, from names as they are bound in the text: no types are
// known yet. A parameter of a helper function of the same file is what the helper does with it.

#ifndef KILN_COMPILER_DRIVER_INIT_KERNELUSES_H
#define KILN_COMPILER_DRIVER_INIT_KERNELUSES_H

#include "compiler/Syntax/AST.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kiln {

struct KernelUses {
  /// Parameters that addresses of loads and stores begin with.
  std::set<std::string> pointers;
  /// Parameters that are used as tensor descriptors, and the rank of their blocks.
  std::map<std::string, unsigned> descriptors;
  /// Parameters that bound loops and masks, that divide, or that are steps of addresses.
  std::set<std::string> integers;
  /// For each axis of the grid: "cdiv(n, BLOCK)", or "" where the text does not say it plainly.
  std::vector<std::string> grid;
};

/// The uses of a function of the module.
KernelUses usesOf(const ast::Module &module, const ast::FunctionDef &function);

/// The functions with @triton.jit of a module that no other one of them calls, in order.
std::vector<const ast::FunctionDef *> kernelsOf(const ast::Module &module);

/// The function of that name at the module's level, or null.
const ast::FunctionDef *findFunction(const ast::Module &module, llvm::StringRef name);

} // namespace kiln

#endif
