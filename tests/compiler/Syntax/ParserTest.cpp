// Trees, ranges and recovery, where golden files would not show the point.
#include "compiler/Syntax/Parser.h"

#include "compiler/Syntax/Dump.h"
#include "compiler/Syntax/Walk.h"
#include "tests/compiler/Syntax/GoldenFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using namespace ast;

class ParserTest : public testing::Test {
protected:
  const Module &parse(llvm::StringRef text) {
    diags.clear();
    module = parseModule(sources.add("t.py", text), diags);
    return *module;
  }
  /// The expression that the text is, dumped; "" after an error.
  std::string parseExpr(llvm::StringRef text) {
    diags.clear();
    module = parseExpression(sources.add("t.py", text), diags);
    return module->getBody().empty() ? "" : show(getExpr());
  }
  const Expr &getExpr() { return *llvm::cast<ExprStmt>(module->getBody()[0])->value; }
  std::string show(const Expr &expr) {
    std::string text;
    llvm::raw_string_ostream out(text);
    dump(expr, out);
    return text;
  }
  std::string getErrors() {
    std::string text;
    llvm::raw_string_ostream out(text);
    diags.print(out, sources);
    return text;
  }
  llvm::StringRef getText(SourceRange range) { return sources.get(range.file).getText(range); }

  SourceManager sources;
  DiagnosticEngine diags;
  std::unique_ptr<Module> module;
};

TEST_F(ParserTest, BindsAsPythonDoes) {
  EXPECT_EQ(parseExpr("-a ** -b"), "(- (** a (- b)))");
  EXPECT_EQ(parseExpr("a ** b ** c"), "(** a (** b c))");
  EXPECT_EQ(parseExpr("not a == b"), "(not (compare a == b))");
  EXPECT_EQ(parseExpr("a < b < c"), "(compare a < b < c)");
  EXPECT_EQ(parseExpr("(a < b) < c"), "(compare (compare a < b) < c)");
  EXPECT_EQ(parseExpr("a if b else c if d else e"), "(if b a (if d c e))");
  EXPECT_EQ(parseExpr("a & b == c"), "(compare (& a b) == c)");
  EXPECT_EQ(parseExpr("a + b << c * d | e"), "(| (<< (+ a b) (* c d)) e)");
  EXPECT_EQ(parseExpr("lambda: a, b"), "(tuple (lambda () a) b)");
  EXPECT_EQ(parseExpr("await a ** b"), "(** (await a) b)");
}

TEST_F(ParserTest, ParsesALoneExpression) {
  EXPECT_EQ(parseExpr("  cdiv(M, BLOCK_M)\n"), "(call cdiv M BLOCK_M)");
  EXPECT_EQ(parseExpr("a b"), "");
  EXPECT_EQ(parseExpr("a\nb"), "");
  EXPECT_EQ(parseExpr("x = 1"), "");
  EXPECT_EQ(parseExpr(""), "");
  EXPECT_TRUE(diags.hasErrors());
}

TEST_F(ParserTest, KeepsPlacesForDiagnostics) {
  parseExpr("(left) + right");
  const auto &sum = llvm::cast<BinaryExpr>(getExpr());
  EXPECT_EQ(getText(sum.range), "(left) + right");
  EXPECT_EQ(getText(sum.opRange), "+");
  EXPECT_EQ(getText(sum.left->range), "left");
  EXPECT_TRUE(sum.left->parenthesized);

  parseExpr("(f)(a, *b, key=c)");
  const auto &call = llvm::cast<CallExpr>(getExpr());
  EXPECT_EQ(getText(call.range), "(f)(a, *b, key=c)");
  EXPECT_EQ(getText(call.parens), "(a, *b, key=c)");
  EXPECT_EQ(getText(call.arguments[1].range), "*b");
  EXPECT_EQ(getText(call.arguments[2].range), "key=c");
  EXPECT_EQ(getText(call.arguments[2].name.range), "key");

  parseExpr("a is  not b");
  EXPECT_EQ(getText(llvm::cast<CompareExpr>(getExpr()).comparisons[0].opRange), "is  not");
  parseExpr("x.attr[i]");
  const auto &subscript = llvm::cast<SubscriptExpr>(getExpr());
  EXPECT_EQ(getText(subscript.brackets), "[i]");
  EXPECT_EQ(getText(llvm::cast<AttributeExpr>(subscript.base)->attribute.range), "attr");
}

TEST_F(ParserTest, FunctionRangesHoldDecoratorsAndBody) {
  const Module &module = parse("@jit\ndef f(a, b: int = 1) -> x:\n    return a\n\ny = 1\n");
  const auto &function = llvm::cast<FunctionDef>(*module.getBody()[0]);
  EXPECT_EQ(getText(function.range), "@jit\ndef f(a, b: int = 1) -> x:\n    return a");
  EXPECT_EQ(getText(function.signatureRange), "def f(a, b: int = 1) -> x");
  EXPECT_EQ(getText(function.parameters[1].range), "b: int = 1");
  EXPECT_EQ(getText(function.name.range), "f");
}

