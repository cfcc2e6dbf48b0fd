//===- CubinReader.cpp - What a cubin says about its kernels ------------------===//

#include "compiler/Target/NVIDIA/CubinReader.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/DataExtractor.h"

namespace kiln {

namespace {

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
using Section = llvm::object::ELF64LE::Shdr;
using Symbol = llvm::object::ELF64LE::Sym;

/// How an attribute's value is stored: nothing, or a byte or half-word in the record's third and
/// fourth byte, or a size there and the value behind it.
enum AttributeFormat : uint8_t { NoValue = 1, ByteValue = 2, HalfValue = 3, SizedValue = 4 };

enum Attribute : uint8_t {
  ParamCbank = 0x0a,  // u32 symbol, u16 offset in the bank, u16 bytes
  ReqThreads = 0x10,  // u32 x, y, z
  FrameSize = 0x11,   // u32 symbol, u32 bytes of stack
  KernelParam = 0x17, // u32 index, u16 ordinal, u16 offset, u32 flags: bytes in bits 18 to 31
  CbankSize = 0x19,   // u16 bytes of all parameters
  RegCount = 0x2f,    // u32 symbol, u32 registers
};

/// Shared memory that the system keeps for itself at the start of each block from SM 9.0 on; the
/// kernel's section counts it.
constexpr unsigned firstSmWithReservedShared = 90, reservedSharedBytes = 1024;

/// Calls `visit` with each attribute and the bytes of its value. Records that claim more than there
/// is are an error.
llvm::Error forEachAttribute(llvm::StringRef contents,
                             llvm::function_ref<void(uint8_t, llvm::StringRef)> visit) {
  while (!contents.empty()) {
    if (contents.size() < 4)
      return targetError("malformed cubin: a truncated attribute record");
    auto format = static_cast<uint8_t>(contents[0]), attribute = static_cast<uint8_t>(contents[1]);
    llvm::StringRef value = contents.substr(2, 2);
    contents = contents.substr(4);
    if (format == SizedValue) {
      size_t size = static_cast<uint8_t>(value[0]) | static_cast<uint8_t>(value[1]) << 8;
      if (size > contents.size())
        return targetError("malformed cubin: an attribute of ", size, " bytes where ",
                           contents.size(), " are left");
      value = contents.substr(0, size);
      contents = contents.substr(size);
    } else if (format < NoValue || format > HalfValue) {
      return targetError("malformed cubin: unknown attribute format ", unsigned(format));
    }
    visit(attribute, value);
  }
  return llvm::Error::success();
}

/// A little-endian integer of T at `offset`, 0 when the value is too short.
template <typename T> T field(llvm::StringRef value, uint64_t offset) {
  llvm::DataExtractor data(value, /*IsLittleEndian=*/true, /*AddressSize=*/8);
  return static_cast<T>(data.getUnsigned(&offset, sizeof(T)));
}

class Reader {
public:
  explicit Reader(File file) : file(std::move(file)) {}
  llvm::Expected<CubinInfo> read();

private:
  llvm::Error readHeader();
  llvm::Error readSections();
  llvm::Error readKernelSymbols(const Section &table);
  llvm::Error readModuleAttributes(llvm::StringRef contents);
  llvm::Error readKernelAttributes(CubinKernel &kernel, llvm::StringRef contents);
  void readToolNote(const Section &section);
  bool isFunction(llvm::StringRef name) const {
    return llvm::any_of(symbolIndices, [&](const auto &symbol) { return symbol.second == name; });
  }
  CubinKernel *kernelNamed(llvm::StringRef name) {
    auto it = llvm::find_if(info.kernels, [&](const CubinKernel &k) { return k.symbol == name; });
    return it == info.kernels.end() ? nullptr : &*it;
  }

