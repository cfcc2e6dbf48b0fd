#include "compiler/Driver/Init/KernelUses.h"
#include "compiler/Syntax/Walk.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

namespace kiln {
namespace {

using namespace ast;

template <typename T> const T *as(const Node *node) { return llvm::dyn_cast_or_null<T>(node); }

/// "load" of `tl.load(…)` and of `load(…)`.
llvm::StringRef calleeName(const CallExpr &call) {
  if (const auto *attribute = as<AttributeExpr>(call.callee))
    return attribute->attribute.name;
  const auto *name = as<NameExpr>(call.callee);
  return name ? name->name : "";
}

/// An argument by its place or its keyword; null: it is not there.
const Expr *argumentOf(const CallExpr &call, unsigned place, llvm::StringRef keyword) {
  unsigned position = 0;
  for (const Argument &argument : call.arguments) {
    if (argument.kind == ArgumentKind::Keyword && argument.name.name == keyword)
      return argument.value;
    if (argument.kind == ArgumentKind::Positional && position++ == place)
      return argument.value;
  }
  return nullptr;
}

bool isModuleName(const Expr *expr) {
  const auto *name = as<NameExpr>(expr);
  return name && (name->name == "tl" || name->name == "triton" || name->name == "language");
}

/// Takes an address as its first argument.
bool takesAddress(llvm::StringRef function) {
  return function == "load" || function == "store" || function.starts_with("atomic_") ||
         function == "make_block_ptr" || function == "make_tensor_descriptor";
}

/// Gives its first argument back, with a promise or another type.
bool passesOn(llvm::StringRef function) {
  constexpr llvm::StringLiteral names[] = {"multiple_of", "max_contiguous", "max_constancy", "cast",
                                           "to",          "advance",        "broadcast_to"};
  return llvm::is_contained(names, function);
}

/// What has been found of each function; nothing yet of one that is being looked at.
using KnownUses = std::map<const FunctionDef *, KernelUses>;

/// One function, walked for each question.
class FunctionUses {
public:
  FunctionUses(const ast::Module &module, const FunctionDef &function, KnownUses &known)
      : module(module), function(function), known(known) {
    for (const Parameter &parameter : function.parameters)
      parameters.insert(parameter.name.name.str());
    everywhere([&](const Node &node) {
      if (const auto *assigned = as<AssignStmt>(&node))
        for (const Expr *target : assigned->targets)
          bind(target, assigned->value);
      if (const auto *assigned = as<AnnAssignStmt>(&node); assigned && assigned->value)
        bind(assigned->target, assigned->value);
      if (const auto *assigned = as<AugAssignStmt>(&node))
        bind(assigned->target, assigned->value, /*isStep=*/true);
    });
  }

  KernelUses find() {
    everywhere([&](const Node &node) {
      if (const auto *call = as<CallExpr>(&node))
        lookAtCall(*call);
      if (const auto *loop = as<ForStmt>(&node))
        lookAtBounds(*loop->iterable);
      if (const auto *compared = as<CompareExpr>(&node)) {
        lookAtBounds(*compared->left);
        for (const Comparison &comparison : compared->comparisons)
          lookAtBounds(*comparison.right);
      }
    });
    findSteps();
    for (const std::string &name : uses.pointers)
      uses.integers.erase(name);
    findGrid();
    return uses;
  }

private:
  void everywhere(llvm::function_ref<void(const Node &)> visit) const {
    for (const Stmt *statement : function.body)
      walk(*statement, [&](const Node &node) {
        visit(node);
        return true;
      });
  }

  void bind(const Expr *target, const Expr *value, bool isStep = false) {
    const auto *tuple = as<TupleExpr>(target);
    const auto *values = as<TupleExpr>(value);
    if (tuple && values && tuple->elements.size() == values->elements.size())
      for (auto [one, its] : llvm::zip(tuple->elements, values->elements))
        bind(one, its);
    else if (const auto *name = as<NameExpr>(target))
      (isStep ? steps : bindings)[name->name.str()].push_back(value);
  }

  /// The parameters that the address `expr` may begin with.
  void collectBases(const Expr *expr, std::set<std::string> &found,
                    std::set<std::string> &visited) const {
    if (const auto *sum = as<BinaryExpr>(expr); sum && sum->op == BinaryOp::Add) {
      size_t before = found.size();
      collectBases(sum->left, found, visited);
      if (found.size() == before)
        collectBases(sum->right, found, visited);
    } else if (const auto *name = as<NameExpr>(expr)) {
      std::string text = name->name.str();
      if (!visited.insert(text).second)
        return;
      auto bound = bindings.find(text);
      if (parameters.count(text))
        found.insert(text);
      if (bound != bindings.end())
        for (const Expr *value : bound->second)
          collectBases(value, found, visited);
    } else if (const auto *call = as<CallExpr>(expr)) {
      const auto *method = as<AttributeExpr>(call->callee);
      if (takesAddress(calleeName(*call)) || passesOn(calleeName(*call)))
        collectBases(method && !isModuleName(method->base) ? method->base
                                                           : argumentOf(*call, 0, "input"),
                     found, visited);
    } else if (const auto *choice = as<ConditionalExpr>(expr)) {
      collectBases(choice->body, found, visited);
      collectBases(choice->orElse, found, visited);
    } else if (const auto *subscript = as<SubscriptExpr>(expr)) {
      collectBases(subscript->base, found, visited);
    }
  }

