//===- HostObject.cpp - CPU kernels as members of a library ---------------===//
#include "codegen/HostObject.h"
#include "llvm/ADT/Twine.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

/// The object's functions of the runtime, as KILN_PREFIX names them.
static void addPrefix(const object::ObjectFile &object, StringRef prefix,
                      StringMap<StringRef> &renamed, StringSaver &names) {
  for (const object::SymbolRef &symbol : object.symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint32_t> flags = symbol.getFlags();
    bool isCalled = name && flags && *flags & object::SymbolRef::SF_Undefined;
    if (isCalled && name->starts_with("kiln_") && !name->starts_with("kiln_emu_"))
      renamed[*name] = names.save(prefix + *name);
    consumeError(name.takeError());
    consumeError(flags.takeError());
  }
}

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

Expected<std::string> prepareHostObject(StringRef bytes, StringRef symbol, StringRef newSymbol,
                                        StringRef prefix) {
  Expected<std::unique_ptr<object::ObjectFile>> object =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, symbol));
  if (!object)
    return object.takeError();
  if (!(*object)->isRelocatableObject())
    return createStringError("the host object is not relocatable");
  if (Error missing = defines(**object, symbol))
    return std::move(missing);

  objcopy::ConfigManager config;
  BumpPtrAllocator memory;
  StringSaver names(memory);
  if (!prefix.empty())
    addPrefix(**object, prefix, config.Common.SymbolsToRename, names);
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
