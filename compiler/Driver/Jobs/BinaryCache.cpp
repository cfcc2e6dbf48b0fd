#include "compiler/Driver/Jobs/BinaryCache.h"
#include "codegen/LibraryModel.h"
#include "compiler/Basic/Version.h"
#include "compiler/Driver/Jobs/VariantResult.h"
#include "compiler/Driver/Planning/SpecPaths.h"
#include "compiler/Target/Emission/Emit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Caching.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <link.h>
#include <set>

namespace kiln {
namespace {

constexpr llvm::StringLiteral formatVersion = "kiln cache 1";
constexpr size_t hashDigits = 64;

/// A program or library, without reading it: whoever replaces one changes its time or its size.
void noteProgram(llvm::raw_ostream &os, llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return;
  os << path << " " << status.getSize() << " "
     << status.getLastModificationTime().time_since_epoch().count() << "\n";
}

/// Kiln itself and every library that it has loaded.
int noteLoaded(dl_phdr_info *info, size_t, void *stream) {
  llvm::StringRef name(info->dlpi_name);
  noteProgram(*static_cast<llvm::raw_ostream *>(stream), name.empty() ? "/proc/self/exe" : name);
  return 0;
}

void noteTools(llvm::raw_ostream &os, const TargetInfo &target, const EmitOptions &emit) {
  os << kilnVersion() << " " << LLVM_VERSION_STRING << "\n";
  dl_iterate_phdr(noteLoaded, &os);
  // A missing one is reported when it is needed.
  if (llvm::Expected<std::string> tool = findTool(target, emit))
    noteProgram(os, *tool);
  else
    llvm::consumeError(tool.takeError());
  if (!emit.libdevicePath.empty())
    noteProgram(os, emit.libdevicePath);
}

/// What of the options reaches the target's binaries beside the IR.
void noteOptions(llvm::raw_ostream &os, const TargetInfo &target, const CompilerOptions &options) {
  const EmitOptions &emit = options.emit;
  os << "O" << emit.optLevel << " lines " << emit.lineInfo << "\n";
  if (target.backend == Backend::CUDA)
    os << "cuda " << int(emit.cudaEmit) << " ptxas " << emit.ptxasMemory << " " << emit.ptxasTimeout
       << " " << emit.ptxasSlow << "\n";
  for (const auto &[from, to] : emit.pathMap)
    os << "map " << from << "=" << to << "\n";
}

/// Names of sources in line tables depend on where the spec and the import roots are.
void notePlaces(llvm::raw_ostream &os, mlir::ModuleOp module, const CompilerOptions &options) {
  std::set<std::string> paths;
  module.walk([&](mlir::Operation *op) {
    op->getLoc()->walk([&](mlir::Location part) {
      if (auto place = llvm::dyn_cast<mlir::FileLineColLoc>(part))
        paths.insert(place.getFilename().str());
      return mlir::WalkResult::advance();
    });
  });
  for (const std::string &path : paths)
    os << path << " is " << portablePath(path, options) << "\n";
}

/// The cache itself; hits go to `found`.
llvm::Expected<llvm::FileCache> open(llvm::StringRef folder, std::string *found) {
  return llvm::localCache(
      "kiln", "kiln", folder,
      [found](unsigned, const llvm::Twine &, std::unique_ptr<llvm::MemoryBuffer> buffer) {
        if (found)
          *found = buffer->getBuffer().str();
      });
}

/// Of what llvm::localCache calls an entry.
constexpr llvm::StringLiteral entryPrefix = "llvmcache-";
/// Files of a byte for each time: builds that append at the same time do not lose any.
constexpr llvm::StringLiteral hitsFile = "hits", keptFile = "kept";
/// Of llvm::pruneCache.
constexpr llvm::StringLiteral pruneFile = "llvmcache.timestamp";

std::string pathIn(llvm::StringRef folder, const llvm::Twine &name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

std::string pathOf(llvm::StringRef folder, llvm::StringRef key) {
  return pathIn(folder, entryPrefix + key);
}

/// The figure is for people: where it cannot be written, the cache serves as well.
void countOne(llvm::StringRef folder, llvm::StringRef file) {
  std::error_code error;
  llvm::raw_fd_ostream os(pathIn(folder, file), error, llvm::sys::fs::OF_Append);
  if (error)
    return;
  os << '.';
  os.close();
  os.clear_error();
}

uint64_t countOf(llvm::StringRef folder, llvm::StringRef file) {
  uint64_t size = 0;
  return llvm::sys::fs::file_size(pathIn(folder, file), size) ? 0 : size;
}

/// Calls `visit` with the path of each entry, until one gives an error.
std::error_code forEachEntry(llvm::StringRef folder,
                             llvm::function_ref<std::error_code(llvm::StringRef)> visit) {
  std::error_code error;
  if (!llvm::sys::fs::exists(folder))
    return error;
  llvm::sys::fs::directory_iterator entry(folder, error), end;
  while (!error && entry != end) {
    if (llvm::sys::path::filename(entry->path()).starts_with(entryPrefix))
      error = visit(entry->path());
    if (!error)
      entry.increment(error);
  }
  return error;
}

/// Another build may have removed it meanwhile.
std::error_code unlessGone(std::error_code error) {
  return error == std::errc::no_such_file_or_directory ? std::error_code() : error;
}

/// What an entry holds, if it is whole.
std::optional<DeviceBinary> binaryOf(llvm::StringRef entry) {
  if (entry.size() < hashDigits ||
      sha256Of(entry.substr(hashDigits)) != entry.take_front(hashDigits))
    return std::nullopt;
  std::optional<VariantResult> result = deserialize(entry.substr(hashDigits));
  return result ? std::move(result->binary) : std::nullopt;
}

} // namespace

std::string BinaryCache::keyOf(mlir::ModuleOp module, const TargetInfo &target,
                               llvm::ArrayRef<unsigned> limits) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << formatVersion << "\n" << target.name << "\n";
  for (unsigned limit : limits)
    os << limit << "\n";
  noteTools(os, target, options.emit);
  noteOptions(os, target, options);
  notePlaces(os, module, options);
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  return sha256Of(text);
}

std::optional<DeviceBinary> BinaryCache::find(llvm::StringRef key) const {
  if (!llvm::sys::fs::exists(pathOf(options.cacheFolder, key)))
    return std::nullopt;
  std::string entry;
  llvm::Expected<llvm::FileCache> cache = open(options.cacheFolder, &entry);
  if (!cache) {
    llvm::consumeError(cache.takeError());
    return std::nullopt;
  }
  llvm::Expected<llvm::AddStreamFn> miss = (*cache)(0, key, "");
  if (!miss) {
    llvm::consumeError(miss.takeError());
    return std::nullopt;
  }
  std::optional<DeviceBinary> binary = *miss ? std::nullopt : binaryOf(entry);
  if (binary)
    countOne(options.cacheFolder, hitsFile);
  else
    llvm::sys::fs::remove(pathOf(options.cacheFolder, key));
  return binary;
}

llvm::Error BinaryCache::keep(llvm::StringRef key, const DeviceBinary &binary) const {
  if (std::error_code error = llvm::sys::fs::create_directories(options.cacheFolder))
    return llvm::createStringError(error, options.cacheFolder + ": " + error.message());
  llvm::Expected<llvm::FileCache> cache = open(options.cacheFolder, nullptr);
  if (!cache)
    return cache.takeError();
  llvm::Expected<llvm::AddStreamFn> add = (*cache)(0, key, "");
  if (!add || !*add) // a build at the same time was first
    return add.takeError();
  auto stream = (*add)(0, "");
  if (!stream)
    return stream.takeError();
  VariantResult result;
  result.binary = binary;
  std::string bytes = serialize(result);
  *(*stream)->OS << sha256Of(bytes) << bytes;
  if (llvm::Error error = (*stream)->commit())
    return error;
  countOne(options.cacheFolder, keptFile);
  return llvm::Error::success();
}

void BinaryCache::prune() const {
  pruneCache(options.cacheFolder, uint64_t(options.cacheLimitMiB) << 20);
}

llvm::Expected<CacheContents> contentsOfCache(llvm::StringRef folder) {
  CacheContents contents;
  std::error_code error = forEachEntry(folder, [&](llvm::StringRef path) {
    uint64_t size = 0;
    std::error_code gone = unlessGone(llvm::sys::fs::file_size(path, size));
    contents.entries += size > 0;
    contents.bytes += size;
    return gone;
  });
  if (error)
    return llvm::createStringError(error, folder + ": " + error.message());
  contents.hits = countOf(folder, hitsFile);
  contents.kept = countOf(folder, keptFile);
  return contents;
}

void pruneCache(llvm::StringRef folder, uint64_t mostBytes) {
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::seconds(0);
  policy.MaxSizePercentageOfAvailableSpace = 0;
  policy.MaxSizeBytes = mostBytes;
  llvm::pruneCache(folder, policy);
}

llvm::Error clearCache(llvm::StringRef folder) {
  std::error_code error = forEachEntry(
      folder, [](llvm::StringRef path) { return unlessGone(llvm::sys::fs::remove(path)); });
  for (llvm::StringRef file : {hitsFile, keptFile, pruneFile})
    if (!error)
      error = unlessGone(llvm::sys::fs::remove(pathIn(folder, file)));
  if (error)
    return llvm::createStringError(error, folder + ": " + error.message());
  return llvm::Error::success();
}

} // namespace kiln
