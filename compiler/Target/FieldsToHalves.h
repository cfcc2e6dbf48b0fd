// Fields of bits of a word, as unpacked weights are, become 16-bit floats two at a time.

#ifndef KILN_COMPILER_TARGET_FIELDSTOHALVES_H
#define KILN_COMPILER_TARGET_FIELDSTOHALVES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Converts fields of a word, of up to 10 bits (7 for bf16), without a conversion: as parts of
/// larger numbers that a subtraction takes off again. Two that lie as far apart as halves do are
/// converted at once, and what is done to both alike is done to the pair. So weights of 4 bits are
/// widened, and their differences from the same fields of another word, as of weights and zeros.
struct FieldConversions {
  /// The target has an instruction for two differences of bf16; else only f16.
  bool subtractsBF16 = false;
  /// It makes f32 of a byte of a word by one instruction, and f16 of two of these: bytes stay.
  bool takesBytes = false;
};
void convertFieldsInPairs(llvm::Function &function, FieldConversions target);

} // namespace kiln

#endif