  std::set<std::string> basesOf(const Expr *expr) const {
    std::set<std::string> found, visited;
    collectBases(expr, found, visited);
    return found;
  }

  void addPointers(const Expr *address) {
    if (!address)
      return;
    addresses.push_back(address);
    for (const std::string &name : basesOf(address))
      if (!uses.descriptors.count(name))
        uses.pointers.insert(name);
  }

  void lookAtCall(const CallExpr &call) {
    llvm::StringRef name = calleeName(call);
    const auto *method = as<AttributeExpr>(call.callee);
    if (method && !isModuleName(method->base) && (name == "load" || name == "store"))
      return lookAtDescriptor(*method, call);
    if (takesAddress(name))
      addPointers(argumentOf(call, 0, name.starts_with("make_") ? "base" : "pointer"));
    if (name == "range" || name == "static_range" || name == "cdiv")
      for (const Argument &argument : call.arguments)
        lookAtBounds(*argument.value);
    const FunctionDef *helper = as<NameExpr>(call.callee) ? findFunction(module, name) : nullptr;
    if (helper)
      lookAtHelper(*helper, call);
  }

  /// `desc.load([m, n])`, where desc is a parameter.
  void lookAtDescriptor(const AttributeExpr &method, const CallExpr &call) {
    const auto *name = as<NameExpr>(method.base);
    const Expr *offsets = argumentOf(call, 0, "offsets");
    unsigned rank = 0;
    if (const auto *list = as<ListExpr>(offsets))
      rank = unsigned(list->elements.size());
    if (const auto *tuple = as<TupleExpr>(offsets))
      rank = unsigned(tuple->elements.size());
    if (name && rank && parameters.count(name->name.str()) && !bindings.count(name->name.str()))
      uses.descriptors[name->name.str()] = rank;
  }

  void lookAtHelper(const FunctionDef &helper, const CallExpr &call) {
    auto [found, isNew] = known.try_emplace(&helper);
    if (isNew)
      found->second = FunctionUses(module, helper, known).find();
    const KernelUses &inner = found->second;
    for (auto [place, parameter] : llvm::enumerate(helper.parameters)) {
      std::string its = parameter.name.name.str();
      const Expr *passed = argumentOf(call, unsigned(place), its);
      if (!passed)
        continue;
      if (inner.pointers.count(its))
        addPointers(passed);
      const auto *name = as<NameExpr>(passed);
      if (!name || !parameters.count(name->name.str()))
        continue;
      if (auto descriptor = inner.descriptors.find(its); descriptor != inner.descriptors.end())
        uses.descriptors[name->name.str()] = descriptor->second;
      if (inner.integers.count(its))
        uses.integers.insert(name->name.str());
    }
  }

  /// Names in what bounds something are integers.
  void lookAtBounds(const Node &expr) {
    walk(expr, [&](const Node &node) {
      if (const auto *name = as<NameExpr>(&node); name && parameters.count(name->name.str()))
        uses.integers.insert(name->name.str());
      return !llvm::isa<CallExpr>(node) || calleeName(llvm::cast<CallExpr>(node)) == "cdiv";
    });
  }

  /// Parameters in addresses, but for where these begin.
  void findSteps() {
    std::set<std::string> visited;
    std::function<void(const Node &)> visit = [&](const Node &expr) {
      walk(expr, [&](const Node &node) {
        const auto *name = as<NameExpr>(&node);
        if (const auto *call = as<CallExpr>(&node); call && calleeName(*call) == "load")
          return false;
        if (!name || !visited.insert(name->name.str()).second)
          return true;
        if (parameters.count(name->name.str()))
          uses.integers.insert(name->name.str());
        for (const auto *bound : {&bindings, &steps})
          if (auto found = bound->find(name->name.str()); found != bound->end())
            for (const Expr *value : found->second)
              visit(*value);
        return true;
      });
    };
    for (const Expr *address : addresses)
      visit(*address);
  }

  /// `name = tl.program_id(axis)`.
  void findGrid() {
    std::map<unsigned, std::set<std::string>> ids;
    unsigned axes = 0;
    auto axisOf = [](const Expr *value) -> std::optional<unsigned> {
      const auto *call = as<CallExpr>(value);
      if (!call || calleeName(*call) != "program_id")
        return std::nullopt;
      const auto *axis = as<IntLiteral>(argumentOf(*call, 0, "axis"));
      std::optional<uint64_t> number = axis ? axis->getUInt64() : std::nullopt;
      return number && *number < 3 ? std::optional(unsigned(*number)) : std::nullopt;
    };
    everywhere([&](const Node &node) {
      if (const auto *call = as<CallExpr>(&node))
        if (std::optional<unsigned> axis = axisOf(call))
          axes = std::max(axes, *axis + 1);
    });
    for (const auto &[name, values] : bindings)
      for (const Expr *value : values)
        if (std::optional<unsigned> axis = axisOf(value); axis && values.size() == 1)
          ids[*axis].insert(name);
    uses.grid.resize(axes);
    for (unsigned axis = 0; axis < axes; ++axis)
      uses.grid[axis] = blocksOf(axis, ids[axis], axisOf);
  }

