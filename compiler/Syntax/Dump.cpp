// The tree as text. A statement is a line, its parts are lines below it, two columns in; an
// expression is an S-expression within its line. Nothing depends on addresses or positions.
#include "compiler/Syntax/Dump.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>

namespace kiln {

using namespace ast;

namespace {
class Dumper {
public:
  explicit Dumper(llvm::raw_ostream &out) : out(out) {}

  void print(const Node &node);

private:
  // One function for each kind of node: a missing one does not compile.
#define KILN_EXPR(NAME) void visit(const NAME &node);
#define KILN_STMT(NAME) void visit(const NAME &node);
#define KILN_PATTERN(NAME) void visit(const NAME &node);
#include "compiler/Syntax/Nodes.def"

  // Lines.
  llvm::raw_ostream &line() { return out.indent(indentation); }
  void printBlock(llvm::StringRef title, Block block);
  void printLoopBlocks(Block body, Block orElse);
  void printDefinition(llvm::StringRef keyword, Identifier name, ExprList decorators,
                       llvm::ArrayRef<TypeParameter> typeParameters);
  void printParameterLines(ParameterList parameters);
  void printImportedNames(llvm::ArrayRef<ImportedName> names);

  /// One line: the words and expressions given, absent expressions as '_'.
  template <typename... Parts> void printLine(const Parts &...parts) {
    line();
    printParts(parts...);
    out << '\n';
  }
  template <typename First, typename... Rest>
  void printParts(const First &first, const Rest &...rest) {
    printPart(first);
    ((out << ' ', printPart(rest)), ...);
  }
  void printPart(const char *text) { out << text; }
  void printPart(llvm::StringRef text) { out << text; }
  void printPart(const std::string &text) { out << text; }
  void printPart(const Node *node) { printOrBlank(node); }

  // Expressions.
  template <typename... Parts> void printForm(const Parts &...parts) {
    out << '(';
    printParts(parts...);
    out << ')';
  }
  void printOrBlank(const Node *node) {
    if (node)
      print(*node);
    else
      out << '_';
  }
  void printList(llvm::StringRef name, ExprList elements);
  void printArguments(ArgumentList arguments);
  void printParameter(const Parameter &parameter);
  void printQuoted(llvm::StringRef text);
  void printFloat(double value);

  void printPatterns(llvm::StringRef name, PatternList patterns);

