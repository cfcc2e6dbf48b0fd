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

  void print(const Stmt &stmt);
  void print(const Expr &expr);
  void print(const Pattern &pattern);

private:
  // Lines.
  llvm::raw_ostream &line() { return out.indent(indentation); }
  void printBlock(llvm::StringRef title, Block block);
  void printDefinition(llvm::StringRef keyword, Identifier name, ExprList decorators,
                       llvm::ArrayRef<TypeParameter> typeParameters);
  void printParameterLines(ParameterList parameters);
  void printTry(const TryStmt &stmt);
  void printMatch(const MatchStmt &stmt);
  void printFunction(const FunctionDef &function);
  void printClass(const ClassDef &cls);
  void printWith(const WithStmt &stmt);
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
  void printPart(const Expr *expr) { printOrBlank(expr); }

  // Expressions.
  template <typename... Parts> void printForm(const Parts &...parts) {
    out << '(';
    printParts(parts...);
    out << ')';
  }
  void printOrBlank(const Expr *expr) {
    if (expr)
      print(*expr);
    else
      out << '_';
  }
  void printList(llvm::StringRef name, ExprList elements);
  void printArguments(ArgumentList arguments);
  void printParameter(const Parameter &parameter);
  void printComprehension(const ComprehensionExpr &expr);
  void printFormatted(const FormattedString &expr);
  void printQuoted(llvm::StringRef text);
  void printFloat(double value);
  void printLiteral(const Expr &expr);

  template <typename T> void printPatterns(llvm::StringRef name, llvm::ArrayRef<T> patterns) {
    out << '(' << name;
    for (const Pattern *pattern : patterns) {
      out << ' ';
      print(*pattern);
    }
  }

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

void Dumper::printFunction(const FunctionDef &function) {
  printDefinition(function.isAsync ? "async def" : "def", function.name, function.decorators,
                  function.typeParameters);
  printParameterLines(function.parameters);
  if (function.returns)
    printLine("returns", function.returns);
  printBlock("body", function.body);
  indentation -= 2;
}

void Dumper::printClass(const ClassDef &cls) {
  printDefinition("class", cls.name, cls.decorators, cls.typeParameters);
  if (!cls.arguments.empty()) {
    line() << "bases";
    printArguments(cls.arguments);
    out << '\n';
  }
  printBlock("body", cls.body);
  indentation -= 2;
}

