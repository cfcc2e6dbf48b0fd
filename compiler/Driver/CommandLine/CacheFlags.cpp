#include "compiler/Driver/CommandLine/CacheFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"

namespace kiln {

CacheOptions CacheFlags::options(const CompilerFlags &compiler) const {
  CacheOptions cache;
  bool isGiven = compiler.cacheFolder.getNumOccurrences() > 0;
  cache.folder = isGiven ? compiler.cacheFolder.getValue() : cacheOfEnvironment();
  if (cache.folder.empty())
    usageError("expected --cache FOLDER, or the variable KILN_CACHE");
  if (pruneMiB.getNumOccurrences()) {
    if (pruneMiB == 0)
      usageError("--prune: expected at least 1 MiB, got 0 (--clear removes everything)");
    cache.pruneMiB = pruneMiB;
  }
  cache.clear = clear;
  cache.json = asJson;
  return cache;
}

} // namespace kiln
