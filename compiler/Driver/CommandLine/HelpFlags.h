// The flags of the commands about Kiln itself: kiln language and kiln completion.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_HELPFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_HELPFLAGS_H

#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Driver/CommandLine/SubCommands.h"

namespace kiln {

struct HelpFlags {
  LanguageOptions languageOptions() const;
  /// `words`: those of the other commands' flags.
  CompletionOptions completionOptions(KnownWords words) const;

  SubCommands &commands;
  cl::opt<std::string> functionName{cl::Positional, cl::desc("<function>"),
                                    cl::sub(commands.language)};
  cl::opt<bool> isMarkdown{"markdown", cl::desc("The whole reference, as docs/reference.md"),
                           cl::sub(commands.language)};
  cl::opt<bool> isJson{"json", cl::desc("As JSON, for editors: one function, or all"),
                       cl::sub(commands.language)};
  cl::opt<std::string> shellName{cl::Positional, cl::desc("<shell: bash, zsh or fish>"),
                                 cl::sub(commands.completion)};
};

} // namespace kiln

#endif
