//===- Process.h - Private folders and child processes -----------------------===//
//
// The tools behind a target (ptxas, lld) want files, keep global state and may die.
// They run in a child process, inside a private folder that is removed whatever
// happens; they see only relative file names, so that none can leak into their output.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_PROCESS_H
#define KILN_COMPILER_TARGET_PROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kiln {

/// A folder that only this user can read, removed with its files by the destructor.
class TemporaryFolder {
public:
  /// Makes one below `root`, or below the system's temporary folder when that is empty.
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef root);
  TemporaryFolder(TemporaryFolder &&other) noexcept : folder(std::move(other.folder)) {
    other.folder.clear();
  }
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  llvm::StringRef path() const { return folder; }
  llvm::Error write(llvm::StringRef name, llvm::StringRef bytes) const;
  llvm::Expected<std::vector<char>> read(llvm::StringRef name) const;

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

/// What a program may take, each of its processes by itself; 0: no limit. More than the system
/// allows this process is the system's limit.
struct ProcessLimits {
  /// Of addresses, which is what a process can be denied.
  uint64_t memoryBytes = 0;
  /// Of processor time: it does not depend on what else the machine does. The program gets
  /// SIGXCPU.
  uint64_t seconds = 0;
};

struct ProcessResult {
  /// Exit status; 128 + signal when it was killed.
  int status = 0;
  /// The most memory that it, or a process that it waited for, had at a time.
  uint64_t peakBytes = 0;
  /// Processor time of it and of the processes that it waited for.
  double seconds = 0;
  /// Standard output and error, in the order they were written.
  std::string output;
};

/// Runs `program` with `arguments` (without the program's own name) in `folder`. An error is a
/// process that could not be started; a failing one is a result. Its heap grows in large steps and
/// pages, unless it has less than 1 GiB or GLIBC_TUNABLES says something else. `meanwhile` is
/// called when it has begun.
llvm::Expected<ProcessResult> runProgram(llvm::StringRef program,
                                         llvm::ArrayRef<std::string> arguments,
                                         llvm::StringRef folder, const ProcessLimits &limits = {},
                                         const std::function<void()> &meanwhile = nullptr);

/// Runs `body` in a forked copy of this process, in `folder`; its return value is the exit status.
/// The body writes messages to standard output and error. Nothing it changes comes back.
llvm::Expected<ProcessResult> runForked(llvm::StringRef folder, llvm::function_ref<int()> body);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_PROCESS_H
