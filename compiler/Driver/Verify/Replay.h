// A captured launch as a call of a library's entry point.

#ifndef KILN_COMPILER_DRIVER_VERIFY_REPLAY_H
#define KILN_COMPILER_DRIVER_VERIFY_REPLAY_H

#include "codegen/LibraryModel.h"
#include "compiler/Driver/Run/RunDevice.h"
#include "compiler/Driver/Verify/Capture.h"
#include "compiler/Driver/Verify/Comparison.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln {

/// What a launch passes for each argument of an entry point.
struct ReplayArguments {
  /// For an address: its offset, until replayLaunch() has placed the storages. These begin at
  /// multiples of 4096, as those of devices do at multiples of what kernels rely on.
  std::vector<RunValue> values;
  /// Of each value: the captured argument that it is the address of, or null.
  std::vector<const CapturedArgument *> pointers;
};

/// A captured launch, and how it is to be run.
struct Replay {
  /// Index into the capture's launches, and into the library's entry points.
  unsigned launch = 0, entry = 0;
  ReplayArguments arguments;
  /// The variants that may run, best first; by their lasting names, as indices change when the
  /// library is assembled.
  std::vector<std::string> variants;
  /// A library's own function chooses among them, when it is called.
  bool isLibrarysChoice = false;
  /// Why it cannot run, or "".
  std::string problem;
};

/// Errors say which argument does not fit.
llvm::Expected<ReplayArguments> bindReplay(const CapturedLaunch &launch, const EntryModel &entry);

/// The files of a launch, read.
struct ReplayMemory {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  /// Of each storage; they are the same where a launch changed nothing.
  std::vector<llvm::StringRef> before, after;
};

/// Errors name the file.
llvm::Expected<ReplayMemory> readReplayMemory(const CapturedLaunch &launch, llvm::StringRef folder);

/// Puts the storages on the device, and calls `run` with the values of the entry's arguments,
/// which launches and waits. What the storages hold then, in their order: addresses that the launch
/// has left alone are those of the recorded ones again.
llvm::Expected<std::vector<RunArray>>
replayLaunch(const CapturedLaunch &launch, const ReplayMemory &memory, ReplayArguments arguments,
             RunDevice &device, llvm::function_ref<llvm::Error(std::vector<RunValue> &)> run);

/// How the entry's arguments see one of the launch's storages, each way once; where none does, as
/// the elements that it was recorded with.
std::vector<ElementView> viewsOf(const CapturedLaunch &launch, unsigned storage,
                                 const ReplayArguments &arguments, const EntryModel &entry);

/// "out[3, 17]": the element of an argument at a byte of a storage.
std::string elementNameAt(unsigned storage, uint64_t place, ElementView view,
                          const ReplayArguments &arguments);

} // namespace kiln

#endif
