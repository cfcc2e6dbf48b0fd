// Ctrl-C and its like, taken in where there is something to clean up.
//
// The default action of most signals would end kiln at once and leave its staging and temporary
// folders behind. A handler may not delete folders, so it only notes the signal: the loop over the
// workers ends them and returns, destructors remove what they made, and main ends the process by
// the same signal. A second signal ends it at once.

#ifndef KILN_COMPILER_DRIVER_PROCESS_INTERRUPT_H
#define KILN_COMPILER_DRIVER_PROCESS_INTERRUPT_H

namespace kiln {

/// From now on every signal that asks a process to end is noted, except those that are ignored
/// (nohup) or that somebody else handles (a profiler). Not those that say that the process itself
/// went wrong, such as SIGSEGV. A file that grows beyond its limit (SIGXFSZ) is an error of the
/// write from now on.
void noteInterrupts();

/// The signal that was noted, or 0.
int interruptSignal();

/// In a forked child: the noted signals end it at once again.
void resetInterrupts();

/// Whether no fault of a program raises this signal: the system or a user has sent it.
bool isSentFromOutside(int signal);

/// Ends the process by the noted signal, if there is one, so that shells and make see it.
void endIfInterrupted();

} // namespace kiln

#endif
