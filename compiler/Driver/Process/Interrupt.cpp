#include "compiler/Driver/Process/Interrupt.h"

#include <csignal>
#include <initializer_list>

namespace kiln {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int signal) { noted = signal; }

/// Calls `visit` for the signals whose default action ends a process (signal(7)), but for SIGKILL,
/// which cannot be handled, and those that a fault of the process itself raises.
template <typename Visit> void forEachInterrupt(Visit visit) {
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU,
                     SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT})
    visit(signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    visit(signal);
}

} // namespace

void noteInterrupts() {
  std::signal(SIGXFSZ, SIG_IGN);
  forEachInterrupt([](int signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL)
      return;
    action = {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    // No SA_RESTART: poll() must return.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  });
}

int interruptSignal() { return noted; }

void resetInterrupts() {
  noted = 0;
  forEachInterrupt([](int signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == note)
      std::signal(signal, SIG_DFL);
  });
}

bool isSentFromOutside(int signal) {
  bool isSent = signal == SIGKILL || signal == SIGXFSZ;
  forEachInterrupt([&](int interrupt) { isSent |= interrupt == signal; });
  return isSent;
}

void endIfInterrupted() {
  if (!noted)
    return;
  std::signal(noted, SIG_DFL);
  std::raise(noted);
}

} // namespace kiln
