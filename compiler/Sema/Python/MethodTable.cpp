#include "compiler/Sema/Python/MethodTable.h"

#include "llvm/ADT/STLExtras.h"

namespace kiln::sema {

static constexpr unsigned any = Method::anyNumber;

static constexpr Method stringMethods[] = {
    {"lower", 0, 0},
    {"upper", 0, 0},
    {"title", 0, 0},
    {"capitalize", 0, 0},
    {"swapcase", 0, 0},
    {"strip", 0, 1},
    {"lstrip", 0, 1},
    {"rstrip", 0, 1},
    {"startswith", 1, 1},
    {"endswith", 1, 1},
    {"removeprefix", 1, 1},
    {"removesuffix", 1, 1},
    {"find", 1, 1},
    {"rfind", 1, 1},
    {"index", 1, 1},
    {"count", 1, 1},
    {"replace", 2, 2},
    {"split", 0, 2, Method::Keywords},
    {"rsplit", 0, 2, Method::Keywords},
    {"splitlines", 0, 0},
    {"partition", 1, 1},
    {"join", 1, 1},
    {"format", 0, any, Method::Keywords},
    {"zfill", 1, 1},
    {"ljust", 1, 2},
    {"rjust", 1, 2},
    {"isdigit", 0, 0},
    {"isalpha", 0, 0},
    {"isalnum", 0, 0},
    {"isupper", 0, 0},
    {"islower", 0, 0},
};

static constexpr Method listMethods[] = {
    {"append", 1, 1, Method::Changes, 0},
    {"extend", 1, 1, Method::Changes | Method::Iterates, 0},
    {"insert", 2, 2, Method::Changes, 1},
    {"pop", 0, 1, Method::Changes},
    {"remove", 1, 1, Method::Changes | Method::Compares},
    {"clear", 0, 0, Method::Changes},
    {"sort", 0, 0, Method::Changes | Method::Compares | Method::Keywords},
    {"reverse", 0, 0, Method::Changes},
    {"index", 1, 3, Method::Compares},
    {"count", 1, 1, Method::Compares},
    {"copy", 0, 0},
};

static constexpr Method tupleMethods[] = {
    {"index", 1, 3, Method::Compares},
    {"count", 1, 1, Method::Compares},
};

// All that is in a set, and the keys of a dict, are known: with one that is not, it is lost.
static constexpr Method setMethods[] = {
    {"add", 1, 1, Method::Changes},
    {"discard", 1, 1, Method::Changes},
    {"remove", 1, 1, Method::Changes},
    {"clear", 0, 0, Method::Changes},
    {"update", 0, any, Method::Changes},
    {"intersection_update", 0, any, Method::Changes},
    {"difference_update", 0, any, Method::Changes},
    {"symmetric_difference_update", 1, 1, Method::Changes},
    {"copy", 0, 0},
    {"union", 0, any},
    {"intersection", 0, any},
    {"difference", 0, any},
    {"symmetric_difference", 1, 1},
    {"issubset", 1, 1},
    {"issuperset", 1, 1},
    {"isdisjoint", 1, 1},
};

static constexpr Method dictMethods[] = {
    {"get", 1, 2, 0, 1},
    {"pop", 1, 2, Method::Changes, 1},
    {"setdefault", 1, 2, Method::Changes, 1},
    {"update", 0, 1, Method::Changes | Method::Keywords | Method::Pairs, 0},
    {"popitem", 0, 0, Method::Changes},
    {"clear", 0, 0, Method::Changes},
    {"items", 0, 0},
    {"keys", 0, 0},
    {"values", 0, 0},
    {"copy", 0, 0},
};

static llvm::ArrayRef<Method> methodsOf(const Value &self) {
  switch (self.getKind()) {
  case ValueKind::String:
    return stringMethods;
  case ValueKind::List:
    return listMethods;
  case ValueKind::Tuple:
    return tupleMethods;
  case ValueKind::Set:
    return setMethods;
  case ValueKind::Dict:
    return dictMethods;
  default:
    return {};
  }
}

const Method *findMethod(const Value &self, llvm::StringRef name) {
  llvm::ArrayRef<Method> methods = methodsOf(self);
  const auto *found = llvm::find_if(methods, [&](const Method &one) { return one.name == name; });
  if (found == methods.end())
    return nullptr;
  bool isFrozen = self.is(ValueKind::Set) && self.as<SequenceObject>().isFrozen;
  return isFrozen && found->changes() ? nullptr : found;
}

} // namespace kiln::sema
