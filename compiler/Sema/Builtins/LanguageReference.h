// The reference of the language, from the table of builtins: docs/reference.md, and what
// `kiln language` prints.
#ifndef KILN_COMPILER_SEMA_BUILTINS_LANGUAGEREFERENCE_H
#define KILN_COMPILER_SEMA_BUILTINS_LANGUAGEREFERENCE_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace kiln {

/// The whole page, in Markdown.
std::string languageReference();

/// What it says of one function, by its name with or without the module ("tl.sum", "sum"): a
/// paragraph for each that is called so. Empty if there is none.
std::string languageReferenceOf(llvm::StringRef name);

/// The same of one function, or with no name of all, as JSON for editors.
std::string languageAsJson(llvm::StringRef name);

/// All names, qualified, for suggestions.
std::vector<std::string> languageNames();

} // namespace kiln

#endif // KILN_COMPILER_SEMA_BUILTINS_LANGUAGEREFERENCE_H
