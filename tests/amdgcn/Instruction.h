// One instruction of AMDGPU machine code, taken apart from what LLVM's disassembler prints.
#ifndef KILN_TESTS_AMDGCN_INSTRUCTION_H
#define KILN_TESTS_AMDGCN_INSTRUCTION_H

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kiln::amdgcn {

class Wave;
struct Instruction;

/// What the program does that it must not, or what this executor does not know. Who catches it adds
/// the place.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Operation = std::function<void(Wave &, const Instruction &)>;

/// Scalar registers by the numbers that operands have in the encodings of GFX9 to GFX12.
enum ScalarRegister : uint16_t {
  VccLow = 106,
  TrapTemporary0 = 108,
  M0 = 124,
  ExecLow = 126,
  NumScalars = 128
};

/// Accumulation registers follow the vector registers.
enum VectorRegister : uint16_t { FirstAccumulator = 256, NumVectors = 512 };

struct Operand {
  enum class Kind : uint8_t { Vector, Scalar, Integer, Real, Null, Scc, Word } kind = Kind::Null;
  enum class Half : uint8_t { Whole, Low, High } half = Half::Whole;
  /// The first register and how many.
  uint16_t index = 0, count = 1;
  bool negate = false, absolute = false, signExtend = false;
  int64_t integer = 0;
  double real = 0;
  std::string word;

  bool isVector() const { return kind == Kind::Vector; }
  bool isScalar() const { return kind == Kind::Scalar; }
};

/// With whom an access is to be coherent: the compute unit's waves, the workgroup's, and so on.
enum class Scope : uint8_t { Unit, Workgroup, Device, System };

/// Lanes that read others' (ISA guides, "Data Parallel Primitives").
struct Dpp {
  enum class Kind : uint8_t {
    None,
    QuadPermute,
    ShiftLeft,
    ShiftRight,
    RotateRight,
    Mirror,
    HalfMirror,
    Broadcast15,
    Broadcast31,
    NewBroadcast,
    Share,
    XorMask,
    Eight
  } kind = Kind::None;
  std::array<uint8_t, 8> selects = {};
  uint8_t amount = 0, rowMask = 0xf, bankMask = 0xf;
  bool zeroOutOfBounds = false, fetchInactive = false;
};

/// Parts of registers (ISA guides of GFX9, "Sub-Dword Addressing").
enum class Part : uint8_t { Dword, Byte0, Byte1, Byte2, Byte3, Word0, Word1 };
struct Sdwa {
  bool isUsed = false;
  enum class Unused : uint8_t { Pad, SignExtend, Preserve } unused = Unused::Pad;
  Part destination = Part::Dword;
  std::array<Part, 2> sources = {Part::Dword, Part::Dword};
};

/// Bits by source operand: {0, 1} is what "op_sel:[0,1]" says.
using Bits = std::array<bool, 5>;

struct Instruction {
  /// What the wait states between instructions hang on (WaitStates.h).
  enum class Kind : uint8_t { Other, Vector, Matrix, Memory, Shared, Branch, Nop };
  Kind kind = Kind::Other;
  uint64_t address = 0;
  uint32_t bytes = 0;
  /// What LLVM prints.
  std::string text;
  /// The mnemonic without the suffix of its encoding.
  std::string name;
  std::vector<Operand> operands;
  Bits opSel = {}, opSelHi = {true, true, true, true, true}, negLow = {}, negHigh = {};
  bool hasOpSel = false;
  bool clamps = false;
  float scale = 1; // "mul:2"
  Dpp dpp;
  Sdwa sdwa;
  int64_t offset = 0, offset0 = 0, offset1 = 0, bitTable = 0;
  bool offsetEnable = false, indexEnable = false;
  bool goesToShared = false; // "lds"
  bool returnsOld = false;   // of atomics
  Scope scope = Scope::Unit;
  /// cbsz, blgp and abid of matrix instructions.
  uint8_t formatA = 0, formatB = 0, broadcast = 0;
  uint8_t byteSelect = 0;
  /// The second half of a dual instruction.
  std::shared_ptr<Instruction> second;
  /// Empty where nobody knows the mnemonic, which is an error once it is executed.
  Operation operation;
  /// Why the text could not be taken apart, which is one, too.
  std::string problem;

  const Operand &operator[](size_t i) const {
    if (i >= operands.size())
      throw Fault("expected more operands");
    return operands[i];
  }
};

/// Takes apart a line of LLVM's. An instruction that is not understood has a `problem`.
Instruction parseInstruction(const std::string &text);

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_INSTRUCTION_H