  llvm::raw_ostream &out;
  unsigned indentation = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Dumper::printBlock(llvm::StringRef title, Block block) {
  if (block.empty())
    return;
  line() << title << '\n';
  indentation += 2;
  for (const Stmt *stmt : block)
    print(*stmt);
  indentation -= 2;
}

void Dumper::printDefinition(llvm::StringRef keyword, Identifier name, ExprList decorators,
                             llvm::ArrayRef<TypeParameter> typeParameters) {
  line() << keyword << ' ' << name.name << '\n';
  indentation += 2;
  for (const Expr *decorator : decorators)
    printLine("decorator", decorator);
  for (const TypeParameter &parameter : typeParameters) {
    std::string shown = std::string(parameter.stars, '*') + parameter.name.name.str();
    printLine("type-parameter", shown, parameter.bound, parameter.defaultValue);
  }
}

void Dumper::printParameterLines(ParameterList parameters) {
  for (const Parameter &parameter : parameters) {
    line() << "parameter ";
    printParameter(parameter);
    out << '\n';
  }
}

void Dumper::visit(const FunctionDef &function) {
  printDefinition(function.isAsync ? "async def" : "def", function.name, function.decorators,
                  function.typeParameters);
  printParameterLines(function.parameters);
  if (function.returns)
    printLine("returns", function.returns);
  printBlock("body", function.body);
  indentation -= 2;
}

void Dumper::visit(const ClassDef &cls) {
  printDefinition("class", cls.name, cls.decorators, cls.typeParameters);
  if (!cls.arguments.empty()) {
    line() << "bases";
    printArguments(cls.arguments);
    out << '\n';
  }
  printBlock("body", cls.body);
  indentation -= 2;
}

void Dumper::visit(const TryStmt &stmt) {
  printLine(stmt.isStar ? "try*" : "try");
  indentation += 2;
  printBlock("body", stmt.body);
  for (const ExceptHandler &handler : stmt.handlers) {
    llvm::StringRef name = handler.name.empty() ? "_" : handler.name.name;
    printLine("except", handler.type, name);
    indentation += 2;
    printBlock("body", handler.body);
    indentation -= 2;
  }
  printBlock("else", stmt.orElse);
  printBlock("finally", stmt.finalBody);
  indentation -= 2;
}

void Dumper::visit(const MatchStmt &stmt) {
  printLine("match", stmt.subject);
  indentation += 2;
  for (const MatchCase &oneCase : stmt.cases) {
    line() << "case ";
    print(*oneCase.pattern);
    out << ' ';
    printOrBlank(oneCase.guard);
    out << '\n';
    indentation += 2;
    printBlock("body", oneCase.body);
    indentation -= 2;
  }
  indentation -= 2;
}

void Dumper::visit(const WithStmt &stmt) {
  printLine(stmt.isAsync ? "async with" : "with");
  indentation += 2;
  for (const WithItem &item : stmt.items)
    printLine("item", item.context, item.target);
  printBlock("body", stmt.body);
  indentation -= 2;
}

void Dumper::printImportedNames(llvm::ArrayRef<ImportedName> names) {
  for (const ImportedName &name : names) {
    out << ' ' << name.name.name;
    if (!name.alias.empty())
      out << " as " << name.alias.name;
  }
  out << '\n';
}

/// The names of a `global` or `nonlocal` statement.
static std::string join(llvm::ArrayRef<Identifier> names) {
  return llvm::join(llvm::map_range(names, [](const Identifier &name) { return name.name; }), " ");
}

void Dumper::printLoopBlocks(Block body, Block orElse) {
  indentation += 2;
  printBlock("body", body);
  printBlock("else", orElse);
  indentation -= 2;
}

void Dumper::visit(const ReturnStmt &stmt) { printLine("return", stmt.value); }

void Dumper::visit(const DeleteStmt &stmt) {
  line() << "del ";
  printList("targets", stmt.targets);
  out << '\n';
}

void Dumper::visit(const AssignStmt &stmt) {
  line() << "= ";
  for (const Expr *target : stmt.targets) {
    print(*target);
    out << ' ';
  }
  print(*stmt.value);
  out << '\n';
}

void Dumper::visit(const AugAssignStmt &stmt) {
  printLine((getSpelling(stmt.op) + "=").str(), stmt.target, stmt.value);
}

void Dumper::visit(const AnnAssignStmt &stmt) {
  printLine("annotate", stmt.target, stmt.annotation, stmt.value);
}

void Dumper::visit(const ForStmt &stmt) {
  printLine(stmt.isAsync ? "async for" : "for", stmt.target, stmt.iterable);
  printLoopBlocks(stmt.body, stmt.orElse);
}

void Dumper::visit(const WhileStmt &stmt) {
  printLine("while", stmt.test);
  printLoopBlocks(stmt.body, stmt.orElse);
}

void Dumper::visit(const IfStmt &stmt) {
  printLine(stmt.isElif ? "elif" : "if", stmt.test);
  printLoopBlocks(stmt.body, stmt.orElse);
}

void Dumper::visit(const RaiseStmt &stmt) { printLine("raise", stmt.exception, stmt.cause); }
void Dumper::visit(const AssertStmt &stmt) { printLine("assert", stmt.test, stmt.message); }

void Dumper::visit(const ImportStmt &stmt) {
  line() << "import";
  printImportedNames(stmt.names);
}

void Dumper::visit(const ImportFromStmt &stmt) {
  line() << "from " << std::string(stmt.level, '.') << stmt.module.name << " import";
  printImportedNames(stmt.names);
}

void Dumper::visit(const GlobalStmt &stmt) { printLine("global", join(stmt.names)); }
void Dumper::visit(const NonlocalStmt &stmt) { printLine("nonlocal", join(stmt.names)); }

void Dumper::visit(const TypeAliasStmt &stmt) {
  printDefinition("type", stmt.name, {}, stmt.typeParameters);
  printLine("value", stmt.value);
  indentation -= 2;
}

void Dumper::visit(const ExprStmt &stmt) { printLine("expr", stmt.value); }
void Dumper::visit(const PassStmt &) { printLine("pass"); }
void Dumper::visit(const BreakStmt &) { printLine("break"); }
void Dumper::visit(const ContinueStmt &) { printLine("continue"); }

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void Dumper::printQuoted(llvm::StringRef text) {
  out << '"';
  out.write_escaped(text, /*UseHexEscapes=*/true);
  out << '"';
}

/// The shortest decimal that reads back as the value. `inf` would be a name.
void Dumper::printFloat(double value) {
  if (std::isinf(value)) {
    out << "1e999";
    return;
  }
  char buffer[32];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  llvm::StringRef text(buffer, result.ptr - buffer);
  out << text;
  if (text.find_first_of(".e") == llvm::StringRef::npos)
    out << ".0";
}

void Dumper::visit(const NameExpr &expr) { out << expr.name; }
void Dumper::visit(const NoneLiteral &) { out << "None"; }
void Dumper::visit(const BoolLiteral &expr) { out << (expr.value ? "True" : "False"); }
void Dumper::visit(const EllipsisLiteral &) { out << "..."; }

void Dumper::visit(const IntLiteral &expr) {
  llvm::SmallString<32> digits;
  expr.getValue().toStringUnsigned(digits);
  out << digits;
}

void Dumper::visit(const FloatLiteral &expr) { printFloat(expr.value); }

void Dumper::visit(const ImaginaryLiteral &expr) {
  printFloat(expr.value);
  out << 'j';
}

void Dumper::visit(const StringLiteral &expr) { printQuoted(expr.value); }

void Dumper::visit(const BytesLiteral &expr) {
  out << 'b';
  printQuoted(expr.value);
}

void Dumper::printList(llvm::StringRef name, ExprList elements) {
  out << '(' << name;
  for (const Expr *element : elements) {
    out << ' ';
    print(*element);
  }
  out << ')';
}

void Dumper::printArguments(ArgumentList arguments) {
  for (const Argument &argument : arguments) {
    out << ' ';
    if (argument.kind == ArgumentKind::Keyword)
      out << argument.name.name << '=';
    else if (argument.kind == ArgumentKind::Star)
      out << '*';
    else if (argument.kind == ArgumentKind::DoubleStar)
      out << "**";
    print(*argument.value);
  }
}

void Dumper::printParameter(const Parameter &parameter) {
  static constexpr llvm::StringLiteral kinds[] = {"(positional ", "(", "(* ", "(keyword ", "(** "};
  out << kinds[static_cast<size_t>(parameter.kind)] << parameter.name.name;
  if (parameter.annotation) {
    out << " : ";
    print(*parameter.annotation);
  }
  if (parameter.defaultValue) {
    out << " = ";
    print(*parameter.defaultValue);
  }
  out << ')';
}

void Dumper::visit(const ComprehensionExpr &expr) {
  static constexpr llvm::StringLiteral forms[] = {"list-of", "set-of", "dict-of", "generate"};
  out << '(' << forms[static_cast<size_t>(expr.form)] << ' ';
  print(*expr.element);
  if (expr.value) {
    out << ' ';
    print(*expr.value);
  }
  for (const ComprehensionClause &clause : expr.clauses) {
    out << (clause.isAsync ? " (async-for " : " (for ");
    printParts(clause.target, clause.iterable);
    for (const Expr *condition : clause.conditions) {
      out << " if ";
      print(*condition);
    }
    out << ')';
  }
  out << ')';
}

void Dumper::visit(const FormattedString &expr) {
  out << "(format";
  for (const Expr *part : expr.parts) {
    out << ' ';
    print(*part);
  }
  out << ')';
}

void Dumper::visit(const FormattedValue &field) {
  out << "(field ";
  print(*field.value);
  if (field.conversion)
    out << " !" << field.conversion;
  if (field.formatSpec) {
    out << " : ";
    print(*field.formatSpec);
  }
  out << ')';
}

void Dumper::visit(const ListExpr &expr) { printList("list", expr.elements); }
void Dumper::visit(const TupleExpr &expr) { printList("tuple", expr.elements); }
void Dumper::visit(const SetExpr &expr) { printList("set", expr.elements); }

void Dumper::visit(const DictExpr &expr) {
  out << "(dict";
  for (const DictItem &item : expr.items) {
    out << ' ';
    if (item.key)
      printForm(item.key, item.value);
    else
      printForm("**", item.value);
  }
  out << ')';
}

void Dumper::visit(const UnaryExpr &expr) { printForm(getSpelling(expr.op), expr.operand); }

void Dumper::visit(const BinaryExpr &expr) {
  printForm(getSpelling(expr.op), expr.left, expr.right);
}

void Dumper::visit(const BoolExpr &expr) { printList(expr.isAnd ? "and" : "or", expr.operands); }

void Dumper::visit(const CompareExpr &expr) {
  out << "(compare ";
  print(*expr.left);
  for (const Comparison &comparison : expr.comparisons) {
    out << ' ' << getSpelling(comparison.op) << ' ';
    print(*comparison.right);
  }
  out << ')';
}

void Dumper::visit(const ConditionalExpr &expr) {
  printForm("if", expr.test, expr.body, expr.orElse);
}

void Dumper::visit(const LambdaExpr &expr) {
  out << "(lambda (";
  llvm::interleave(
      expr.parameters, out, [&](const Parameter &parameter) { printParameter(parameter); }, " ");
  out << ") ";
  print(*expr.body);
  out << ')';
}

void Dumper::visit(const CallExpr &expr) {
  out << "(call ";
  print(*expr.callee);
  printArguments(expr.arguments);
  out << ')';
}

void Dumper::visit(const AttributeExpr &expr) { printForm(".", expr.base, expr.attribute.name); }
void Dumper::visit(const SubscriptExpr &expr) { printForm("[]", expr.base, expr.index); }

void Dumper::visit(const SliceExpr &expr) { printForm("slice", expr.lower, expr.upper, expr.step); }

void Dumper::visit(const StarredExpr &expr) { printForm("star", expr.value); }
void Dumper::visit(const NamedExpr &expr) { printForm(":=", expr.target, expr.value); }
void Dumper::visit(const YieldExpr &expr) { printForm("yield", expr.value); }
void Dumper::visit(const YieldFromExpr &expr) { printForm("yield-from", expr.value); }
void Dumper::visit(const AwaitExpr &expr) { printForm("await", expr.value); }

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static llvm::StringRef orBlank(llvm::StringRef name) { return name.empty() ? "_" : name; }

void Dumper::printPatterns(llvm::StringRef name, PatternList patterns) {
  out << '(' << name;
  for (const Pattern *pattern : patterns) {
    out << ' ';
    print(*pattern);
  }
  out << ')';
}

void Dumper::visit(const ValuePattern &pattern) { printForm("value", pattern.value); }
void Dumper::visit(const CapturePattern &pattern) { printForm("capture", orBlank(pattern.name)); }
void Dumper::visit(const StarPattern &pattern) { printForm("star", orBlank(pattern.name)); }
void Dumper::visit(const SequencePattern &pattern) { printPatterns("sequence", pattern.elements); }
void Dumper::visit(const OrPattern &pattern) { printPatterns("or", pattern.alternatives); }

void Dumper::visit(const AsPattern &pattern) {
  printForm("as", pattern.pattern, pattern.name.name);
}

void Dumper::visit(const MappingPattern &pattern) {
  out << "(mapping";
  for (auto [key, value] : llvm::zip_equal(pattern.keys, pattern.values)) {
    out << ' ';
    printForm(key, value);
  }
  if (!pattern.rest.empty())
    out << " **" << pattern.rest.name;
  out << ')';
}

void Dumper::visit(const ClassPattern &pattern) {
  out << "(class ";
  print(*pattern.cls);
  for (const Pattern *argument : pattern.positional) {
    out << ' ';
    print(*argument);
  }
  for (auto [keyword, argument] : llvm::zip_equal(pattern.keywords, pattern.keywordPatterns)) {
    out << ' ' << keyword.name << '=';
    print(*argument);
  }
  out << ')';
}

void Dumper::print(const Node &node) {
  switch (node.kind) {
#define KILN_EXPR(NAME)                                                                            \
  case NodeKind::NAME:                                                                             \
    return visit(llvm::cast<NAME>(node));
#define KILN_STMT(NAME) KILN_EXPR(NAME)
#define KILN_PATTERN(NAME) KILN_EXPR(NAME)
#include "compiler/Syntax/Nodes.def"
  }
}

void dump(const Module &module, llvm::raw_ostream &out) {
  for (const Stmt *stmt : module.getBody())
    dump(*stmt, out);
}

void dump(const Stmt &stmt, llvm::raw_ostream &out) { Dumper(out).print(stmt); }

void dump(const Expr &expr, llvm::raw_ostream &out) { Dumper(out).print(expr); }

} // namespace kiln
