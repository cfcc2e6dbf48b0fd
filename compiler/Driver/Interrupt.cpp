#include "compiler/Driver/Interrupt.h"

#include <csignal>
#include <initializer_list>

namespace kiln {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int signal) { noted = signal; }

} // namespace

void noteInterrupts() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    // No SA_RESTART: poll() must return.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

int interruptSignal() { return noted; }

void endIfInterrupted() {
  if (!noted)
    return;
  std::signal(noted, SIG_DFL);
  std::raise(noted);
}

} // namespace kiln
