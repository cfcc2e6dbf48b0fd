// A step in a process of its own, so that code which is not trusted to return can crash alone.

#ifndef KILN_COMPILER_DRIVER_CHILDPROCESS_H
#define KILN_COMPILER_DRIVER_CHILDPROCESS_H

#include <functional>
#include <optional>

namespace kiln {

struct ChildEnd {
  /// The signal that ended it, or 0.
  int signal = 0;
  int exitStatus = 0;
};

/// Runs `step` in a forked child, which shares nothing with this process from then on but its open
/// files; what it returns is the exit status. Waits for its end; an interrupt (Interrupt.h) ends
/// it. Empty if no process could be made. The calling process must have no other threads.
std::optional<ChildEnd> runInChild(const std::function<int()> &step);

} // namespace kiln

#endif
