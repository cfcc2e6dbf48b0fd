#include "tests/compiler/Syntax/CheckParse.h"

#include "compiler/Syntax/Dump.h"
#include "compiler/Syntax/Lexer.h"
#include "compiler/Syntax/Parser.h"
#include "compiler/Syntax/Walk.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace kiln {

static void require(bool condition, llvm::StringRef what) {
  if (condition)
    return;
  llvm::errs() << "invariant broken: " << what << '\n';
  std::abort();
}

static void checkTokens(const SourceFile &file) {
  DiagnosticEngine diags;
  TokenList list = tokenize(file, diags);
  int level = 0;
  uint32_t position = 0;
  for (const Token &token : list.tokens) {
    // Recovery from an unclosed bracket goes back to the start of a line.
    bool isOrdered = token.begin <= token.end && (token.begin >= position || diags.hasErrors());
    require(isOrdered, "tokens are in order");
    require(token.end <= file.getContents().size(), "tokens end in the file");
    position = token.end;
    level += token.kind == TokenKind::Indent ? 1 : token.kind == TokenKind::Dedent ? -1 : 0;
    require(level >= 0, "no dedent without indent");
  }
  require(level == 0, "indents and dedents are balanced");
  require(list.tokens.back().kind == TokenKind::EndOfFile, "tokens end with the file");
}

static void checkNode(const ast::Node &node, unsigned level) {
  require(level + node.depth <= ast::maxTreeDepth + 1, "the tree is not too deep");
  require(node.range.isValid() && node.range.begin <= node.range.end, "ranges are valid");
  forEachChild(node, [&](const ast::Node &child) {
    require(child.depth < node.depth, "a child is less deep than its parent");
    require(child.range.begin >= node.range.begin && child.range.end <= node.range.end,
            "a child lies in its parent");
    checkNode(child, level + 1);
  });
}

static void checkModule(const ast::Module &module, const DiagnosticEngine &diags,
                        const SourceManager &sources) {
  require(module.hasErrors() == diags.hasErrors(), "errors are reported, and only errors");
  for (const ast::Stmt *stmt : module.getBody())
    checkNode(*stmt, 1);
  std::string ignored;
  llvm::raw_string_ostream out(ignored);
  dump(module, out);
  diags.print(out, sources);
}

void checkParse(llvm::StringRef text) {
  SourceManager sources;
  const SourceFile &file = sources.add("input.py", text);
  checkTokens(file);
  DiagnosticEngine moduleDiags, expressionDiags;
  checkModule(*parseModule(file, moduleDiags), moduleDiags, sources);
  checkModule(*parseExpression(file, expressionDiags), expressionDiags, sources);
}

} // namespace kiln
