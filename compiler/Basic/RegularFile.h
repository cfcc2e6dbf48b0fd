// Reading a file that somebody named.
//
// What is behind a name may be a pipe, which blocks for ever, or a device, which has no end: only
// regular files are read, and none that is larger than its reader can use.
#ifndef KILN_COMPILER_BASIC_REGULARFILE_H
#define KILN_COMPILER_BASIC_REGULARFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>

namespace kiln {

/// The bytes of the file at `path`, with a NUL behind them. Fails as the file system does, with
/// errc::is_a_directory, with errc::file_too_large above `maxBytes`, and with an error of its own
/// for pipes and devices, from which it reads nothing.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readRegularFile(llvm::StringRef path,
                                                                   uint64_t maxBytes);

} // namespace kiln

#endif // KILN_COMPILER_BASIC_REGULARFILE_H