void Dumper::printTry(const TryStmt &stmt) {
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

void Dumper::printMatch(const MatchStmt &stmt) {
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

void Dumper::printWith(const WithStmt &stmt) {
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

void Dumper::print(const Stmt &stmt) {
  auto printLoop = [&](Block body, Block orElse) {
    indentation += 2;
    printBlock("body", body);
    printBlock("else", orElse);
    indentation -= 2;
  };
  switch (stmt.kind) {
  case NodeKind::FunctionDef:
    return printFunction(llvm::cast<FunctionDef>(stmt));
  case NodeKind::ClassDef:
    return printClass(llvm::cast<ClassDef>(stmt));
  case NodeKind::ReturnStmt:
    return printLine("return", llvm::cast<ReturnStmt>(stmt).value);
  case NodeKind::DeleteStmt:
    line() << "del ";
    printList("targets", llvm::cast<DeleteStmt>(stmt).targets);
    out << '\n';
    return;
  case NodeKind::AssignStmt: {
    const auto &assign = llvm::cast<AssignStmt>(stmt);
    line() << "=";
    for (const Expr *target : assign.targets) {
      out << ' ';
      print(*target);
    }
    out << ' ';
    print(*assign.value);
    out << '\n';
    return;
  }
  case NodeKind::AugAssignStmt: {
    const auto &assign = llvm::cast<AugAssignStmt>(stmt);
    return printLine((getSpelling(assign.op) + "=").str(), assign.target, assign.value);
  }
  case NodeKind::AnnAssignStmt: {
    const auto &assign = llvm::cast<AnnAssignStmt>(stmt);
    return printLine("annotate", assign.target, assign.annotation, assign.value);
  }
  case NodeKind::ForStmt: {
    const auto &loop = llvm::cast<ForStmt>(stmt);
    printLine(loop.isAsync ? "async for" : "for", loop.target, loop.iterable);
    return printLoop(loop.body, loop.orElse);
  }
  case NodeKind::WhileStmt: {
    const auto &loop = llvm::cast<WhileStmt>(stmt);
    printLine("while", loop.test);
    return printLoop(loop.body, loop.orElse);
  }
  case NodeKind::IfStmt: {
    const auto &branch = llvm::cast<IfStmt>(stmt);
    printLine(branch.isElif ? "elif" : "if", branch.test);
    return printLoop(branch.body, branch.orElse);
  }
  case NodeKind::WithStmt:
    return printWith(llvm::cast<WithStmt>(stmt));
  case NodeKind::MatchStmt:
    return printMatch(llvm::cast<MatchStmt>(stmt));
  case NodeKind::RaiseStmt:
    return printLine("raise", llvm::cast<RaiseStmt>(stmt).exception,
                     llvm::cast<RaiseStmt>(stmt).cause);
  case NodeKind::TryStmt:
    return printTry(llvm::cast<TryStmt>(stmt));
  case NodeKind::AssertStmt:
    return printLine("assert", llvm::cast<AssertStmt>(stmt).test,
                     llvm::cast<AssertStmt>(stmt).message);
  case NodeKind::ImportStmt:
    line() << "import";
    return printImportedNames(llvm::cast<ImportStmt>(stmt).names);
  case NodeKind::ImportFromStmt: {
    const auto &import = llvm::cast<ImportFromStmt>(stmt);
    line() << "from " << std::string(import.level, '.') << import.module.name << " import";
    return printImportedNames(import.names);
  }
  case NodeKind::GlobalStmt:
    return printLine("global", join(llvm::cast<GlobalStmt>(stmt).names));
  case NodeKind::NonlocalStmt:
    return printLine("nonlocal", join(llvm::cast<NonlocalStmt>(stmt).names));
  case NodeKind::TypeAliasStmt: {
    const auto &alias = llvm::cast<TypeAliasStmt>(stmt);
    printDefinition("type", alias.name, {}, alias.typeParameters);
    printLine("value", alias.value);
    indentation -= 2;
    return;
  }
  case NodeKind::ExprStmt:
    return printLine("expr", llvm::cast<ExprStmt>(stmt).value);
  case NodeKind::PassStmt:
    return printLine("pass");
  case NodeKind::BreakStmt:
    return printLine("break");
  case NodeKind::ContinueStmt:
    return printLine("continue");
  default:
    llvm_unreachable("not a statement");
  }
}

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

void Dumper::printLiteral(const Expr &expr) {
  switch (expr.kind) {
  case NodeKind::NameExpr:
    out << llvm::cast<NameExpr>(expr).name;
    return;
  case NodeKind::NoneLiteral:
    out << "None";
    return;
  case NodeKind::BoolLiteral:
    out << (llvm::cast<BoolLiteral>(expr).value ? "True" : "False");
    return;
  case NodeKind::EllipsisLiteral:
    out << "...";
    return;
  case NodeKind::IntLiteral: {
    llvm::SmallString<32> digits;
    llvm::cast<IntLiteral>(expr).getValue().toStringUnsigned(digits);
    out << digits;
    return;
  }
  case NodeKind::FloatLiteral:
    return printFloat(llvm::cast<FloatLiteral>(expr).value);
  case NodeKind::ImaginaryLiteral:
    printFloat(llvm::cast<ImaginaryLiteral>(expr).value);
    out << 'j';
    return;
  case NodeKind::StringLiteral:
    return printQuoted(llvm::cast<StringLiteral>(expr).value);
  case NodeKind::BytesLiteral:
    out << 'b';
    return printQuoted(llvm::cast<BytesLiteral>(expr).value);
  default:
    llvm_unreachable("not a literal");
  }
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

void Dumper::printComprehension(const ComprehensionExpr &expr) {
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

void Dumper::printFormatted(const FormattedString &expr) {
  out << "(format";
  for (const Expr *part : expr.parts) {
    out << ' ';
    print(*part);
  }
  out << ')';
}

void Dumper::print(const Expr &expr) {
  switch (expr.kind) {
  case NodeKind::FormattedString:
    return printFormatted(llvm::cast<FormattedString>(expr));
  case NodeKind::FormattedValue: {
    const auto &field = llvm::cast<FormattedValue>(expr);
    out << "(field ";
    print(*field.value);
    if (field.conversion)
      out << " !" << field.conversion;
    if (field.formatSpec) {
      out << " : ";
      printFormatted(*field.formatSpec);
    }
    out << ')';
    return;
  }
  case NodeKind::ListExpr:
    return printList("list", llvm::cast<ListExpr>(expr).elements);
  case NodeKind::TupleExpr:
    return printList("tuple", llvm::cast<TupleExpr>(expr).elements);
  case NodeKind::SetExpr:
    return printList("set", llvm::cast<SetExpr>(expr).elements);
  case NodeKind::DictExpr:
    out << "(dict";
    for (const DictItem &item : llvm::cast<DictExpr>(expr).items) {
      out << (item.key ? " (" : " (** ");
      if (item.key) {
        print(*item.key);
        out << ' ';
      }
      print(*item.value);
      out << ')';
    }
    out << ')';
    return;
  case NodeKind::ComprehensionExpr:
    return printComprehension(llvm::cast<ComprehensionExpr>(expr));
  case NodeKind::UnaryExpr:
    return printForm(getSpelling(llvm::cast<UnaryExpr>(expr).op),
                     llvm::cast<UnaryExpr>(expr).operand);
  case NodeKind::BinaryExpr: {
    const auto &binary = llvm::cast<BinaryExpr>(expr);
    return printForm(getSpelling(binary.op), binary.left, binary.right);
  }
  case NodeKind::BoolExpr:
    return printList(llvm::cast<BoolExpr>(expr).isAnd ? "and" : "or",
                     llvm::cast<BoolExpr>(expr).operands);
  case NodeKind::CompareExpr: {
    const auto &compare = llvm::cast<CompareExpr>(expr);
    out << "(compare ";
    print(*compare.left);
    for (const Comparison &comparison : compare.comparisons) {
      out << ' ' << getSpelling(comparison.op) << ' ';
      print(*comparison.right);
    }
    out << ')';
    return;
  }
  case NodeKind::ConditionalExpr: {
    const auto &conditional = llvm::cast<ConditionalExpr>(expr);
    return printForm("if", conditional.test, conditional.body, conditional.orElse);
  }
  case NodeKind::LambdaExpr: {
    const auto &lambda = llvm::cast<LambdaExpr>(expr);
    out << "(lambda (";
    llvm::interleave(
        lambda.parameters, out, [&](const Parameter &parameter) { printParameter(parameter); },
        " ");
    out << ") ";
    print(*lambda.body);
    out << ')';
    return;
  }
  case NodeKind::CallExpr:
    out << "(call ";
    print(*llvm::cast<CallExpr>(expr).callee);
    printArguments(llvm::cast<CallExpr>(expr).arguments);
    out << ')';
    return;
  case NodeKind::AttributeExpr:
    return printForm(".", llvm::cast<AttributeExpr>(expr).base,
                     llvm::cast<AttributeExpr>(expr).attribute.name);
  case NodeKind::SubscriptExpr:
    return printForm("[]", llvm::cast<SubscriptExpr>(expr).base,
                     llvm::cast<SubscriptExpr>(expr).index);
  case NodeKind::SliceExpr: {
    const auto &slice = llvm::cast<SliceExpr>(expr);
    return printForm("slice", slice.lower, slice.upper, slice.step);
  }
  case NodeKind::StarredExpr:
    return printForm("star", llvm::cast<StarredExpr>(expr).value);
  case NodeKind::NamedExpr:
    return printForm(":=", llvm::cast<NamedExpr>(expr).target->name,
                     llvm::cast<NamedExpr>(expr).value);
  case NodeKind::YieldExpr:
    return printForm("yield", llvm::cast<YieldExpr>(expr).value);
  case NodeKind::YieldFromExpr:
    return printForm("yield-from", llvm::cast<YieldFromExpr>(expr).value);
  case NodeKind::AwaitExpr:
    return printForm("await", llvm::cast<AwaitExpr>(expr).value);
  default:
    return printLiteral(expr);
  }
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static llvm::StringRef orBlank(llvm::StringRef name) { return name.empty() ? "_" : name; }

void Dumper::print(const Pattern &pattern) {
  switch (pattern.kind) {
  case NodeKind::ValuePattern:
    return printForm("value", llvm::cast<ValuePattern>(pattern).value);
  case NodeKind::CapturePattern:
    return printForm("capture", orBlank(llvm::cast<CapturePattern>(pattern).name));
  case NodeKind::StarPattern:
    return printForm("star", orBlank(llvm::cast<StarPattern>(pattern).name));
  case NodeKind::SequencePattern:
    printPatterns("sequence", llvm::cast<SequencePattern>(pattern).elements);
    break;
  case NodeKind::OrPattern:
    printPatterns("or", llvm::cast<OrPattern>(pattern).alternatives);
    break;
  case NodeKind::AsPattern: {
    const auto &as = llvm::cast<AsPattern>(pattern);
    out << "(as ";
    print(*as.pattern);
    out << ' ' << as.name.name;
    break;
  }
  case NodeKind::MappingPattern: {
    const auto &mapping = llvm::cast<MappingPattern>(pattern);
    out << "(mapping";
    for (auto [key, value] : llvm::zip_equal(mapping.keys, mapping.values)) {
      out << " (";
      print(*key);
      out << ' ';
      print(*value);
      out << ')';
    }
    if (!mapping.rest.empty())
      out << " **" << mapping.rest.name;
    break;
  }
  case NodeKind::ClassPattern: {
    const auto &cls = llvm::cast<ClassPattern>(pattern);
    out << "(class ";
    print(*cls.cls);
    for (const Pattern *argument : cls.positional) {
      out << ' ';
      print(*argument);
    }
    for (auto [keyword, argument] : llvm::zip_equal(cls.keywords, cls.keywordPatterns)) {
      out << ' ' << keyword.name << '=';
      print(*argument);
    }
    break;
  }
  default:
    llvm_unreachable("not a pattern");
  }
  out << ')';
}

void dump(const Module &module, llvm::raw_ostream &out) {
  for (const Stmt *stmt : module.getBody())
    dump(*stmt, out);
}

void dump(const Stmt &stmt, llvm::raw_ostream &out) { Dumper(out).print(stmt); }

void dump(const Expr &expr, llvm::raw_ostream &out) { Dumper(out).print(expr); }

} // namespace kiln
