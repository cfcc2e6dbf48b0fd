#include "compiler/Basic/RegularFile.h"

#include "llvm/ADT/ScopeExit.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace kiln {
namespace {

class NotRegular final : public std::error_category {
  const char *name() const noexcept override { return "kiln"; }
  std::string message(int) const override { return "not a regular file"; }
};

std::error_code notRegular() {
  static const NotRegular category;
  return {1, category};
}

std::error_code lastError() { return {errno, std::generic_category()}; }

} // namespace

llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readRegularFile(llvm::StringRef path,
                                                                   uint64_t maxBytes) {
  // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
  int file = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return lastError();
  llvm::scope_exit close([&] { ::close(file); });
  struct stat status;
  if (::fstat(file, &status) != 0)
    return lastError();
  if (S_ISDIR(status.st_mode))
    return std::make_error_code(std::errc::is_a_directory);
  if (!S_ISREG(status.st_mode))
    return notRegular();
  uint64_t size = static_cast<uint64_t>(status.st_size);
  if (size > maxBytes)
    return std::make_error_code(std::errc::file_too_large);
  return llvm::MemoryBuffer::getOpenFile(file, path, size);
}

} // namespace kiln
