#include "compiler/Basic/Version.h"

namespace {

/// Packaging writes the commit here, into the program that is linked already (packages/stage.py): a
/// new commit then compiles and links nothing. Volatile, so that nobody takes the zeros for
/// granted.
[[gnu::section(".kiln_commit"), gnu::used]] const volatile char commit[64] = {};

} // namespace

llvm::StringRef kiln::kilnVersion() { return KILN_VERSION; }

std::string kiln::versionText() {
  std::string hash;
  for (unsigned i = 0; i < sizeof(commit) && commit[i]; ++i)
    hash += commit[i];
  return "kiln " KILN_VERSION + (hash.empty() ? "" : " (commit " + hash + ")");
}
