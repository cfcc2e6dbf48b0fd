//===- Process.cpp - Private folders and child processes ---------------------===//
//
// vfork and exec rather than llvm::sys::ExecuteAndWait: that has no working folder
// and cannot tie the child's life to ours, and lld has to run in a fork without
// exec (there is no lld program to rely on, and it resets every option it finds).
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/Process.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln {

namespace {

llvm::Error osError(const llvm::Twine &what) {
  int code = errno;
  return llvm::createStringError(std::error_code(code, std::generic_category()),
                                 what + ": " + llvm::sys::StrError(code));
}

/// Sets a limit of this process, in place of one that it has set for itself; safe between fork and
/// exec. A second of grace lies between SIGXCPU and SIGKILL; of memory there is no soft limit.
void set(decltype(RLIMIT_AS) what, uint64_t limit, uint64_t grace) {
  rlimit allowed;
  if (getrlimit(what, &allowed) != 0)
    return;
  if (limit != 0)
    allowed.rlim_max = std::min<rlim_t>(allowed.rlim_max, limit + grace);
  allowed.rlim_cur = limit ? std::min<rlim_t>(allowed.rlim_max, limit) : allowed.rlim_max;
  setrlimit(what, &allowed);
}

void apply(const ProcessLimits &limits) {
  set(RLIMIT_AS, limits.memoryBytes, /*grace=*/0);
  set(RLIMIT_CPU, limits.seconds, /*grace=*/1);
}

/// How a child begins: in a copy of this process's memory, or in that memory itself, while this
/// process waits, until it executes a program. Copying tables of pages, and each page that is
/// written to later on, takes 2 % of a small kernel's time.
enum class Memory { Copied, Lent };

/// Starts a child that runs `body` with its output in a pipe, and collects it. In lent memory
/// `body` may only make calls that are safe between fork and exec, and in copied memory, too,
/// unless the process has one thread.
llvm::Expected<ProcessResult> runChild(const llvm::Twine &name, llvm::StringRef folder,
                                       Memory memory, llvm::function_ref<int()> body,
                                       const std::function<void()> &meanwhile = nullptr) {
  const std::string where = folder.str();
  int pipeEnds[2];
  if (pipe2(pipeEnds, O_CLOEXEC) != 0)
    return osError("cannot make a pipe for " + name);
  pid_t parent = getpid();
  pid_t child = memory == Memory::Lent ? vfork() : fork();
  if (child < 0) {
    llvm::Error error = osError("cannot start " + name);
    close(pipeEnds[0]);
    close(pipeEnds[1]);
    return std::move(error);
  }
  if (child == 0) {
    // Die with the parent: a killed worker must not leave ptxas running.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(pipeEnds[1], STDOUT_FILENO) < 0 ||
        dup2(pipeEnds[1], STDERR_FILENO) < 0 || chdir(where.c_str()) != 0)
      _exit(126);
    _exit(body());
  }

  close(pipeEnds[1]);
  if (meanwhile)
    meanwhile();
  ProcessResult result;
  char buffer[4096];
  for (;;) {
    ssize_t count = ::read(pipeEnds[0], buffer, sizeof buffer);
    if (count > 0)
      result.output.append(buffer, static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      break;
  }
  close(pipeEnds[0]);
  int status = 0;
  rusage used = {};
  while (wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR)
      return osError("cannot wait for " + name);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.peakBytes = uint64_t(used.ru_maxrss) << 10;
  for (const timeval &time : {used.ru_utime, used.ru_stime})
    result.seconds += double(time.tv_sec) + 1e-6 * double(time.tv_usec);
  return result;
}

/// What the environment has, and how the C library gets memory: a program that runs for a twentieth
/// of a second spends a fifth of it on faults of its heap, one page of 4 KiB at a time. Not below
/// small limits, against which counts what a heap has ahead.
std::vector<std::string> environmentOfProgram(const ProcessLimits &limits) {
  std::vector<std::string> variables;
  for (char **variable = environ; *variable; ++variable)
    variables.push_back(*variable);
  bool hasRoom = limits.memoryBytes == 0 || limits.memoryBytes >= uint64_t(1) << 30;
  if (hasRoom && !std::getenv("GLIBC_TUNABLES"))
    variables.push_back("GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216");
  return variables;
}

/// Changes nothing.
constexpr unsigned long askPersonality = 0xffffffff;

/// As exec wants it; points into `strings`.
llvm::SmallVector<char *, 64> pointersTo(std::vector<std::string> &strings) {
  llvm::SmallVector<char *, 64> pointers;
  for (std::string &string : strings)
    pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace

llvm::Expected<TemporaryFolder> TemporaryFolder::create(llvm::StringRef root) {
  llvm::SmallString<128> parent(root);
  if (root.empty())
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
  llvm::SmallString<128> pattern(parent);
  llvm::sys::path::append(pattern, "kiln-XXXXXX");
  if (!mkdtemp(const_cast<char *>(pattern.c_str())))
    return osError("cannot make a temporary folder in '" + parent + "'");
  // The name was filled in behind SmallString's back; its length is unchanged.
  return TemporaryFolder(pattern.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (!folder.empty())
    llvm::sys::fs::remove_directories(folder, /*IgnoreErrors=*/true);
}

llvm::Error TemporaryFolder::write(llvm::StringRef name, llvm::StringRef bytes) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << bytes;
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return llvm::createStringError(error, "cannot write '" + path + "': " + error.message());
  return llvm::Error::success();
}

llvm::Expected<std::vector<char>> TemporaryFolder::read(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "cannot read '" + path + "': " + buffer.getError().message());
  return std::vector<char>((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
}

llvm::Expected<ProcessResult> runProgram(llvm::StringRef program,
                                         llvm::ArrayRef<std::string> arguments,
                                         llvm::StringRef folder, const ProcessLimits &limits,
                                         const std::function<void()> &meanwhile) {
  // Everything is allocated before the fork.
  std::string executable = program.str();
  std::vector<std::string> words = {executable}, variables = environmentOfProgram(limits);
  words.insert(words.end(), arguments.begin(), arguments.end());
  llvm::SmallVector<char *, 64> argv = pointersTo(words), environment = pointersTo(variables);
  auto start = [&] {
    apply(limits);
    // ptxas 13.0 goes by addresses: of one source now and then it makes another, equally good,
    // cubin. Where they may not be fixed, as in some containers, it does as ever.
    personality(personality(askPersonality) | ADDR_NO_RANDOMIZE);
    execve(executable.c_str(), argv.data(), environment.data());
    return 127;
  };
  auto result = runChild(program, folder, Memory::Lent, start, meanwhile);
  if (result && result->status == 127 && result->output.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "cannot run '" + program + "'");
  return result;
}

llvm::Expected<ProcessResult> runForked(llvm::StringRef folder, llvm::function_ref<int()> body) {
  return runChild("a child process", folder, Memory::Copied, body);
}

} // namespace kiln