  /// "cdiv(n, BLOCK)", where a mask keeps `id * BLOCK + tl.arange(0, BLOCK)` below n, and nothing
  /// else is made of the id; "" otherwise.
  template <typename AxisOf>
  std::string blocksOf(unsigned axis, const std::set<std::string> &ids, AxisOf axisOf) const {
    auto isId = [&](const Expr *expr) {
      const auto *name = as<NameExpr>(expr);
      return (name && ids.count(name->name.str())) || axisOf(expr) == axis;
    };
    std::set<std::string> sizes, offsets;
    unsigned products = 0, reads = 0;
    everywhere([&](const Node &node) {
      if (const auto *name = as<NameExpr>(&node); name && ids.count(name->name.str()))
        ++reads;
      const auto *product = as<BinaryExpr>(&node);
      if (!product || product->op != BinaryOp::Mul)
        return;
      const Expr *other = isId(product->left) ? product->right : product->left;
      const auto *size = as<NameExpr>(other);
      if ((!isId(product->left) && !isId(product->right)) || !size ||
          !parameters.count(size->name.str()))
        return;
      ++products;
      sizes.insert(size->name.str());
    });
    // An id that is bound to a name is read once more where it is bound.
    bool isPlain = sizes.size() == 1 && products + (ids.empty() ? 0 : ids.size()) >= reads;
    if (!isPlain)
      return "";
    std::string bound = boundOf(isId);
    return bound.empty() ? "" : "cdiv(" + bound + ", " + *sizes.begin() + ")";
  }

  /// Whether the id is in what `expr` is made of.
  template <typename IsId>
  bool isMadeOf(const Expr *expr, IsId isId, std::set<std::string> &visited) const {
    bool found = false;
    walk(*expr, [&](const Node &node) {
      const auto *inner = as<Expr>(&node);
      found |= inner && isId(inner);
      if (const auto *call = as<CallExpr>(&node); call && calleeName(*call) == "load")
        return false;
      if (const auto *name = as<NameExpr>(&node); name && visited.insert(name->name.str()).second)
        if (auto bound = bindings.find(name->name.str()); bound != bindings.end())
          for (const Expr *value : bound->second)
            found |= isMadeOf(value, isId, visited);
      return !found;
    });
    return found;
  }

  /// The one parameter that what is made of the id is compared with by `<`; "": none, or several.
  template <typename IsId> std::string boundOf(IsId isId) const {
    std::set<std::string> bounds;
    everywhere([&](const Node &node) {
      const auto *compared = as<CompareExpr>(&node);
      if (!compared || compared->comparisons.size() != 1 ||
          compared->comparisons[0].op != CompareOp::Less)
        return;
      const auto *bound = as<NameExpr>(compared->comparisons[0].right);
      std::set<std::string> visited;
      if (bound && parameters.count(bound->name.str()) && isMadeOf(compared->left, isId, visited))
        bounds.insert(bound->name.str());
    });
    return bounds.size() == 1 ? *bounds.begin() : "";
  }

  const ast::Module &module;
  const FunctionDef &function;
  KnownUses &known;
  std::set<std::string> parameters;
  /// What names are bound to, and what is added to them.
  std::map<std::string, std::vector<const Expr *>> bindings, steps;
  std::vector<const Expr *> addresses;
  KernelUses uses;
};

/// `@triton.jit`, `@jit(…)`.
bool isJit(const Expr *decorator) {
  if (const auto *call = as<CallExpr>(decorator))
    return calleeName(*call) == "jit";
  if (const auto *attribute = as<AttributeExpr>(decorator))
    return attribute->attribute.name == "jit";
  const auto *name = as<NameExpr>(decorator);
  return name && name->name == "jit";
}

} // namespace

KernelUses usesOf(const ast::Module &module, const ast::FunctionDef &function) {
  KnownUses known;
  return FunctionUses(module, function, known).find();
}

const ast::FunctionDef *findFunction(const ast::Module &module, llvm::StringRef name) {
  for (const Stmt *statement : module.getBody())
    if (const auto *function = as<FunctionDef>(statement); function && function->name.name == name)
      return function;
  return nullptr;
}

std::vector<const ast::FunctionDef *> kernelsOf(const ast::Module &module) {
  std::vector<const FunctionDef *> kernels;
  std::set<std::string> called;
  for (const Stmt *statement : module.getBody()) {
    const auto *function = as<FunctionDef>(statement);
    if (!function || llvm::none_of(function->decorators, isJit))
      continue;
    kernels.push_back(function);
    walk(*function, [&](const Node &node) {
      if (const auto *call = as<CallExpr>(&node))
        called.insert(calleeName(*call).str());
      return true;
    });
  }
  llvm::erase_if(kernels,
                 [&](const FunctionDef *one) { return called.count(one->name.name.str()); });
  return kernels;
}

} // namespace kiln
