#include "tests/amdgcn/CodeObject.h"
#include "tests/amdgcn/Disassembler.h"
#include "tests/amdgcn/Operations.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include <cstdlib>
#include <cstring>

namespace kiln::amdgcn {
namespace {

using Elf = llvm::object::ELF64LEObjectFile;
using llvm::amdhsa::kernel_descriptor_t;

[[noreturn]] void fail(llvm::Error error) { throw Fault(llvm::toString(std::move(error))); }

template <typename T> T checked(llvm::Expected<T> value) {
  if (!value)
    fail(value.takeError());
  return std::move(*value);
}

KernelDescriptor readDescriptor(const kernel_descriptor_t &raw, uint64_t address, bool isGfx9) {
  KernelDescriptor result;
  auto property = [&](unsigned bit) { return bool(raw.kernel_code_properties >> bit & 1); };
  result.groupBytes = raw.group_segment_fixed_size;
  result.privateBytes = raw.private_segment_fixed_size;
  result.kernargBytes = raw.kernarg_size;
  result.entry = address + uint64_t(raw.kernel_code_entry_byte_offset);
  result.numUserScalars = raw.compute_pgm_rsrc2 >> 1 & 31;
  for (unsigned i = 0; i != 3; ++i)
    result.hasWorkgroupId[i] = raw.compute_pgm_rsrc2 >> (7 + i) & 1;
  result.hasWorkgroupInfo = raw.compute_pgm_rsrc2 >> 10 & 1;
  result.hasPrivateSegment = raw.compute_pgm_rsrc2 & 1;
  // FLOAT_DENORM_MODE_32: 0 flushes what goes in and comes out.
  result.flushesSingles = (raw.compute_pgm_rsrc1 >> 16 & 3) == 0;
  result.hasPrivateBuffer = property(0);
  result.hasDispatchPointer = property(1);
  result.hasQueuePointer = property(2);
  result.hasKernargPointer = property(3);
  result.hasDispatchId = property(4);
  result.hasFlatScratch = property(5);
  result.hasPrivateSize = property(6);
  result.isWave32 = property(10) && !isGfx9;
  result.preloadLength = raw.kernarg_preload & 0x7f;
  result.preloadOffset = raw.kernarg_preload >> 7 & 0x1ff;
  return result;
}

} // namespace

struct CodeObject::File {
  explicit File(const std::string &bytes)
      : object(checked(Elf::create(llvm::MemoryBufferRef(bytes, "HSACO")))) {}
  Elf object;
};

CodeObject::CodeObject(std::string content, const Edit &edit)
    : bytes(std::move(content)), memory(nullptr, std::free) {
  HsacoInfo info = checked(readHsaco(bytes));
  File file(bytes);
  cpu = file.object.tryGetCPUName().value_or("").str();
  loadSegments(file);
  readDescriptors(file, info);
  decodeFunctions(file, edit);
}

CodeObject::~CodeObject() = default;

void CodeObject::loadSegments(const File &file) {
  auto headers = checked(file.object.getELFFile().program_headers());
  for (const auto &header : headers)
    if (header.p_type == llvm::ELF::PT_LOAD)
      numBytes = std::max<uint64_t>(numBytes, header.p_vaddr + header.p_memsz);
  numBytes = (numBytes + 4095) / 4096 * 4096;
  memory.reset(static_cast<uint8_t *>(std::aligned_alloc(4096, numBytes)));
  std::memset(memory.get(), 0, numBytes);
  for (const auto &header : headers)
    if (header.p_type == llvm::ELF::PT_LOAD)
      std::memcpy(memory.get() + header.p_vaddr, bytes.data() + header.p_offset, header.p_filesz);
  for (const llvm::object::SectionRef section : file.object.sections())
    if (llvm::object::ELFSectionRef(section).getType() == llvm::ELF::SHT_RELA)
      throw Fault("relocations of a code object are not known here");
}

void CodeObject::readDescriptors(const File &file, const HsacoInfo &info) {
  uint64_t base = reinterpret_cast<uintptr_t>(memory.get());
  for (const llvm::object::ELFSymbolRef symbol : file.object.symbols()) {
    std::string name = checked(symbol.getName()).str();
    uint64_t address = checked(symbol.getAddress());
    if (symbol.getELFType() == llvm::ELF::STT_OBJECT)
      variables[name] = {base + address, symbol.getSize()};
  }
  for (const HsacoKernel &kernel : info.kernels) {
    auto found = variables.find(kernel.symbol + ".kd");
    if (found == variables.end())
      throw Fault("kernel " + kernel.symbol + " has no descriptor");
    kernel_descriptor_t raw;
    std::memcpy(&raw, reinterpret_cast<const void *>(found->second.first), sizeof raw);
    kernels[kernel.symbol] = {kernel,
                              readDescriptor(raw, found->second.first, cpu.substr(0, 4) == "gfx9")};
  }
}

void CodeObject::decodeFunctions(const File &file, const Edit &edit) {
  Disassembler disassembler(cpu);
  instructions.resize(numBytes / 4);
  uint64_t base = reinterpret_cast<uintptr_t>(memory.get());
  for (const llvm::object::ELFSymbolRef symbol : file.object.symbols()) {
    if (symbol.getELFType() != llvm::ELF::STT_FUNC)
      continue;
    uint64_t first = checked(symbol.getAddress()), end = first + symbol.getSize();
    for (uint64_t at = first; at < end;) {
      auto line = disassembler.disassemble(memory.get() + at, end - at, base + at);
      if (!line) {
        at += 4;
        continue;
      }
      auto one =
          std::make_unique<Instruction>(parseInstruction(edit ? edit(line->text) : line->text));
      for (Instruction *part = one.get(); part; part = part->second.get()) {
        auto found = operations().find(part->name);
        if (found != operations().end())
          part->operation = found->second;
        part->address = base + at;
        part->bytes = uint32_t(line->bytes);
      }
      instructions[at / 4] = std::move(one);
      at += line->bytes;
    }
  }
}

const LoadedKernel *CodeObject::kernel(const std::string &name) const {
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

std::optional<std::pair<uint64_t, uint64_t>> CodeObject::variable(const std::string &name) const {
  auto found = variables.find(name);
  if (found == variables.end())
    return std::nullopt;
  return found->second;
}

uint64_t CodeObject::offsetOf(uint64_t address) const {
  return address - reinterpret_cast<uintptr_t>(memory.get());
}

const Instruction *CodeObject::at(uint64_t address) const {
  uint64_t offset = offsetOf(address);
  return offset % 4 || offset / 4 >= instructions.size() ? nullptr : instructions[offset / 4].get();
}

} // namespace kiln::amdgcn
