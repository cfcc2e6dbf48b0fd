//===- OutputTransaction.cpp - all outputs or none ------------------------===//
#include "codegen/OutputTransaction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace kiln {

static Error failed(const Twine &doing, StringRef path, std::error_code code) {
  return createStringError(code, "cannot " + doing + " '" + path + "': " + code.message());
}

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

static std::string join(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

/// Suffix of a previous file's name in the staging folder while the new one takes its place.
static std::string backupName(StringRef name) { return ("previous." + name).str(); }

/// Writes all bytes and syncs; a full disk may show only in fsync or close.
static std::error_code writeAndSync(const std::string &path, StringRef bytes) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    return lastError();
  std::error_code result;
  while (!bytes.empty() && !result) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written > 0)
      bytes = bytes.drop_front(static_cast<size_t>(written));
    else if (written == 0 || errno != EINTR)
      result = written == 0 ? std::make_error_code(std::errc::io_error) : lastError();
  }
  // Some file systems cannot sync; that is no reason to refuse them.
  if (!result && ::fsync(file) != 0 && errno != EINVAL && errno != EROFS)
    result = lastError();
  if (::close(file) != 0 && !result)
    result = lastError();
  return result;
}

static void syncFolder(const std::string &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  ::fsync(folder);
  ::close(folder);
}

static constexpr StringLiteral kStagingPrefix = ".kiln-";

/// Opens and locks a staging folder; -1 when somebody else has it.
static int lockFolder(const std::string &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0 && ::flock(folder, LOCK_EX | LOCK_NB) != 0) {
    ::close(folder);
    return -1;
  }
  return folder;
}

/// Removes staging folders that no living build has locked. A young one may be between its creation
/// and its lock.
static void removeAbandoned(const std::string &folder) {
  constexpr time_t kYoungSeconds = 60;
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code; it.increment(code)) {
    struct stat status;
    std::string path = it->path();
    bool isStaging = sys::path::filename(path).starts_with(kStagingPrefix) &&
                     ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    if (!isStaging || ::time(nullptr) - status.st_mtime < kYoungSeconds)
      continue;
    if (int lock = lockFolder(path); lock >= 0) {
      sys::fs::remove_directories(path);
      ::close(lock);
    }
  }
}

Expected<OutputTransaction> OutputTransaction::begin(StringRef folder) {
  OutputTransaction transaction;
  transaction.owner = ::getpid();
  // Without the separators at its end: "out/" has the parent "out", which is the same folder.
  StringRef trimmed = folder.size() > 1 ? folder.rtrim('/') : folder;
  transaction.folder = folder.empty() ? "." : trimmed.empty() ? "/" : trimmed.str();
  for (StringRef path = transaction.folder; !path.empty() && !sys::fs::exists(path);
       path = sys::path::parent_path(path))
    transaction.created.push_back(path.str());
  for (const std::string &path : llvm::reverse(transaction.created))
    if (std::error_code code = sys::fs::create_directory(path, false, sys::fs::all_all))
      return failed("create the output folder", path, code);
  if (!sys::fs::is_directory(transaction.folder))
    return failed("write into", transaction.folder,
                  std::make_error_code(std::errc::not_a_directory));
  removeAbandoned(transaction.folder);
  std::string pattern = join(transaction.folder, (kStagingPrefix + "XXXXXX").str());
  if (!::mkdtemp(pattern.data()))
    return failed("write into", transaction.folder, lastError());
  transaction.staging = pattern;
  transaction.stagingLock = lockFolder(pattern);
  return std::move(transaction);
}

OutputTransaction::OutputTransaction(OutputTransaction &&other) noexcept
    : folder(std::move(other.folder)), staging(std::move(other.staging)),
      stagingLock(other.stagingLock), owner(other.owner), names(std::move(other.names)),
      created(std::move(other.created)) {
  other.staging.clear();
  other.stagingLock = -1;
  other.created.clear();
}

void OutputTransaction::removeStaging() {
  if (!staging.empty())
    sys::fs::remove_directories(staging);
  if (stagingLock >= 0)
    ::close(stagingLock);
  staging.clear();
  stagingLock = -1;
}

OutputTransaction::~OutputTransaction() {
  if (owner != ::getpid())
    return;
  removeStaging();
  // Only empty ones go: remove() refuses a folder with contents.
  for (const std::string &path : created)
    sys::fs::remove(path);
}

/// Why nothing can take the place of `target`; no error where it can.
static std::error_code whyNotReplaced(const std::string &target) {
  // A folder of that name is somebody's, and the end of the transaction would delete it.
  if (sys::fs::is_directory(target))
    return std::make_error_code(std::errc::is_a_directory);
  // A device or a pipe would be replaced, not written to: for root also /dev/null.
  if (sys::fs::exists(target) && !sys::fs::is_regular_file(target))
    return std::make_error_code(std::errc::operation_not_permitted);
  return {};
}

Error OutputTransaction::add(const OutputFile &file) {
  assert(!staging.empty() && "the transaction is over");
  assert(sys::path::filename(file.name) == file.name && "expected a plain file name");
  std::string target = join(folder, file.name);
  std::error_code code = whyNotReplaced(target);
  if (!code)
    code = writeAndSync(join(staging, file.name), file.bytes);
  if (code)
    return failed("write", target, code);
  names.push_back(file.name);
  return Error::success();
}

Error OutputTransaction::commit() {
  size_t done = 0;
  std::error_code code;
  for (; done < names.size() && !code; ++done) {
    std::string target = join(folder, names[done]);
    code = whyNotReplaced(target); // it may have come since add()
    // Keep the previous file, if there is one, until every new file stands.
    if (!code && ::rename(target.c_str(), join(staging, backupName(names[done])).c_str()) != 0 &&
        errno != ENOENT)
      code = lastError();
    if (!code && ::rename(join(staging, names[done]).c_str(), target.c_str()) != 0)
      code = lastError();
  }
  if (!code) {
    syncFolder(folder);
    removeStaging();
    created.clear();
    return Error::success();
  }
  std::string culprit = join(folder, names[done - 1]);
  while (done-- > 0) {
    std::string target = join(folder, names[done]), backup = join(staging, backupName(names[done]));
    bool isReplaced = !sys::fs::exists(join(staging, names[done]));
    if (sys::fs::exists(backup))
      ::rename(backup.c_str(), target.c_str());
    else if (isReplaced)
      ::unlink(target.c_str());
  }
  return failed("write", culprit, code);
}

Error writeOutputs(StringRef folder, ArrayRef<OutputFile> files) {
  Expected<OutputTransaction> transaction = OutputTransaction::begin(folder);
  if (!transaction)
    return transaction.takeError();
  for (const OutputFile &file : files)
    if (Error error = transaction->add(file))
      return error;
  return transaction->commit();
}

} // namespace kiln
