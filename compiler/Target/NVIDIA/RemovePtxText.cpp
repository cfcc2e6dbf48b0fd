//===- RemovePtxText.cpp - Cubins without the text they were made of ----------===//
//
// With -lineinfo, ptxas stores the whole PTX in a section that only debuggers'
// views of PTX read: a third of a small kernel's cubin. Lines of the kernel's own
// source come from .debug_line, which stays.
//
// The section's header stays too, with no bytes: other sections, symbols and
// NVIDIA's attributes name sections by number. What lies behind moves to the front
// by a multiple of every alignment, and nothing else of the file changes. Refused:
// objcopy, which renumbers only what it knows.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVIDIA/RemovePtxText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELF.h"
#include <algorithm>

namespace kiln {

namespace {

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
using Header = llvm::object::ELF64LE::Ehdr;
using Section = llvm::object::ELF64LE::Shdr;
using Segment = llvm::object::ELF64LE::Phdr;

/// Part of the file that goes, and the section that it is of.
struct Cut {
  size_t section = 0;
  uint64_t begin = 0, bytes = 0, textEnd = 0;
};

bool overlaps(const Cut &cut, uint64_t begin, uint64_t bytes) {
  return begin < cut.textEnd && begin + bytes > cut.begin;
}

/// Whether a segment, a section, or a table of these headers has bytes of the text too.
bool isShared(const Cut &cut, const Header &header, llvm::ArrayRef<Section> sections,
              llvm::ArrayRef<Segment> segments) {
  if (overlaps(cut, 0, sizeof header) ||
      overlaps(cut, header.e_shoff, sections.size() * sizeof(Section)) ||
      overlaps(cut, header.e_phoff, segments.size() * sizeof(Segment)))
    return true;
  for (const Segment &segment : segments)
    if (overlaps(cut, segment.p_offset, segment.p_filesz))
      return true;
  for (const auto &[number, section] : llvm::enumerate(sections)) {
    bool hasBytes = section.sh_type != llvm::ELF::SHT_NOBITS;
    if (number != cut.section && overlaps(cut, section.sh_offset, hasBytes ? section.sh_size : 0))
      return true;
  }
  return false;
}

/// Nothing to cut (0 bytes) where there is no such section, or others share its bytes.
llvm::Expected<Cut> findCut(const File &file) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  auto segments = file.program_headers();
  if (!segments)
    return segments.takeError();
  Cut cut;
  uint64_t alignment = 8; // of the tables of headers
  for (const Segment &segment : *segments)
    alignment = std::max<uint64_t>(alignment, segment.p_align);
  for (const auto &[number, section] : llvm::enumerate(*sections)) {
    alignment = std::max<uint64_t>(alignment, section.sh_addralign);
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (*name != ".nv_debug_ptx_txt")
      continue;
    auto contents = file.getSectionContents(section);
    if (!contents)
      return contents.takeError();
    cut = {number, section.sh_offset, contents->size(), section.sh_offset + contents->size()};
  }
  const Header &header = file.getHeader();
  if (header.e_shnum != sections->size() || header.e_phnum != segments->size() ||
      isShared(cut, header, *sections, *segments))
    return Cut();
  cut.bytes -= cut.bytes % alignment;
  return cut;
}

} // namespace

void removePtxText(std::vector<char> &cubin) {
  auto file = File::create(llvm::StringRef(cubin.data(), cubin.size()));
  if (!file)
    return llvm::consumeError(file.takeError());
  auto cut = findCut(*file);
  if (!cut)
    return llvm::consumeError(cut.takeError());
  if (!cut->bytes)
    return;
  auto move = [&](auto &offset) {
    if (offset >= cut->textEnd)
      offset = offset - cut->bytes;
  };
  auto &header = *reinterpret_cast<Header *>(cubin.data());
  auto *sections = reinterpret_cast<Section *>(cubin.data() + header.e_shoff);
  auto *segments = reinterpret_cast<Segment *>(cubin.data() + header.e_phoff);
  for (unsigned i = 0; i < header.e_shnum; ++i)
    move(sections[i].sh_offset);
  for (unsigned i = 0; i < header.e_phnum; ++i)
    move(segments[i].p_offset);
  sections[cut->section].sh_size = 0;
  move(header.e_shoff);
  move(header.e_phoff);
  auto begin = cubin.begin() + std::ptrdiff_t(cut->begin);
  auto end = cubin.begin() + std::ptrdiff_t(cut->textEnd);
  std::fill(begin + std::ptrdiff_t(cut->bytes), end, '\0');
  cubin.erase(begin, begin + std::ptrdiff_t(cut->bytes));
}

} // namespace kiln
