#include "codegen/Archive.h"
#include "codegen/HostObject.h"
#include "codegen/ImageObject.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <map>

using namespace llvm;

namespace kiln {
namespace {

std::unique_ptr<object::ObjectFile> parse(StringRef bytes) {
  return cantFail(object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, "object")));
}

TEST(ImageObject, HoldsTheImagesUnderHiddenSymbols) {
  std::string first(1000, 'a'), second = "second", empty;
  std::string bytes =
      writeImageObject(HostArch::X86_64, {{"one", first}, {"two", second}, {"none", empty}});
  auto object = parse(bytes);
  EXPECT_EQ(object->getArch(), Triple::x86_64);
  EXPECT_TRUE(object->isRelocatableObject());
  std::map<std::string, std::string> found;
  for (const object::ELFSymbolRef symbol : object->symbols()) {
    object::SectionRef section = **symbol.getSection();
    EXPECT_EQ(cantFail(section.getName()), ".rodata.kiln");
    uint64_t value = cantFail(symbol.getValue());
    EXPECT_EQ(value % 64, 0u);
    EXPECT_EQ(symbol.getOther() & 3, ELF::STV_HIDDEN);
    EXPECT_EQ(symbol.getBinding(), ELF::STB_GLOBAL);
    found[cantFail(symbol.getName()).str()] =
        cantFail(section.getContents()).substr(value, symbol.getSize()).str();
  }
  EXPECT_EQ(found,
            (std::map<std::string, std::string>{{"one", first}, {"two", second}, {"none", ""}}));
}

TEST(ImageObject, IsReadOnlyAlignedAndKeepsTheStackPlain) {
  std::string bytes = writeImageObject(HostArch::AArch64, {{"one", "x"}}, "{\"manifest\": 1}");
  auto object = parse(bytes);
  EXPECT_EQ(object->getArch(), Triple::aarch64);
  std::map<std::string, uint64_t> flags;
  for (const object::SectionRef &section : object->sections()) {
    flags[cantFail(section.getName()).str()] = object::ELFSectionRef(section).getFlags();
    if (cantFail(section.getName()) == ".rodata.kiln")
      EXPECT_EQ(section.getAlignment().value(), 64u);
    if (cantFail(section.getName()) == kManifestSection)
      EXPECT_EQ(cantFail(section.getContents()), "{\"manifest\": 1}");
  }
  EXPECT_EQ(flags.at(".rodata.kiln"), uint64_t(ELF::SHF_ALLOC));
  EXPECT_EQ(flags.at(".note.GNU-stack"), 0u);
  EXPECT_EQ(flags.at(".kiln.manifest"), uint64_t(ELF::SHF_EXCLUDE));
}

TEST(Archive, IsDeterministicAndIndexed) {
  std::vector<ArchiveMember> members = {
      {"one.o", writeImageObject(HostArch::X86_64, {{"one", "1"}})},
      {"a_member_with_a_name_that_does_not_fit_into_the_header.o",
       writeImageObject(HostArch::X86_64, {{"two", "2"}})}};
  std::string bytes = cantFail(writeArchive(members));
  EXPECT_EQ(bytes, cantFail(writeArchive(members)));
  auto archive = cantFail(object::Archive::create(MemoryBufferRef(bytes, "archive")));
  std::vector<std::string> names, symbols;
  Error error = Error::success();
  for (const object::Archive::Child &child : archive->children(error)) {
    names.push_back(cantFail(child.getName()).str());
    EXPECT_EQ(cantFail(child.getLastModified()).time_since_epoch().count(), 0);
    EXPECT_EQ(cantFail(child.getUID()), 0u);
  }
  ASSERT_FALSE(bool(error));
  for (const object::Archive::Symbol &symbol : archive->symbols())
    symbols.push_back(symbol.getName().str());
  EXPECT_EQ(names, (std::vector<std::string>{members[0].name, members[1].name}));
  EXPECT_EQ(symbols, (std::vector<std::string>{"one", "two"}));
}

TEST(HostObject, RefusesWhatItCannotUse) {
  auto message = [](StringRef bytes) {
    Expected<std::string> object = prepareHostObject(bytes, "kernel", "renamed", "");
    return object ? "" : toString(object.takeError());
  };
  EXPECT_NE(message("garbage"), "");
  EXPECT_NE(message(""), "");
  EXPECT_EQ(message(writeImageObject(HostArch::X86_64, {{"other", "x"}})),
            "the host object does not define 'kernel'");
}

TEST(HostObject, RenamesTheKernelAndHidesTheRest) {
  std::string object = cantFail(
      prepareHostObject(writeImageObject(HostArch::X86_64, {{"kernel", "x"}, {"helper", "y"}}),
                        "kernel", "renamed", ""));
  std::map<std::string, unsigned> bindings;
  auto parsed = parse(object);
  for (const object::ELFSymbolRef symbol : parsed->symbols()) {
    bindings[cantFail(symbol.getName()).str()] = symbol.getBinding();
    if (cantFail(symbol.getName()) == "renamed")
      EXPECT_EQ(symbol.getOther() & 3, ELF::STV_HIDDEN);
  }
  EXPECT_EQ(bindings.at("renamed"), unsigned(ELF::STB_GLOBAL));
  EXPECT_EQ(bindings.at("helper"), unsigned(ELF::STB_LOCAL));
  EXPECT_FALSE(bindings.count("kernel"));
}

} // namespace
} // namespace kiln
