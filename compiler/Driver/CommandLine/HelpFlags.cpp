#include "compiler/Driver/CommandLine/HelpFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"
#include "compiler/Sema/Builtins/LanguageReference.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

static constexpr llvm::StringRef shells[] = {"bash", "zsh", "fish"};

LanguageOptions HelpFlags::languageOptions() const {
  if (isMarkdown && isJson)
    usageError("expected --markdown or --json, got both");
  if (functionName.empty() ? !isMarkdown && !isJson : isMarkdown)
    usageError("expected the name of a function, --markdown or --json");
  return {functionName, isJson};
}

CompletionOptions HelpFlags::completionOptions(KnownWords words) const {
  const auto *shell = llvm::find(shells, required(shellName, "a shell: bash, zsh or fish"));
  if (shell == std::end(shells))
    usageError("expected bash, zsh or fish, got '" + shellName + "'");
  words.operands = {{&commands.completion, {std::begin(shells), std::end(shells)}},
                    {&commands.language, languageNames()}};
  return {Shell(shell - shells), commandTable(words)};
}

} // namespace kiln
