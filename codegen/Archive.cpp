//===- Archive.cpp - deterministic static archives ------------------------===//
#include "codegen/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace kiln {

Expected<std::string> writeArchive(ArrayRef<ArchiveMember> members) {
  std::vector<NewArchiveMember> newMembers;
  for (const ArchiveMember &member : members)
    newMembers.emplace_back(MemoryBufferRef(member.bytes, member.name));
  Expected<std::unique_ptr<MemoryBuffer>> buffer = writeArchiveToBuffer(
      newMembers, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU, /*Deterministic=*/true,
      /*Thin=*/false, [](Error error) { consumeError(std::move(error)); });
  if (!buffer)
    return buffer.takeError();
  return (*buffer)->getBuffer().str();
}

} // namespace kiln
