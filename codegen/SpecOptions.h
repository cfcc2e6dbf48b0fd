//===- SpecOptions.h - the options of a config ------------------*- C++ -*-===//
//
// Their names and values, wherever a config is written: in a spec, or on a command line.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_SPECOPTIONS_H
#define KILN_CODEGEN_SPECOPTIONS_H

#include "codegen/JsonText.h"
#include "codegen/Spec.h"

namespace kiln {

/// Those that change something in Kiln, in the order of docs/spec.md.
std::vector<llvm::StringRef> optionNames();

/// Whether configs have an option of this name.
bool isOption(llvm::StringRef name);

/// Sets an option that there is. Where the value is none of its own, that stays as it was, and the
/// result is what was expected: "an integer from 0 to 16".
std::optional<std::string> setOption(SpecOptions &options, llvm::StringRef name,
                                     const JsonValue &value);

/// Names and values of those that are not as they are by default, in the same order; flags are 0 or
/// 1.
std::vector<std::pair<llvm::StringRef, int64_t>> givenOptions(const SpecOptions &options);

} // namespace kiln

#endif // KILN_CODEGEN_SPECOPTIONS_H
