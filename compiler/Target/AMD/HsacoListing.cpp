#include "compiler/Target/AMD/HsacoListing.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Target/TargetMachine.h"
#include <map>

namespace kiln {
namespace {

/// By LLVM's names of the opcodes, which begin with the mnemonics of AMD's ISA guides.
constexpr ListedPrefix prefixes[] = {
    {"V_MFMA", ListedKind::Matrix},  {"V_SMFMAC", ListedKind::Matrix},
    {"V_WMMA", ListedKind::Matrix},  {"V_SWMMAC", ListedKind::Matrix},
    {"DS_", ListedKind::Shared},     {"GLOBAL_", ListedKind::Global},
    {"BUFFER_", ListedKind::Global}, {"FLAT_", ListedKind::Global},
    {"S_WAIT", ListedKind::Wait},    {"S_BARRIER", ListedKind::Wait},
};

struct Code {
  uint64_t address = 0;
  llvm::ArrayRef<uint8_t> bytes;
};

llvm::Expected<Code> codeOf(const llvm::object::ObjectFile &object, llvm::StringRef symbol) {
  for (const llvm::object::ELFSymbolRef one :
       llvm::cast<llvm::object::ELFObjectFileBase>(object).symbols()) {
    auto name = one.getName();
    auto address = one.getAddress();
    auto section = one.getSection();
    if (!name || !address || !section)
      return targetError("malformed HSACO: a symbol cannot be read");
    if (*name != symbol || *section == object.section_end())
      continue;
    auto contents = (*section)->getContents();
    uint64_t first = *address - (*section)->getAddress();
    if (!contents || first > contents->size() || one.getSize() > contents->size() - first)
      return targetError("malformed HSACO: its kernel is not in its section");
    return Code{*address, llvm::arrayRefFromStringRef(contents->substr(first, one.getSize()))};
  }
  return targetError("malformed HSACO: it has no function '", symbol, "'");
}

} // namespace

llvm::Expected<MachineCode> listHsaco(llvm::StringRef hsaco, llvm::StringRef symbol,
                                      const llvm::TargetMachine &machine) {
  auto object = llvm::object::ObjectFile::createObjectFile({hsaco, ""});
  if (!object)
    return object.takeError();
  auto code = codeOf(**object, symbol);
  if (!code)
    return code.takeError();
  llvm::MCContext context(machine.getTargetTriple(), machine.getMCAsmInfo(),
                          machine.getMCRegisterInfo(), machine.getMCSubtargetInfo());
  std::unique_ptr<llvm::MCDisassembler> disassembler(
      machine.getTarget().createMCDisassembler(*machine.getMCSubtargetInfo(), context));
  std::unique_ptr<llvm::MCInstrAnalysis> analysis(
      machine.getTarget().createMCInstrAnalysis(machine.getMCInstrInfo()));

  MachineCode result;
  std::vector<ListedInstruction> &listing = result.listing;
  std::map<uint64_t, size_t> indices; // by address
  std::vector<std::pair<size_t, uint64_t>> branches;
  for (uint64_t offset = 0, size = 0; offset < code->bytes.size(); offset += size) {
    llvm::MCInst instruction;
    uint64_t address = code->address + offset, target = 0;
    if (disassembler->getInstruction(instruction, size, code->bytes.drop_front(offset), address,
                                     llvm::nulls()) == llvm::MCDisassembler::Fail ||
        size == 0)
      return targetError(
          "malformed HSACO: its kernel has an unknown instruction at ", llvm::format_hex(offset, 2),
          ": ",
          llvm::toHex(
              code->bytes.slice(offset, std::min<uint64_t>(12, code->bytes.size() - offset)),
              /*LowerCase=*/true));
    indices[address] = listing.size();
    llvm::StringRef name = machine.getMCInstrInfo()->getName(instruction.getOpcode());
    listing.push_back({kindOf(name, prefixes), std::nullopt});
    result.instructions.push_back(instruction);
    if (analysis->isBranch(instruction) &&
        analysis->evaluateBranch(instruction, address, size, target))
      branches.emplace_back(listing.size() - 1, target);
  }
  for (auto [from, target] : branches)
    if (auto found = indices.find(target); found != indices.end())
      listing[from].branchTo = found->second;
  return result;
}

} // namespace kiln
