#include "codegen/Signature.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>

namespace kiln::test {
namespace {

std::string errorOf(llvm::StringRef text) {
  TextError error;
  EXPECT_FALSE(parseArgumentType(text, error)) << text.str();
  return error.message + "|" + error.hint;
}

TEST(Signature, TypesPrintAsTheyWereWritten) {
  for (const char *text :
       {"*fp16:16", "i32", "i32:1", "i64:8", "i32:16", "*kfp32", "**i8", "fp32", "u8", "i1",
        "*bf16:8", "fp8e4b15", "tensordesc<fp16>[128,64]", "tensordesc<bf16>[BLOCK_M,64]:nan"})
    EXPECT_EQ(type(text).spelling(), text);
}

TEST(Signature, SynonymsMeanTheSame) {
  EXPECT_EQ(type("f32").spelling(), "fp32");
  EXPECT_EQ(type("*float16:16").spelling(), "*fp16:16");
  EXPECT_EQ(type("f64").spelling(), "fp64");
  EXPECT_EQ(type("*int32").spelling(), "*i32");
  EXPECT_EQ(type("tensordesc<fp16[128, 64]>").spelling(), "tensordesc<fp16>[128,64]");
}

TEST(Signature, CTypesHaveTheSizeOfTheKernelsParameter) {
  struct Expected {
    const char *type, *cType;
    unsigned bytes;
  };
  for (auto [text, cType, bytes] : {Expected{"i1", "bool", 1},
                                    {"i8", "int8_t", 1},
                                    {"u16", "uint16_t", 2},
                                    {"i32:1", "int32_t", 4},
                                    {"u64", "uint64_t", 8},
                                    {"fp16", "kiln_fp16", 2},
                                    {"bf16", "kiln_bf16", 2},
                                    {"fp8e5", "kiln_fp8", 1},
                                    {"fp32", "float", 4},
                                    {"fp64", "double", 8},
                                    {"*fp16:16", "void *", 8},
                                    {"*kfp16", "const void *", 8},
                                    {"**i32", "void *", 8}}) {
    EXPECT_EQ(type(text).cType(), cType);
    EXPECT_EQ(type(text).bytes(), bytes) << text;
  }
}

TEST(Signature, HintsAreFacts) {
  EXPECT_EQ(type("*fp16:16").divisibility, 16u);
  EXPECT_EQ(type("i32:8").divisibility, 8u);
  EXPECT_TRUE(type("i32:1").equalsOne);
  EXPECT_EQ(type("i32:1").divisibility, 1u);
  EXPECT_TRUE(type("*fp16:16").sameCType(type("*fp16")));
  EXPECT_FALSE(type("*fp16").sameCType(type("*bf16")));
}

TEST(Signature, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(errorOf("*fp166"), "expected an element type, got 'fp166'|did you mean 'fp16'?");
  EXPECT_EQ(errorOf("i32:7"), "expected the hint :1, :8 or :16, got ':7'|:8 and :16 promise "
                              "divisibility, :1 promises that the value is 1");
  EXPECT_EQ(errorOf("*fp16:1").substr(0, 37), "expected the hint :8 or :16, got ':1'");
  EXPECT_EQ(errorOf("fp32:16"), "expected no ':' hint on a floating-point scalar|");
  EXPECT_EQ(errorOf("***i32"), "expected at most a pointer to pointers|");
  EXPECT_EQ(errorOf("i32 x"), "expected the end of the type|");
  const char *extents = "expected one to five block extents, each from 1 to 1048576 or the name of "
                        "a compile-time parameter|";
  EXPECT_EQ(errorOf("tensordesc<fp16>[0]"), extents);
  EXPECT_EQ(errorOf("tensordesc<fp16>[8,]"), extents);
  EXPECT_EQ(errorOf("tensordesc<fp16>[8,8,8,8,8,8]"), extents);
  EXPECT_EQ(errorOf("tensordesc<fp16>[12x]"), extents);
  EXPECT_EQ(errorOf("tensordesc<fp16>128"),
            "expected '[' and the block shape|for example tensordesc<fp16>[128, 64]");
  EXPECT_EQ(errorOf("tensordesc<fp16[8]"), "expected '>' after the block shape|");
  EXPECT_EQ(errorOf("tensordesc<i32>[8]:nan"),
            "expected a floating-point element type before :nan|");
  EXPECT_EQ(
      errorOf("tensordesc<fp16>[8]:16"),
      "expected the hint :nan|elements outside of the tensor load as NaN; without it as zero");
}

TEST(Signature, LiteralsPrintAsPython) {
  EXPECT_EQ(parseLiteral("1024")->str(), "1024");
  EXPECT_EQ(parseLiteral("-3")->str(), "-3");
  EXPECT_EQ(parseLiteral("True")->str(), "True");
  EXPECT_EQ(parseLiteral("None")->str(), "None");
  EXPECT_EQ(parseLiteral("1e-5")->str(), "1e-05");
  EXPECT_EQ(parseLiteral("2.0")->str(), "2.0");
  EXPECT_EQ(parseLiteral("'relu'")->str(), "'relu'");
  EXPECT_FALSE(parseLiteral("relu"));
  EXPECT_FALSE(parseLiteral("inf"));
  EXPECT_FALSE(parseLiteral("99999999999999999999999999999999999999999999999999999999999999999"));
  EXPECT_EQ(Literal::ofTuple({Literal::ofInt(1)}).str(), "(1,)");
  EXPECT_EQ(Literal::ofFloat(0.1).str(), "0.1");
  EXPECT_EQ(Literal::ofDType("fp16").str(), "fp16");
}

TEST(Signature, TextIsATypeOrAStringAsTheParameterSays) {
  SignatureValue value = parseSignatureValue("fp32");
  auto asType = value.resolve(/*isConstexpr=*/false), asLiteral = value.resolve(true);
  ASSERT_TRUE(bool(asType) && bool(asLiteral));
  EXPECT_EQ(asType->asType->spelling(), "fp32");
  EXPECT_EQ(asLiteral->asLiteral->str(), "'fp32'");
  // A string that is no type stays one, even where the parameter is not annotated.
  auto name = parseSignatureValue("relu").resolve(false);
  ASSERT_TRUE(bool(name));
  EXPECT_EQ(name->asLiteral->str(), "'relu'");
  // A misspelt type does not become a string.
  auto misspelt = parseSignatureValue("fp166").resolve(false);
  ASSERT_FALSE(bool(misspelt));
  EXPECT_EQ(llvm::toString(misspelt.takeError()),
            "expected an element type, got 'fp166'; did you mean 'fp16'?");
}

TEST(Signature, IntegersThatAreTooLargeAreNoFloats) {
  EXPECT_EQ(parseLiteral("+5")->str(), "5");
  EXPECT_EQ(parseLiteral("-9223372036854775808")->str(), "-9223372036854775808");
  EXPECT_FALSE(parseLiteral("9223372036854775808"));
  for (bool isConstexpr : {false, true}) {
    auto value = parseSignatureValue("18446744073709551615").resolve(isConstexpr);
    ASSERT_FALSE(bool(value));
    EXPECT_EQ(llvm::toString(value.takeError()),
              "expected a 64-bit signed integer, got '18446744073709551615'");
  }
}

TEST(Signature, CommaLists) {
  TextError error;
  auto values =
      parseSignatureList("*fp32:16, i32:1, 1024, 'a,b', tensordesc<fp16>[8, 8], fp32", error);
  ASSERT_TRUE(values);
  ASSERT_EQ(values->size(), 6u);
  EXPECT_EQ((*values)[0].asType->spelling(), "*fp32:16");
  EXPECT_EQ((*values)[2].asLiteral->str(), "1024");
  EXPECT_EQ((*values)[3].asLiteral->str(), "'a,b'");
  EXPECT_EQ((*values)[4].asType->spelling(), "tensordesc<fp16>[8,8]");
  EXPECT_TRUE(parseSignatureList("", error)->empty());
  EXPECT_EQ(parseSignatureList("i32,", error)->size(), 1u);
  EXPECT_FALSE(parseSignatureList("i32,,i32", error));
  EXPECT_EQ(error.begin, 4u);
  EXPECT_FALSE(parseSignatureList("'a", error));
  EXPECT_FALSE(parseSignatureList("tensordesc<fp16>[8", error));
}

TEST(Signature, ItemsInParenthesesAreTuples) {
  TextError error;
  auto values = parseSignatureList("(*fp32, (i32, 4)), (1, 2), (fp32, 'a')", error);
  ASSERT_TRUE(values);
  ASSERT_EQ(values->size(), 3u);
  ASSERT_EQ((*values)[0].elements.size(), 2u);
  EXPECT_EQ((*values)[0].elements[1].elements[0].asType->spelling(), "i32");
  EXPECT_EQ((*values)[1].asLiteral->str(), "(1, 2)");
  // For a constexpr, the text of a type is a string, so that the tuple is a constant.
  auto constant = (*values)[2].resolve(/*isConstexpr=*/true);
  ASSERT_TRUE(bool(constant));
  EXPECT_EQ(constant->asLiteral->str(), "('fp32', 'a')");
  EXPECT_FALSE(parseSignatureList("(i32,,i32)", error));
}

} // namespace
} // namespace kiln::test
