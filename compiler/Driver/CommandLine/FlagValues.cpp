#include "compiler/Driver/CommandLine/FlagValues.h"
#include "codegen/CNames.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace kiln {

void usageError(const llvm::Twine &message) {
  llvm::errs() << "kiln: error: " << message << "\n";
  exit(2);
}

const std::string &required(const cl::opt<std::string> &flag, llvm::StringRef what) {
  if (flag.empty())
    usageError("expected " + what);
  return flag.getValue();
}

std::vector<std::string> valuesOf(const cl::list<std::string> &flag) {
  return {flag.begin(), flag.end()};
}

std::pair<std::string, std::string> splitAssignment(llvm::StringRef flag, llvm::StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || name.size() == text.size())
    usageError(flag + ": expected NAME=VALUE, got '" + text + "'");
  return {name.str(), value.str()};
}

void checkCName(const cl::opt<std::string> &flag, llvm::StringRef what) {
  if (!flag.getNumOccurrences())
    return;
  std::string option = "--" + flag.ArgStr.str();
  if (!isCIdentifier(flag))
    usageError(option + ": expected a C identifier, got '" + flag + "'");
  if (std::string reason = reservedBecause(flag.getValue()); !reason.empty())
    usageError(option + ": '" + flag + "' cannot " + what + ": it is " + reason);
}

std::vector<std::string> wordsOf(const cl::generic_parser_base &parser) {
  std::vector<std::string> words;
  for (unsigned i = 0; i < parser.getNumOptions(); ++i)
    words.push_back(parser.getOption(i).str());
  return words;
}

std::string cacheOfEnvironment() { return llvm::sys::Process::GetEnv("KILN_CACHE").value_or(""); }

} // namespace kiln
