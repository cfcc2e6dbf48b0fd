// kiln language: what kernels can call.

#include "compiler/Driver/Language/Language.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Sema/Builtins/LanguageReference.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

int runLanguage(const CommandLine &line) {
  const std::string &name = line.language.name;
  std::string text = line.language.json ? languageAsJson(name)
                     : name.empty()     ? languageReference()
                                        : languageReferenceOf(name);
  if (!text.empty()) {
    llvm::outs() << text;
    return 0;
  }
  std::vector<std::string> names = languageNames();
  std::vector<llvm::StringRef> known(names.begin(), names.end());
  llvm::errs() << "kiln: error: there is no function '" << name << "'\n";
  if (std::string hint = suggestName(name, known); !hint.empty())
    llvm::errs() << "hint: " << hint << "\n";
  return 1;
}

} // namespace kiln
