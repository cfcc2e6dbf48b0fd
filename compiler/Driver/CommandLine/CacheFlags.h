// The flags of kiln cache, beside --cache.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_CACHEFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_CACHEFLAGS_H

#include "compiler/Driver/CommandLine/CompilerFlags.h"

namespace kiln {

struct CacheFlags {
  CacheOptions options(const CompilerFlags &compiler) const;

  SubCommands &commands;
  cl::opt<bool> asJson{"json", cl::desc("As JSON"), cl::sub(commands.cache)};
  cl::opt<unsigned> pruneMiB{"prune",
                             cl::desc("Remove what was longest unused, until this is the size"),
                             cl::value_desc("MiB"), cl::init(0), cl::sub(commands.cache)};
  cl::opt<bool> clear{"clear", cl::desc("Remove everything"), cl::sub(commands.cache)};
};

} // namespace kiln

#endif
