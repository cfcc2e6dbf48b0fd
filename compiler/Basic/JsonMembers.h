// JSON that programs have written, of which everything is expected.

#ifndef KILN_COMPILER_BASIC_JSONMEMBERS_H
#define KILN_COMPILER_BASIC_JSONMEMBERS_H

#include "llvm/Support/JSON.h"

namespace kiln {

/// The value of a text, which may come from anywhere: LLVM's parser goes as deep as the text does,
/// until the stack ends, so that nesting of more than 64 levels is an error here. Errors are whole
/// sentences about "it".
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// An object's members that must be there, of a kind; Path says where one is not.
class JsonMembers {
public:
  JsonMembers(const llvm::json::Value &value, llvm::json::Path path)
      : path(path), object(value.getAsObject()) {
    if (!object)
      fail(path, "expected an object");
  }

  bool isGood() const { return good; }
  /// Whether a member is there that need not be.
  bool has(llvm::StringRef key) const { return good && object->get(key); }

  template <typename T> void read(llvm::StringRef key, T &out) {
    if (const llvm::json::Value *value = at(key))
      good &= llvm::json::fromJSON(*value, out, path.field(key));
  }
  /// Calls `each` with the members of an object.
  template <typename Each> void within(llvm::StringRef key, Each each) {
    if (const llvm::json::Value *value = at(key)) {
      JsonMembers inner(*value, path.field(key));
      if (inner.isGood())
        each(inner);
      good &= inner.isGood();
    }
  }
  /// The member is of its kind, and wrong all the same.
  void refuse(llvm::StringRef key, llvm::StringLiteral message) {
    if (good)
      fail(path.field(key), message);
  }
  /// Calls `each` with every element of an array.
  template <typename Each> void elements(llvm::StringRef key, Each each) {
    const llvm::json::Value *value = at(key);
    if (!value)
      return;
    const llvm::json::Array *array = value->getAsArray();
    if (!array)
      return fail(path.field(key), "expected an array");
    // A path refers to the one that it goes on from.
    llvm::json::Path field = path.field(key);
    for (size_t i = 0; i < array->size() && good; ++i) {
      JsonMembers inner((*array)[i], field.index(unsigned(i)));
      if (inner.isGood())
        each(inner);
      good &= inner.isGood();
    }
  }
  /// One of `names`, of any kind.
  const llvm::json::Value &value(llvm::StringRef name) const { return *object->get(name); }
  /// Calls `each` with the name of every member, which stays as long as the value does: paths in
  /// errors refer to names.
  template <typename Each> void names(Each each) {
    for (const auto &[name, value] : *object)
      each(llvm::StringRef(name));
  }

private:
  const llvm::json::Value *at(llvm::StringRef key) {
    const llvm::json::Value *value = good ? object->get(key) : nullptr;
    if (!value && good)
      fail(path.field(key), "is missing");
    return value;
  }
  void fail(llvm::json::Path where, llvm::StringLiteral message) {
    where.report(message);
    good = false;
  }

  llvm::json::Path path;
  const llvm::json::Object *object;
  bool good = true;
};

} // namespace kiln

#endif
