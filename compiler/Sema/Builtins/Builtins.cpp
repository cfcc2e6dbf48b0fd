#include "compiler/Sema/Builtins/Builtins.h"

#include "compiler/Sema/Table/Handlers.h"

#include "llvm/ADT/STLExtras.h"

namespace kiln::sema {

llvm::ArrayRef<BuiltinInfo> getBuiltins() {
  static const std::vector<BuiltinInfo> rows = {
#define KILN_BUILTIN(ID, LIBRARY, NAME, SIGNATURE, PLACE, TEXT)                                    \
  {NAME, Library::LIBRARY, Place::PLACE, SIGNATURE, TEXT, &builtin##ID},
#define KILN_UNSUPPORTED(LIBRARY, NAME)                                                            \
  {NAME, Library::LIBRARY, Place::Anywhere, "*args, **options", "Not supported yet.", {}},
#include "compiler/Sema/Table/Builtins.def"
  };
  return rows;
}

const BuiltinTable &getBuiltinTable() {
  static const BuiltinTable table(getBuiltins());
  return table;
}

std::vector<BuiltinFamily> getBuiltinFamilies() {
  std::vector<std::pair<llvm::StringRef, size_t>> starts;
  size_t row = 0;
#define KILN_FAMILY(TITLE) starts.emplace_back(TITLE, row);
#define KILN_BUILTIN(ID, LIBRARY, NAME, SIGNATURE, PLACE, TEXT) ++row;
#define KILN_UNSUPPORTED(LIBRARY, NAME) ++row;
#include "compiler/Sema/Table/Builtins.def"
  std::vector<BuiltinFamily> families;
  for (auto [index, start] : llvm::enumerate(starts)) {
    size_t end = index + 1 < starts.size() ? starts[index + 1].second : row;
    families.push_back({start.first, getBuiltins().slice(start.second, end - start.second)});
  }
  return families;
}

} // namespace kiln::sema
