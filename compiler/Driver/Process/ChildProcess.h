// A step in a process of its own, so that code which is not trusted to return can crash alone.

#ifndef KILN_COMPILER_DRIVER_PROCESS_CHILDPROCESS_H
#define KILN_COMPILER_DRIVER_PROCESS_CHILDPROCESS_H

#include <chrono>
#include <functional>
#include <optional>

namespace kiln {

struct ChildEnd {
  /// It took too long and was ended.
  bool timedOut = false;
  /// The signal that ended it, or 0.
  int signal = 0;
  int exitStatus = 0;
};

/// Runs `step` in a forked child, which shares nothing with this process from then on but its open
/// files; what it returns is the exit status. Waits for its end; when it takes longer than
/// `timeout`, or after an interrupt (Interrupt.h), it is killed. Empty if no process could be made.
/// The calling process must have no other threads.
std::optional<ChildEnd> runInChild(std::chrono::seconds timeout, const std::function<int()> &step);

} // namespace kiln

#endif
