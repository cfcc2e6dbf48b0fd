// What the values of flags have in common, beside what LLVM's parsers of values check. A mistake
// prints one line and ends the process with status 2, as command-line tools do.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_FLAGVALUES_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_FLAGVALUES_H

#include "llvm/Support/CommandLine.h"
#include <string>
#include <utility>
#include <vector>

namespace kiln {

[[noreturn]] void usageError(const llvm::Twine &message);

/// The flag's value, which must not be empty: "expected `what`".
const std::string &required(const llvm::cl::opt<std::string> &flag, llvm::StringRef what);

/// All values of a flag that may be repeated.
std::vector<std::string> valuesOf(const llvm::cl::list<std::string> &flag);

/// NAME=VALUE, the text of `flag`.
std::pair<std::string, std::string> splitAssignment(llvm::StringRef flag, llvm::StringRef text);

/// A value that was given is a C identifier of no other meaning: it is to "`what`".
void checkCName(const llvm::cl::opt<std::string> &flag, llvm::StringRef what);

/// The words of a flag that takes one of a few.
std::vector<std::string> wordsOf(const llvm::cl::generic_parser_base &parser);

/// The folder that the variable KILN_CACHE names, or "".
std::string cacheOfEnvironment();

} // namespace kiln

#endif
