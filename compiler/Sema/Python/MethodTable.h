// The methods of Python's strings, lists, sets, dicts and tuples: one row for each.
#ifndef KILN_COMPILER_SEMA_PYTHON_METHODTABLE_H
#define KILN_COMPILER_SEMA_PYTHON_METHODTABLE_H

#include "compiler/Sema/Values/Value.h"

namespace kiln::sema {

struct Method {
  llvm::StringLiteral name;
  unsigned least, most;
  enum : uint8_t {
    Keywords = 1, // takes some
    Changes = 2,  // changes the object
    Compares = 4, // what it does depends on all that is in a list
    Iterates = 8, // over its argument
    Pairs = 16    // takes a dict, or pairs whose first parts it compares
  };
  uint8_t traits = 0;
  /// Arguments from this one on are put in or handed back as they are; what it does depends on the
  /// others, and on all that is in them.
  unsigned kept = anyNumber;

  static constexpr unsigned anyNumber = ~0u;
  bool changes() const { return traits & Changes; }
  bool compares() const { return traits & Compares; }
  /// Whether what it does depends on all that is in an argument.
  bool looksInto(size_t place, const Value &argument) const {
    return place < kept || ((traits & Iterates) && argument.isOpaque()) ||
           ((traits & Pairs) && !argument.is(ValueKind::Dict));
  }
  bool takesKeywords() const { return traits & Keywords; }
};

/// Null where the value has no such method. Of a frozenset, none that changes it.
const Method *findMethod(const Value &self, llvm::StringRef name);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_METHODTABLE_H
