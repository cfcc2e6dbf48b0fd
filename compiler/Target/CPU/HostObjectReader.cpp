//===- HostObjectReader.cpp - What a host object defines and needs -------------===//

#include "compiler/Target/CPU/HostObjectReader.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"

namespace kiln {

llvm::Expected<HostObjectInfo> readHostObject(llvm::StringRef bytes) {
  using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
  auto magic = llvm::object::getElfArchType(bytes);
  if (!bytes.starts_with(llvm::StringRef(llvm::ELF::ElfMagic, 4)) ||
      magic.first != llvm::ELF::ELFCLASS64 || magic.second != llvm::ELF::ELFDATA2LSB)
    return targetError("not a host object: no 64-bit little-endian ELF header");
  auto file = File::create(bytes);
  if (!file)
    return file.takeError();
  HostObjectInfo info;
  info.machine = file->getHeader().e_machine;
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_SYMTAB)
      continue;
    auto symbols = file->symbols(&section);
    if (!symbols)
      return symbols.takeError();
    auto strings = file->getStringTableForSymtab(section);
    if (!strings)
      return strings.takeError();
    for (const auto &symbol : *symbols) {
      if (symbol.getBinding() == llvm::ELF::STB_LOCAL)
        continue;
      auto name = symbol.getName(*strings);
      if (!name)
        return name.takeError();
      (symbol.isUndefined() ? info.undefined : info.defined).push_back(name->str());
    }
  }
  llvm::sort(info.defined);
  llvm::sort(info.undefined);
  return info;
}

} // namespace kiln