  File file;
  CubinInfo info;
  /// Global functions by symbol-table index: attributes name kernels by it.
  std::vector<std::pair<uint32_t, std::string>> symbolIndices;
};

/// CUDA 13's ptxas (ABI version 8) moved the SM number from bits 0 to 7 of e_flags to bits 8 to 15.
llvm::Error Reader::readHeader() {
  const auto &header = file.getHeader();
  if (header.e_machine != llvm::ELF::EM_CUDA)
    return targetError("not a cubin: ELF machine ", unsigned(header.e_machine), ", expected ",
                       unsigned(llvm::ELF::EM_CUDA));
  bool shifted = header.e_ident[llvm::ELF::EI_ABIVERSION] >= llvm::ELF::ELFABIVERSION_CUDA_V2;
  info.smNumber =
      shifted ? (header.e_flags & llvm::ELF::EF_CUDA_SM_MASK) >> llvm::ELF::EF_CUDA_SM_OFFSET
              : header.e_flags & llvm::ELF::EF_CUDA_SM;
  return llvm::Error::success();
}

/// Kernels are the functions that have a .nv.info section; every function is kept until those are
/// known.
llvm::Error Reader::readKernelSymbols(const Section &table) {
  auto symbols = file.symbols(&table);
  if (!symbols)
    return symbols.takeError();
  auto strings = file.getStringTableForSymtab(table);
  if (!strings)
    return strings.takeError();
  for (const auto &[index, symbol] : llvm::enumerate(*symbols)) {
    if (symbol.getType() != llvm::ELF::STT_FUNC || symbol.getBinding() != llvm::ELF::STB_GLOBAL)
      continue;
    auto name = symbol.getName(*strings);
    if (!name)
      return name.takeError();
    symbolIndices.emplace_back(static_cast<uint32_t>(index), name->str());
  }
  return llvm::Error::success();
}

llvm::Error Reader::readModuleAttributes(llvm::StringRef contents) {
  return forEachAttribute(contents, [&](uint8_t attribute, llvm::StringRef value) {
    if (attribute != RegCount && attribute != FrameSize)
      return;
    auto index = field<uint32_t>(value, 0), amount = field<uint32_t>(value, 4);
    for (const auto &[symbol, name] : symbolIndices)
      if (CubinKernel *kernel = symbol == index ? kernelNamed(name) : nullptr)
        (attribute == RegCount ? kernel->resources.registers : kernel->resources.stackBytes) =
            amount;
  });
}

llvm::Error Reader::readKernelAttributes(CubinKernel &kernel, llvm::StringRef contents) {
  std::vector<std::pair<unsigned, KernelParameter>> parameters;
  auto error = forEachAttribute(contents, [&](uint8_t attribute, llvm::StringRef value) {
    switch (attribute) {
    case KernelParam:
      parameters.push_back({field<uint16_t>(value, 4),
                            {"", field<uint16_t>(value, 6), field<uint32_t>(value, 8) >> 18}});
      break;
    case ParamCbank:
      kernel.parameterBase = field<uint16_t>(value, 4);
      break;
    case CbankSize:
      kernel.parameterBytes = field<uint16_t>(value, 0);
      break;
    case ReqThreads:
      for (unsigned i = 0; i != 3; ++i)
        kernel.requiredThreads[i] = field<uint32_t>(value, 4 * i);
      break;
    default:
      break;
    }
  });
  if (error)
    return error;
  llvm::sort(parameters, [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[position, entry] : llvm::enumerate(parameters)) {
    if (entry.first != position)
      return targetError("malformed cubin: kernel '", kernel.symbol, "' has no parameter ",
                         position);
    kernel.parameters.push_back(entry.second);
  }
  return llvm::Error::success();
}

/// The last string of the tool note is the option list. A note that is not understood is left out.
void Reader::readToolNote(const Section &section) {
  llvm::Error error = llvm::Error::success();
  for (const auto &note : file.notes(section, error)) {
    llvm::StringRef text = note.getDescAsStringRef(4).rtrim('\0');
    if (size_t start = text.rfind('\0'); start != llvm::StringRef::npos)
      info.toolOptions = text.substr(start + 1).trim().str();
  }
  llvm::consumeError(std::move(error));
}

llvm::Error Reader::readSections() {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  std::vector<std::pair<llvm::StringRef, const Section *>> named;
  for (const Section &section : *sections) {
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    named.emplace_back(*name, &section);
    if (section.sh_type == llvm::ELF::SHT_SYMTAB)
      if (llvm::Error error = readKernelSymbols(section))
        return error;
  }
  for (auto [name, section] : named) {
    if (name == ".note.nv.tkinfo")
      readToolNote(*section);
    if (!name.consume_front(".nv.info.") || !isFunction(name) || kernelNamed(name))
      continue;
    auto contents = file.getSectionContents(*section);
    if (!contents)
      return contents.takeError();
    CubinKernel kernel;
    kernel.symbol = name.str();
    if (llvm::Error error = readKernelAttributes(kernel, llvm::toStringRef(*contents)))
      return error;
    info.kernels.push_back(std::move(kernel));
  }
  for (auto [name, section] : named) {
    if (name == ".nv.info") {
      auto contents = file.getSectionContents(*section);
      if (!contents)
        return contents.takeError();
      if (llvm::Error error = readModuleAttributes(llvm::toStringRef(*contents)))
        return error;
    } else if (name.consume_front(".nv.shared.")) {
      uint64_t reserved = info.smNumber >= firstSmWithReservedShared ? reservedSharedBytes : 0;
      if (CubinKernel *kernel = kernelNamed(name); kernel && section->sh_size > reserved)
        kernel->resources.staticSharedBytes = static_cast<uint32_t>(section->sh_size - reserved);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<CubinInfo> Reader::read() {
  if (llvm::Error error = readHeader())
    return std::move(error);
  if (llvm::Error error = readSections())
    return std::move(error);
  return std::move(info);
}

} // namespace

std::string CubinInfo::arch() const {
  auto [before, after] = llvm::StringRef(toolOptions).split("-arch");
  return after.ltrim(" =").take_until(llvm::isSpace).str();
}

llvm::Expected<CubinInfo> readCubin(llvm::StringRef bytes) {
  auto magic = llvm::object::getElfArchType(bytes);
  if (!bytes.starts_with(llvm::StringRef(llvm::ELF::ElfMagic, 4)) ||
      magic.first != llvm::ELF::ELFCLASS64 || magic.second != llvm::ELF::ELFDATA2LSB)
    return targetError("not a cubin: no 64-bit little-endian ELF header");
  auto file = File::create(bytes);
  if (!file)
    return file.takeError();
  return Reader(*file).read();
}

} // namespace kiln
