// What Triton 3.8 refuses of syntax and names of kernels and Kiln takes: errors of kernels that are
// to be portable (KernelInstance::portable). What it refuses of tensors is in
// Tensors/Portability.cpp.
//
// Code that Python runs for Triton, too, is Python's: constructors, and functions without
// @triton.jit.

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Python/AssignedNames.h"

namespace kiln::sema {
namespace {

/// What Triton does not take, and what to write instead.
struct Refusal {
  llvm::StringRef what, hint;
};
using MaybeRefusal = std::optional<Refusal>;

MaybeRefusal refusalOf(const ast::CompareExpr &expr) {
  if (expr.comparisons.size() > 1)
    return Refusal{"a chain of comparisons",
                   "write 'a < b and b < c'; of tensors '(a < b) & (b < c)'"};
  ast::CompareOp op = expr.comparisons.front().op;
  if (op == ast::CompareOp::In || op == ast::CompareOp::NotIn)
    return Refusal{"the operator 'in'", "compare with each element"};
  return std::nullopt;
}

MaybeRefusal refusalOf(const ast::ComprehensionExpr &expr) {
  if (expr.form != ast::ComprehensionForm::List)
    return Refusal{"a comprehension that is no list", "write it in square brackets"};
  if (expr.clauses.size() > 1)
    return Refusal{"a comprehension of more than one loop",
                   "its comprehensions have no conditions, either"};
  return std::nullopt;
}

MaybeRefusal refusalOf(const ast::AssignStmt &stmt) {
  if (stmt.targets.size() > 1)
    return Refusal{"an assignment to several targets", "assign to one after the other"};
  if (llvm::isa<ast::ListExpr>(stmt.targets.front()))
    return Refusal{"a list as the target of an assignment", "write it without brackets"};
  const auto *tuple = llvm::dyn_cast<ast::TupleExpr>(stmt.targets.front());
  if (tuple && llvm::any_of(tuple->elements, [](const ast::Expr *part) {
        return llvm::isa<ast::StarredExpr>(part);
      }))
    return Refusal{"a starred target of an assignment", "take a slice of the tuple"};
  return std::nullopt;
}

MaybeRefusal refusalOf(const ast::CallExpr &expr) {
  if (llvm::any_of(expr.arguments, [](const ast::Argument &argument) {
        return argument.kind == ast::ArgumentKind::DoubleStar;
      }))
    return Refusal{"'**' in a call", "name the arguments"};
  return std::nullopt;
}

MaybeRefusal refusalOf(const ast::Node &node) {
  using ast::NodeKind;
  switch (node.kind) {
  case NodeKind::FunctionDef:
    return Refusal{"a nested function", "move it to the module, with @triton.jit"};
  case NodeKind::LambdaExpr:
    return Refusal{"a lambda", "define a function in the module, with @triton.jit"};
  case NodeKind::SetExpr:
  case NodeKind::DictExpr:
    return Refusal{"a set or dict", "take a tuple"};
  case NodeKind::ImportStmt:
  case NodeKind::ImportFromStmt:
    return Refusal{"an import in a kernel", "move it to the module"};
  case NodeKind::GlobalStmt:
    return Refusal{"'global'", "kernels cannot assign to names of their module"};
  case NodeKind::DeleteStmt:
    return Refusal{"'del'", "leave it out"};
  case NodeKind::TryStmt:
    return Refusal{"'try'", "ask by hasattr(...) or a tl.constexpr parameter"};
  case NodeKind::AssignStmt:
    return refusalOf(llvm::cast<ast::AssignStmt>(node));
  case NodeKind::CallExpr:
    return refusalOf(llvm::cast<ast::CallExpr>(node));
  case NodeKind::CompareExpr:
    return refusalOf(llvm::cast<ast::CompareExpr>(node));
  case NodeKind::ComprehensionExpr:
    return refusalOf(llvm::cast<ast::ComprehensionExpr>(node));
  default:
    return std::nullopt;
  }
}

/// Python's own functions that kernels have.
bool isKernelsPython(llvm::StringRef name) {
  static constexpr llvm::StringLiteral names[] = {"len",   "list",       "range",   "float",
                                                  "int",   "isinstance", "getattr", "hasattr",
                                                  "print", "min",        "max"};
  return llvm::is_contained(names, name);
}

/// Neither a kernel's function nor made one for Triton by some decorator.
bool isPlainPython(const FunctionObject &function) {
  return function.mode == FunctionMode::Python && function.decorations.empty() &&
         !function.attributes.count("__triton_builtin__");
}

bool isTritonsClass(const ClassObject &cls) {
  return !cls.definition || cls.isNamedTuple || cls.hasUnknownBase ||
         llvm::any_of(cls.definition->decorators, [](const ast::Expr *decorator) {
           const auto *name = llvm::dyn_cast<ast::NameExpr>(decorator);
           return !name || !name->name.contains("dataclass");
         });
}

/// Whether a kernel of Triton's may use a name of its module that stands for the value. Of what is
/// not known it may.
bool isUsable(const Value &value) {
  if (value.isConstexpr())
    return true;
  switch (value.getKind()) {
  case ValueKind::Bool:
  case ValueKind::Int:
  case ValueKind::Float:
  case ValueKind::String:
  case ValueKind::Tuple:
  case ValueKind::List:
  case ValueKind::Set:
  case ValueKind::Dict:
  case ValueKind::Slice:
  case ValueKind::Range:
    return false;
  case ValueKind::Function:
    return !isPlainPython(value.as<FunctionObject>());
  case ValueKind::Builtin: {
    const BuiltinInfo &info = *value.as<BuiltinObject>().info;
    return info.library == Library::Python
               ? isKernelsPython(info.name)
               : info.library != Library::Math && info.library != Library::Other;
  }
  case ValueKind::Class:
    return isTritonsClass(value.as<ClassObject>());
  case ValueKind::Instance:
    return !value.as<InstanceObject>().cls.is(ValueKind::Class);
  default:
    return true;
  }
}

std::string hintFor(llvm::StringRef name, const Value &value) {
  if (value.is(ValueKind::Function))
    return "decorate it with @triton.jit, or with @triton.constexpr_function";
  if (value.is(ValueKind::Class))
    return "decorate it with @triton.language.core._aggregate, or use a named tuple";
  if (value.is(ValueKind::Builtin))
    return value.as<BuiltinObject>().info->library == Library::Python
               ? "of Python's functions kernels have len, list, range, float, int, isinstance, "
                 "getattr, hasattr, print, min and max"
               : "take it from its module, as in math.log2(...)";
  std::string text = repr(value);
  return "write " + name.str() + " = tl.constexpr(" + (text.size() < 40 ? text : "...") + ")";
}

} // namespace

bool Evaluator::isPortable() const {
  return tensorBuilder.isPortable() && frame() && frame()->mode == FunctionMode::Kernel &&
         !frame()->isConstructor;
}

bool Evaluator::checkSyntax(const ast::Node &node) {
  if (!isPortable() || failed())
    return !failed();
  MaybeRefusal refusal = refusalOf(node);
  if (refusal)
    tensors().notPortable(refusal->what, refusal->hint);
  return !refusal;
}

bool Evaluator::checkCondition(const Value &test) {
  if (!isPortable() || test.isTensor() || test.isIntegral() || test.isNone() || test.isOpaque() ||
      test.isError())
    return true;
  tensors().notPortable("a condition of " + describe(test), "compare it with something");
  return false;
}

bool Evaluator::checkComprehended(const Value &iterable) {
  if (!isPortable() || iterable.is(ValueKind::Tuple) || iterable.is(ValueKind::List) ||
      iterable.is(ValueKind::Range) || iterable.isOpaque() || failed())
    return !failed();
  tensors().notPortable("a comprehension over " + describe(iterable),
                        "loop over a tuple or a range");
  return false;
}

/// What a plain assignment cannot make a tensor of.
bool Evaluator::checkAssigned(const Value &value) {
  switch (value.getKind()) {
  case ValueKind::String:
  case ValueKind::Ellipsis:
  case ValueKind::Function:
  case ValueKind::Builtin:
  case ValueKind::Slice:
  case ValueKind::Range:
    break;
  default:
    return true;
  }
  if (!isPortable())
    return true;
  tensors().notPortable("a plain assignment of " + describe(value),
                        "write 'name: tl.constexpr = ...'");
  return false;
}

bool Evaluator::checkConstructor(const FunctionObject &init) {
  bool isKernels = init.mode == FunctionMode::Kernel && !init.isModeGuessed;
  if (!isPortable() || !isKernels)
    return true;
  tensors().notPortable("an '__init__' with @triton.jit",
                        "decorate it with @triton.constexpr_function");
  return false;
}

bool Evaluator::checkInlined(const FunctionObject &function, const Environment &names) {
  auto isNoinline = [](const Decoration &decoration) {
    return llvm::any_of(decoration.keywords, [](const auto &keyword) {
      return keyword.first == "noinline" && keyword.second.isIntegral() && keyword.second.getBool();
    });
  };
  if (!isPortable() || llvm::none_of(function.decorations, isNoinline))
    return true;
  for (const auto &[name, value] : names) {
    if (!value.isTensor() || value.getTensor().type.getNumElements() == 1)
      continue;
    tensors().notPortable("a tensor for '" + name + "' of '" + function.getName() +
                              "', which is not to be inlined",
                          "leave noinline out, or pass scalars");
    return false;
  }
  return true;
}

/// Of which Triton refuses the name.
static std::string describeOuter(llvm::StringRef name, const Value &value, bool isOfModule) {
  if (value.is(ValueKind::Builtin))
    return ("'" + name + "', a function of Python's").str();
  if (value.is(ValueKind::Function))
    return ("'" + name + "', a function of Python's, in a kernel").str();
  std::string what = isOfModule ? ("Cannot access global variable '" + name + "'").str()
                                : ("'" + name + "' of the function around the kernel").str();
  return what + ", which is " + describe(value) + " and no tl.constexpr";
}

Value Evaluator::outerName(llvm::StringRef name, const Value &value, const ModuleState *module) {
  // What -D or the spec says of it, Triton would see as the program has it.
  if (!isPortable() || isUsable(value) || modules().findDefine(name))
    return value;
  Diagnostic diagnostic(DiagKind::SemaNotPortable, unwinding().getPosition(),
                        Diagnostic::pack(describeOuter(name, value, module != nullptr)));
  diagnostic.withHint(hintFor(name, value));
  if (module)
    if (SourceRange declared = findLastAssignment(module->module->tree->getBody(), name);
        declared.isValid())
      diagnostic.note(DiagKind::SemaDeclaredHere, declared, name);
  unwinding().report(std::move(diagnostic));
  return Value();
}

} // namespace kiln::sema
