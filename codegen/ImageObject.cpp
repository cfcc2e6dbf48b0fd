//===- ImageObject.cpp - device binaries as linkable objects --------------===//
//
// Layout, after System V gABI chapter 4: the ELF header, the contents of the sections in the order
// of their headers, then the section header table.
//
//===----------------------------------------------------------------------===//
#include "codegen/ImageObject.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <vector>

using namespace llvm;

namespace kiln {

StringRef hostArchName(HostArch arch) { return arch == HostArch::X86_64 ? "x86_64" : "aarch64"; }

HostArch thisHostArch() {
#if defined(__aarch64__) || defined(_M_ARM64)
  return HostArch::AArch64;
#else
  return HostArch::X86_64;
#endif
}

namespace {

constexpr uint64_t kImageAlign = 64;

/// Appends little-endian integers, whatever the machine that Kiln runs on.
class ByteWriter {
public:
  std::string bytes;

  void u8(uint8_t value) { bytes += static_cast<char>(value); }
  void u16(uint16_t value) { put(value); }
  void u32(uint32_t value) { put(value); }
  void u64(uint64_t value) { put(value); }
  void align(uint64_t to) { bytes.resize(alignTo(bytes.size(), to), '\0'); }

private:
  template <typename T> void put(T value) {
    char buffer[sizeof(T)];
    support::endian::write<T>(buffer, value, endianness::little);
    bytes.append(buffer, sizeof(T));
  }
};

class StringTable {
public:
  std::string bytes = std::string(1, '\0');
  uint32_t add(StringRef text) {
    uint32_t offset = static_cast<uint32_t>(bytes.size());
    bytes += text;
    bytes += '\0';
    return offset;
  }
};

struct Section {
  std::string name;
  uint32_t type = 0;
  uint64_t flags = 0, align = 1, entrySize = 0;
  uint32_t link = 0, info = 0;
  std::string contents;
};

constexpr uint32_t kImagesIndex = 1; // index of the images' section

Section imagesSection(ArrayRef<Image> images, std::vector<uint64_t> &offsets) {
  Section section;
  section.name = ".rodata.kiln";
  section.type = ELF::SHT_PROGBITS;
  section.flags = ELF::SHF_ALLOC;
  section.align = kImageAlign;
  for (const Image &image : images) {
    section.contents.resize(alignTo(section.contents.size(), kImageAlign), '\0');
    offsets.push_back(section.contents.size());
    section.contents += image.bytes;
  }
  return section;
}

Section symbolSection(ArrayRef<Image> images, ArrayRef<uint64_t> offsets, StringTable &names) {
  ByteWriter symbols;
  symbols.bytes.assign(sizeof(ELF::Elf64_Sym), '\0'); // the null symbol
  for (size_t i = 0; i < images.size(); ++i) {
    symbols.u32(names.add(images[i].symbol));
    symbols.u8(ELF::STB_GLOBAL << 4 | ELF::STT_OBJECT);
    symbols.u8(ELF::STV_HIDDEN);
    symbols.u16(kImagesIndex);
    symbols.u64(offsets[i]);
    symbols.u64(images[i].bytes.size());
  }
  Section section;
  section.name = ".symtab";
  section.type = ELF::SHT_SYMTAB;
  section.align = 8;
  section.entrySize = sizeof(ELF::Elf64_Sym);
  section.info = 1; // one local symbol: the null one
  section.contents = std::move(symbols.bytes);
  return section;
}

void writeHeader(ByteWriter &out, HostArch arch, uint64_t sectionTable, size_t numSections) {
  for (unsigned char byte : {0x7f, 'E' + 0, 'L' + 0, 'F' + 0})
    out.u8(byte);
  out.u8(ELF::ELFCLASS64);
  out.u8(ELF::ELFDATA2LSB);
  out.u8(ELF::EV_CURRENT);
  out.bytes.resize(ELF::EI_NIDENT, '\0');
  out.u16(ELF::ET_REL);
  out.u16(arch == HostArch::X86_64 ? ELF::EM_X86_64 : ELF::EM_AARCH64);
  out.u32(ELF::EV_CURRENT);
  out.u64(0); // entry
  out.u64(0); // program headers
  out.u64(sectionTable);
  out.u32(0); // flags
  out.u16(sizeof(ELF::Elf64_Ehdr));
  out.u16(0);
  out.u16(0);
  out.u16(sizeof(ELF::Elf64_Shdr));
  out.u16(static_cast<uint16_t>(numSections));
  out.u16(static_cast<uint16_t>(numSections - 1)); // the section names come last
}

void writeSectionHeader(ByteWriter &out, const Section &section, uint32_t name, uint64_t offset) {
  out.u32(name);
  out.u32(section.type);
  out.u64(section.flags);
  out.u64(0); // address
  out.u64(offset);
  out.u64(section.contents.size());
  out.u32(section.link);
  out.u32(section.info);
  out.u64(section.align);
  out.u64(section.entrySize);
}

} // namespace

std::string writeImageObject(HostArch arch, ArrayRef<Image> images, StringRef manifest) {
  std::vector<Section> sections(1); // index 0 is the null section
  std::vector<uint64_t> offsets;
  sections.push_back(imagesSection(images, offsets));
  // Without this note, GNU ld gives the whole program an executable stack.
  Section stackNote;
  stackNote.name = ".note.GNU-stack";
  stackNote.type = ELF::SHT_PROGBITS;
  sections.push_back(std::move(stackNote));
  if (!manifest.empty()) {
    Section section;
    section.name = kManifestSection.str();
    section.type = ELF::SHT_PROGBITS;
    section.flags = ELF::SHF_EXCLUDE;
    section.contents = manifest.str();
    sections.push_back(std::move(section));
  }
  StringTable symbolNames, sectionNames;
  Section symbols = symbolSection(images, offsets, symbolNames);
  symbols.link = static_cast<uint32_t>(sections.size() + 1);
  sections.push_back(std::move(symbols));
  Section strings;
  strings.name = ".strtab";
  strings.type = ELF::SHT_STRTAB;
  strings.contents = std::move(symbolNames.bytes);
  sections.push_back(std::move(strings));
  Section names;
  names.name = ".shstrtab";
  names.type = ELF::SHT_STRTAB;
  sections.push_back(std::move(names));

  std::vector<uint32_t> nameOffsets;
  for (const Section &section : sections)
    nameOffsets.push_back(section.name.empty() ? 0 : sectionNames.add(section.name));
  sections.back().contents = std::move(sectionNames.bytes);

  ByteWriter body;
  body.bytes.resize(sizeof(ELF::Elf64_Ehdr), '\0');
  std::vector<uint64_t> places;
  for (const Section &section : sections) {
    body.align(section.type == ELF::SHT_NULL ? 1 : section.align);
    places.push_back(section.type == ELF::SHT_NULL ? 0 : body.bytes.size());
    body.bytes += section.contents;
  }
  body.align(8);
  uint64_t table = body.bytes.size();
  for (size_t i = 0; i < sections.size(); ++i) {
    if (i == 0)
      sections[i].align = 0;
    writeSectionHeader(body, sections[i], nameOffsets[i], places[i]);
  }
  ByteWriter header;
  writeHeader(header, arch, table, sections.size());
  body.bytes.replace(0, header.bytes.size(), header.bytes);
  return std::move(body.bytes);
}

} // namespace kiln
