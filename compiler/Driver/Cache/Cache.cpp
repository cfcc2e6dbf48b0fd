// kiln cache: what the folder of earlier builds' binaries holds.

#include "compiler/Driver/Cache/Cache.h"
#include "compiler/Driver/Jobs/BinaryCache.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {
namespace {

int fail(llvm::Error error) {
  llvm::errs() << "kiln: error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

void writeJson(llvm::StringRef folder, const CacheContents &contents) {
  llvm::json::OStream json(llvm::outs());
  json.object([&] {
    json.attribute("kiln_cache", 1);
    json.attribute("folder", folder);
    json.attribute("entries", contents.entries);
    json.attribute("bytes", contents.bytes);
    json.attribute("hits", contents.hits);
    json.attribute("kept", contents.kept);
  });
  llvm::outs() << "\n";
}

void writeText(llvm::StringRef folder, const CacheContents &contents) {
  llvm::outs() << folder << ": " << contents.entries << " binaries, "
               << llvm::format("%.1f MiB", double(contents.bytes) / (1 << 20)) << "; builds took "
               << contents.hits << " from there and put " << contents.kept << " there\n";
}

} // namespace

int runCache(const CommandLine &line) {
  const CacheOptions &asked = line.cache;
  if (asked.clear)
    if (llvm::Error error = clearCache(asked.folder))
      return fail(std::move(error));
  if (asked.pruneMiB)
    pruneCache(asked.folder, uint64_t(*asked.pruneMiB) << 20);
  llvm::Expected<CacheContents> contents = contentsOfCache(asked.folder);
  if (!contents)
    return fail(contents.takeError());
  (asked.json ? writeJson : writeText)(asked.folder, *contents);
  return 0;
}

} // namespace kiln