TEST_F(ParserTest, ParameterKindsFollowTheMarks) {
  const Module &module = parse("def f(a, /, b, *c, d, **e): pass\n");
  std::vector<ParameterKind> kinds;
  for (const Parameter &parameter : llvm::cast<FunctionDef>(*module.getBody()[0]).parameters)
    kinds.push_back(parameter.kind);
  EXPECT_EQ(kinds, (std::vector{ParameterKind::PositionalOnly, ParameterKind::Normal,
                                ParameterKind::VarArgs, ParameterKind::KeywordOnly,
                                ParameterKind::VarKeywords}));
}

TEST_F(ParserTest, IntegersKeepTheirSize) {
  parseExpr("0xffff_ffff_ffff_ffff");
  EXPECT_EQ(llvm::cast<IntLiteral>(getExpr()).getUInt64(), UINT64_MAX);
  parseExpr("0x1_0000_0000_0000_0000");
  EXPECT_EQ(llvm::cast<IntLiteral>(getExpr()).getUInt64(), std::nullopt);
  EXPECT_EQ(llvm::cast<IntLiteral>(getExpr()).getValue().getActiveBits(), 65u);
}

/// Whatever an expression's range covers parses to the same expression again.
TEST_F(ParserTest, RangesCoverTheirExpressions) {
  unsigned numChecked = 0;
  for (const GoldenInput &input : listGoldenInputs()) {
    if (llvm::StringRef(input.name).starts_with("errors_"))
      continue;
    DiagnosticEngine ignored;
    auto whole = parseModule(sources.add(input.name, input.text), ignored);
    auto check = [&](const Node &node) {
      if (llvm::isa<FormattedString>(node)) // Its literal parts are no expressions.
        return false;
      const auto *expr = llvm::dyn_cast<Expr>(&node);
      if (!expr || llvm::isa<SliceExpr, StarredExpr>(expr))
        return true;
      std::string again = parseExpr(("(" + getText(expr->range) + "\n)").str());
      bool hasSlices = again.empty() && llvm::isa<TupleExpr>(expr);
      if (!hasSlices) {
        EXPECT_EQ(again, show(*expr)) << input.name << ": " << getText(expr->range).str();
        ++numChecked;
      }
      return true;
    };
    for (const Stmt *stmt : whole->getBody())
      walk(*stmt, check);
  }
  EXPECT_GT(numChecked, 500u);
}

TEST_F(ParserTest, WalkStopsWhereToldTo) {
  const Module &module = parse("def f():\n  x = lambda: y\nz = 1\n");
  std::vector<std::string> names;
  for (const Stmt *stmt : module.getBody())
    walk(*stmt, [&](const Node &node) {
      if (const auto *name = llvm::dyn_cast<NameExpr>(&node))
        names.push_back(name->name.str());
      return !llvm::isa<LambdaExpr>(node);
    });
  EXPECT_EQ(names, (std::vector<std::string>{"x", "z"}));
}

TEST_F(ParserTest, KeepsTheGoodStatements) {
  const Module &module = parse("a = 1\nb = = 2\nif c:\n  d = (\n  e = 1\nf = 2\n");
  EXPECT_TRUE(module.hasErrors());
  ASSERT_GE(module.getBody().size(), 1u);
  EXPECT_EQ(getText(module.getBody()[0]->range), "a = 1");
}

TEST_F(ParserTest, ReportsSeveralErrorsInSourceOrder) {
  parse("x = (1\ndef f(:\n  y = 'open\n  z = 1 +\nw = 2 $ 3\n");
  uint32_t last = 0;
  for (const Diagnostic &diagnostic : diags.getDiagnostics()) {
    EXPECT_GE(diagnostic.place.range.begin, last);
    last = diagnostic.place.range.begin;
  }
  EXPECT_EQ(diags.getNumErrors(), 5u) << getErrors();
}

TEST_F(ParserTest, RefusesWhatIsNotUtf8) {
  parse("x = 1\ny = '\xE9'\n");
  EXPECT_EQ(getErrors(), "t.py:2:6: error: byte 0xE9 is not valid UTF-8 [syntax-not-utf8]\n"
                         "  y = '?'\n"
                         "       ^\n"
                         "hint: save the file as UTF-8\n");
}

TEST_F(ParserTest, RefusesNulCharacters) {
  parse(llvm::StringRef("x = 1\0\n", 7));
  EXPECT_EQ(getErrors(), "t.py:1:6: error: NUL character in source text [syntax-nul-character]\n"
                         "  x = 1?\n"
                         "       ^\n");
}

TEST_F(ParserTest, AcceptsDeepButReasonableCode) {
  parse("x = " + std::string(190, '(') + "1" + std::string(190, ')') + "\n");
  EXPECT_FALSE(module->hasErrors()) << getErrors();
  std::string sum = "1";
  for (int i = 0; i < 900; ++i)
    sum += " + 1";
  parse(sum);
  EXPECT_FALSE(module->hasErrors()) << getErrors();
}

} // namespace
} // namespace kiln
