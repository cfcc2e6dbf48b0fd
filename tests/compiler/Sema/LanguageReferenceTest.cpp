// docs/reference.md is what the table of builtins gives, and the table documents all of itself.

#include "compiler/Sema/Builtins/LanguageReference.h"
#include "compiler/Sema/Builtins/Builtins.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(LanguageReference, TheCommittedPageIsTheGeneratedOne) {
  auto page = llvm::MemoryBuffer::getFile("docs/reference.md");
  ASSERT_TRUE(page) << page.getError().message();
  EXPECT_EQ((*page)->getBuffer().str(), languageReference())
      << "write it anew: kiln language --markdown > docs/reference.md";
}

TEST(LanguageReference, EveryFunctionAndParameterOfTritonIsDescribed) {
  for (const sema::BuiltinInfo &info : sema::getBuiltins()) {
    EXPECT_FALSE(info.text.empty()) << info.getQualifiedName();
    bool isPython = info.library == sema::Library::Python || info.library == sema::Library::Math ||
                    info.library == sema::Library::Other;
    for (const sema::BuiltinParameter &parameter : info.getParameters())
      if (info.isSupported() && !isPython && !parameter.isVariadic && !parameter.isKeywords)
        EXPECT_FALSE(parameter.type.empty())
            << info.getQualifiedName() << ": " << parameter.name.str();
  }
}

TEST(LanguageReference, EveryRowHasAHeading) {
  size_t rows = 0;
  for (const sema::BuiltinFamily &family : sema::getBuiltinFamilies()) {
    EXPECT_FALSE(family.builtins.empty()) << family.title.str();
    rows += family.builtins.size();
  }
  EXPECT_EQ(rows, sema::getBuiltins().size());
}

TEST(LanguageReference, FindsFunctionsByEitherName) {
  EXPECT_EQ(languageReferenceOf("tl.rand"),
            "`tl.rand(seed: int, offset: int, n_rounds: int constant=10)`\n"
            "Uniform in [0, 1): fp32.\n");
  // Of the language, Python, and libdevice.
  std::string all = languageReferenceOf("max");
  for (const char *name : {"`tl.max(", "`max(", "`libdevice.max("})
    EXPECT_NE(all.find(name), std::string::npos) << all;
  EXPECT_EQ(languageReferenceOf("tl.nothing"), "");
}

} // namespace
} // namespace kiln
