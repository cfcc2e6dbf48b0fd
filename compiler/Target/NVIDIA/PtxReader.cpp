//===- PtxReader.cpp - What PTX text says about its kernels --------------------===//
//
// PTX ISA, "Kernel and Function Directives": .entry NAME ( .param …, .param … )
// directives { … }. A parameter is `.param [.align N] .TYPE [.ptr …] NAME[COUNT]`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVIDIA/PtxReader.h"
#include "compiler/Target/TargetError.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

namespace {

constexpr llvm::StringLiteral blanks = " \t\r\n";

/// The bytes of ".u64", ".b8", ".f32" …; 0 for what is not a type.
uint32_t typeBytes(llvm::StringRef word) {
  unsigned bits;
  if (!word.consume_front(".") || word.empty() ||
      llvm::StringRef("bsuf").find(word.front()) == llvm::StringRef::npos ||
      word.drop_front().getAsInteger(10, bits) || bits > 128 || bits % 8)
    return 0;
  return bits / 8;
}

/// One parameter's declaration. Its offset is the first after `end` that its alignment allows.
llvm::Expected<KernelParameter> readParameter(llvm::StringRef declaration, uint32_t end) {
  llvm::SmallVector<llvm::StringRef, 12> words;
  llvm::SplitString(declaration, words, blanks);
  uint32_t size = 0, align = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ".ptr")
      break; // what follows describes the memory behind the pointer
    if (words[i] == ".align" && i + 1 < words.size())
      words[++i].getAsInteger(10, align);
    else if (size == 0)
      size = typeBytes(words[i]);
  }
  uint32_t count = 1;
  if (words.empty() || size == 0)
    return targetError("PTX: cannot read the parameter '", declaration.trim(), "'");
  if (align == 0)
    align = size;
  auto [name, array] = words.back().split('[');
  if (!array.empty() && (array.rtrim(']').getAsInteger(10, count) || count > 1u << 16))
    return targetError("PTX: cannot read the parameter '", declaration.trim(), "'");
  if (!llvm::isPowerOf2_32(align) || align > 128)
    return targetError("PTX: alignment ", align, " in '", declaration.trim(), "'");
  KernelParameter parameter;
  parameter.name = name.str();
  parameter.offset = static_cast<uint32_t>(llvm::alignTo(end, align));
  parameter.size = size * count;
  return parameter;
}

llvm::Expected<PtxKernel> readKernel(llvm::StringRef text) {
  PtxKernel kernel;
  size_t open = text.find('('), close = text.find(')'), body = text.find('{');
  if (body == llvm::StringRef::npos)
    return targetError("PTX: a kernel without a body");
  if (open > body)
    open = close = text.find_first_of(blanks) == 0 ? body : text.find_first_of(blanks);
  if (close == llvm::StringRef::npos || close < open || close > body)
    return targetError("PTX: a kernel's parameter list does not end");
  kernel.symbol = text.substr(0, open).trim().str();

  llvm::StringRef list = text.slice(open + 1, close).trim();
  while (!list.empty()) {
    auto [declaration, rest] = list.split(',');
    auto parameter = readParameter(declaration, kernel.parameterBytes);
    if (!parameter)
      return parameter.takeError();
    kernel.parameterBytes = parameter->offset + parameter->size;
    kernel.parameters.push_back(std::move(*parameter));
    list = rest;
  }

  llvm::StringRef directives = text.slice(close + 1, body);
  if (size_t at = directives.find(".reqntid"); at != llvm::StringRef::npos) {
    llvm::StringRef line = directives.substr(at + 8).take_until([](char c) { return c == '\n'; });
    kernel.requiredThreads = {1, 1, 1};
    for (unsigned i = 0; i != 3 && !line.trim().empty(); ++i) {
      auto [number, rest] = line.split(',');
      number.trim().getAsInteger(10, kernel.requiredThreads[i]);
      line = rest;
    }
  }
  return kernel;
}

} // namespace

llvm::Expected<PtxInfo> readPtx(llvm::StringRef text) {
  PtxInfo info;
  size_t target = text.find(".target sm_");
  if (target == llvm::StringRef::npos ||
      text.substr(target + 11)
          .take_while([](char c) { return c >= '0' && c <= '9'; })
          .getAsInteger(10, info.smNumber))
    return targetError("not PTX: no .target directive");
  llvm::StringRef rest = text;
  for (size_t at; (at = rest.find(".entry ")) != llvm::StringRef::npos;) {
    rest = rest.substr(at + 7);
    auto kernel = readKernel(rest);
    if (!kernel)
      return kernel.takeError();
    info.kernels.push_back(std::move(*kernel));
  }
  return info;
}

} // namespace kiln
