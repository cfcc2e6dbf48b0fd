// Binaries that earlier builds have made, in a folder.
//
// The key is a hash of all that decides a binary's bytes: the variant's Tile IR with its places in
// the sources, the target, the options, and the programs that make it. So sources are parsed and
// evaluated in every build, with all that this reports, and what is left out is the rest: 95 % of
// the work. An entry can be used from any folder where the sources are called the same.
//
// The folder is llvm::localCache's: files appear whole, also for builds at the same time, and those
// longest unused go first.

#ifndef KILN_COMPILER_DRIVER_JOBS_BINARYCACHE_H
#define KILN_COMPILER_DRIVER_JOBS_BINARYCACHE_H

#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace kiln {

class BinaryCache {
public:
  /// Of the folder and the options that `options` names; without a folder nothing is found or kept.
  explicit BinaryCache(const CompilerOptions &options) : options(options) {}

  bool isUsed() const { return !options.cacheFolder.empty(); }
  /// `limits`: what the config asks for, in numbers.
  std::string keyOf(mlir::ModuleOp module, const TargetInfo &target,
                    llvm::ArrayRef<unsigned> limits) const;
  /// Empty where there is none; one that cannot be read is removed.
  std::optional<DeviceBinary> find(llvm::StringRef key) const;
  llvm::Error keep(llvm::StringRef key, const DeviceBinary &binary) const;
  /// As pruneCache, to the limit of the options.
  void prune() const;

private:
  const CompilerOptions &options;
};

/// What a folder holds, and what builds have done with it since it was last cleared.
struct CacheContents {
  uint64_t entries = 0, bytes = 0;
  /// Binaries that were taken from the folder, and such that were put there.
  uint64_t hits = 0, kept = 0;
};

/// A folder that does not exist is empty.
llvm::Expected<CacheContents> contentsOfCache(llvm::StringRef folder);
/// Removes entries, those longest unused first, until there are at most so many bytes (not 0).
void pruneCache(llvm::StringRef folder, uint64_t mostBytes);
/// Removes all entries, and forgets what builds have done; other files stay.
llvm::Error clearCache(llvm::StringRef folder);

} // namespace kiln

#endif
