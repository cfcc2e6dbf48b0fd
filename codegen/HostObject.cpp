//===- HostObject.cpp - CPU kernels as members of a library ---------------===//
#include "codegen/HostObject.h"
#include "llvm/ADT/Twine.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static Error defines(const object::ObjectFile &object, StringRef symbol) {
  for (const object::SymbolRef &candidate : object.symbols()) {
    Expected<StringRef> name = candidate.getName();
    Expected<uint32_t> flags = candidate.getFlags();
    if (!name || !flags) {
      consumeError(name.takeError());
      consumeError(flags.takeError());
      continue;
    }
    if (*name == symbol && !(*flags & object::SymbolRef::SF_Undefined))
      return Error::success();
  }
  return createStringError("the host object does not define '" + symbol + "'");
}

Expected<std::string> prepareHostObject(StringRef bytes, StringRef symbol, StringRef newSymbol) {
  Expected<std::unique_ptr<object::ObjectFile>> object =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, symbol));
  if (!object)
    return object.takeError();
  if (!(*object)->isRelocatableObject())
    return createStringError("the host object is not relocatable");
  if (Error missing = defines(**object, symbol))
    return std::move(missing);

  objcopy::ConfigManager config;
  config.Common.SymbolsToRename[symbol] = newSymbol;
  // Matching looks at the old names.
  auto exactly = [](StringRef name) {
    return objcopy::NameOrPattern::create(name, objcopy::MatchStyle::Literal,
                                          [](Error error) { return error; });
  };
  if (Error error = config.Common.SymbolsToKeepGlobal.addMatcher(exactly(symbol)))
    return std::move(error);
  objcopy::NameMatcher hidden;
  if (Error error = hidden.addMatcher(exactly(symbol)))
    return std::move(error);
  config.ELF.SymbolsToSetVisibility.emplace_back(std::move(hidden), uint8_t(ELF::STV_HIDDEN));
  std::string out;
  raw_string_ostream stream(out);
  if (Error error = objcopy::executeObjcopyOnBinary(config, **object, stream))
    return std::move(error);
  return out;
}

} // namespace kiln
