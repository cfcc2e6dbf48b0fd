//===- Signature.h - argument types and literals of a kernel ----*- C++ -*-===//
//
// What a kernel is compiled for: every parameter either stays an argument of the C function, with a
// type and facts that the caller promises (`*fp16:16`, `i32:1`), or becomes a literal that is gone
// from the binary (`1024`, `"relu"`). The grammar is that of Triton's ahead-of-time signatures:
//
//   type     = ['*'+ ['k']] element [':' ('1' | '8' | '16')]
//            | 'tensordesc<' element '>[' extent {',' extent} ']' [':nan']
//   extent   = int | the name of a compile-time parameter
//   literal  = int | float | 'True' | 'False' | 'None' | quoted string
//
// `:N` promises that an integer, or a pointer's address, is divisible by N; `i32:1` promises that
// the value *is* 1. `*k` is a pointer to constant memory. `:nan` makes a descriptor's loads give
// NaN outside of the tensor. Triton's own `tensordesc<fp16[128, 64]>` means the same.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_SIGNATURE_H
#define KILN_CODEGEN_SIGNATURE_H

#include "compiler/Basic/Literal.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

enum class ElementType : uint8_t {
#define KILN_ELEMENT_TYPE(NAME, ...) NAME,
#include "runtime/element_types.def"
};

enum class ElementClass : uint8_t { Bool, Signed, Unsigned, Float };

/// The name of Triton's AOT grammar: "fp16", "i32".
llvm::StringRef elementName(ElementType type);
/// Bytes of one element in memory; i1 takes one byte.
unsigned elementBytes(ElementType type);
/// The C type of a scalar argument: "float", "int32_t", "kiln_fp16".
llvm::StringRef elementCType(ElementType type);
ElementClass elementClass(ElementType type);
/// The name of a scalar argument's kind in kiln_param_kind: "I32" for KILN_PARAM_I32.
llvm::StringRef elementParamKind(ElementType type);
/// Accepts the AOT name, the `triton.language` name and the synonyms (f32, bool).
std::optional<ElementType> parseElementType(llvm::StringRef name);
/// The AOT name nearest to a misspelt one, or "" when none is near.
std::string nearestElementType(llvm::StringRef name);

/// One extent of a descriptor's block: a number, or the name of a parameter that each variant gives
/// a value.
struct BlockExtent {
  int64_t value = 0;
  std::string name;

  bool operator==(const BlockExtent &other) const {
    return value == other.value && name == other.name;
  }
};

/// The type of a run-time argument, and what the caller promises about its value.
struct ArgumentType {
  enum class Kind : uint8_t { Scalar, Pointer, TensorDescriptor };
  Kind kind = Kind::Scalar;
  ElementType element = ElementType::Int32;
  /// 1 for a pointer to elements, 2 for a pointer to pointers; 0 for scalars.
  unsigned pointerDepth = 0;
  /// The memory behind a pointer is not written.
  bool isConst = false;
  /// The value (an address for pointers) is a multiple of this: 1, 8 or 16.
  unsigned divisibility = 1;
  /// `i32:1`: the value is 1 in every call.
  bool equalsOne = false;
  /// Block shape of a tensor descriptor.
  std::vector<BlockExtent> blockShape;
  /// Elements outside of a descriptor's tensor load as NaN instead of zero.
  bool padsWithNan = false;

  bool isPointer() const { return kind == Kind::Pointer; }
  bool isDescriptor() const { return kind == Kind::TensorDescriptor; }
  bool isInteger() const;
  /// Bytes of the argument as a kernel parameter, which are also its alignment. 0 for a descriptor.
  unsigned bytes() const;
  /// "const void *", "int32_t": ends in '*' or an identifier, so that a name may follow a space.
  std::string cType() const;
  /// The signature's own spelling: "*fp16:16".
  std::string spelling() const;
  /// The same C type, whatever is promised about the value.
  bool sameCType(const ArgumentType &other) const;
};

/// What a signature says about one parameter, before the kernel's source is known. Text such as
/// "fp32" is a type for an ordinary parameter and a string for a `tl.constexpr` one, so both
/// readings are kept until `resolve`.
struct SignatureValue {
  std::optional<ArgumentType> asType;
  std::optional<Literal> asLiteral;
  /// A list that holds at least one type; its literals count as constants.
  std::vector<SignatureValue> elements;
  /// The names of the elements of a named tuple; empty for a plain one.
  std::vector<std::string> fields;
  /// The text as written, for messages; empty unless it was a string.
  std::string text;

  bool isTuple() const { return !elements.empty(); }
  /// A tuple of arguments and constants; a literal where all are constants without names.
  static SignatureValue ofTuple(std::vector<SignatureValue> elements,
                                std::vector<std::string> fields = {});
  /// The reading for a parameter: the literal when it is annotated `tl.constexpr`, else the type
  /// when the text is one, else the literal. Returns an error for text that was meant as a type
  /// ("*fp61", "i32:7") and for a constexpr without a literal reading.
  llvm::Expected<SignatureValue> resolve(bool isConstexpr) const;
};

/// A mistake inside a short text: `begin` and `end` are byte offsets into that text.
struct TextError {
  size_t begin = 0, end = 0;
  std::string message;
  std::string hint;
};

/// Parses one type; `error` is set when the result is empty.
std::optional<ArgumentType> parseArgumentType(llvm::StringRef text, TextError &error);
/// Parses an int, float, True, False, None or a quoted string; empty for any other text.
std::optional<Literal> parseLiteral(llvm::StringRef text);
/// One item of a signature. Never fails: text that is neither type nor literal is a string.
SignatureValue parseSignatureValue(llvm::StringRef text);
/// What kiln init writes where there is something to choose: "?", "*?", "tensordesc<?>[?]". A spec
/// with one is refused.
inline constexpr llvm::StringLiteral placeholder("?");
bool hasPlaceholder(llvm::StringRef text);
/// True for text that nobody means as a string constant: "*fp61", "i32:7", "tensordesc<x".
bool isSurelyType(llvm::StringRef text);
/// A comma list in the order of the kernel's parameters, as `kiln compile -s` takes it. Commas
/// inside brackets, angle brackets and quotes do not separate; an item in parentheses is a tuple.
std::optional<std::vector<SignatureValue>> parseSignatureList(llvm::StringRef text,
                                                              TextError &error);

} // namespace kiln

#endif // KILN_CODEGEN_SIGNATURE_H
