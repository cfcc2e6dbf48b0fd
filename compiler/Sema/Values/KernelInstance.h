// What one variant of a kernel is made from: its arguments, its options, and the target's answers.
#ifndef KILN_COMPILER_SEMA_VALUES_KERNELINSTANCE_H
#define KILN_COMPILER_SEMA_VALUES_KERNELINSTANCE_H

#include "compiler/Basic/Literal.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

namespace sema {
struct BuiltinInfo;
} // namespace sema

/// What one parameter of a kernel is in a variant.
struct ArgumentValue {
  enum class Kind : uint8_t { RunTime, Constant, Tuple, Descriptor };
  Kind kind = Kind::RunTime;
  /// RunTime: "fp16", "i32", "*fp16", "**fp32". Descriptor: the element type.
  std::string dtype;
  /// RunTime: the value, or the address in bytes, is a multiple of this.
  unsigned divisibility = 1;
  /// RunTime integers: the value is 1 in every call. The argument stays an argument of the
  /// function; the kernel's code sees the constant.
  bool equalsOne = false;
  Literal constant;
  /// Tuple: each becomes an argument, or a constant, of its own.
  std::vector<ArgumentValue> elements;
  /// Of a named tuple: as many names as elements; empty otherwise.
  std::vector<std::string> fields;
  /// Descriptor: the shape of the blocks that are loaded and stored. The function gets the base (a
  /// multiple of 16), a shape of i32 for each axis, and for each axis but the last a stride of i64
  /// in elements, a multiple of 16 bytes; the last stride is 1.
  std::vector<int64_t> blockShape;
  /// Descriptor: elements outside of the tensor load as NaN instead of zero.
  bool padsWithNan = false;

  static ArgumentValue runTime(std::string dtype, unsigned divisibility = 1,
                               bool equalsOne = false);
  static ArgumentValue ofConstant(Literal value);
};

/// What a kernel learns when it asks for the target.
struct TargetAnswers {
  /// "cuda", "hip" or "cpu".
  std::string backend = "cuda";
  /// cuda: compute capability times ten; cpu: anything.
  unsigned arch = 90;
  /// hip: "gfx942".
  std::string archName;
  unsigned warpSize = 32;
  /// Kernels may hold the backend's own assembly: nothing else runs it, an emulator neither.
  bool takesAssembly = false;
  /// Matrix instructions multiply 8-bit and 4-bit floats with scales.
  bool scaledProducts = false;
  /// Instructions make wider floats of 8-bit and 4-bit ones times powers of two.
  bool scaledConversions = false;
};

using NamedConstants = std::vector<std::pair<std::string, Literal>>;

/// One variant of one kernel.
struct KernelInstance {
  std::string kernel;
  /// By parameter name. Parameters left out take their heuristic, or their default.
  std::vector<std::pair<std::string, ArgumentValue>> arguments;
  unsigned numWarps = 4, numStages = 3, numCtas = 1;
  /// Rows and columns of AMD's matrix instructions, and how many of these an operand's elements
  /// that are read together are for; 0: the compiler's choice.
  unsigned matrixSize = 0, kPack = 0;
  /// Run-time assertions are checked.
  bool debug = false;
  /// What Triton refuses is refused.
  bool portable = false;
  /// The kernel's arrays are in ordinary memory of the device that runs it.
  bool deviceMemory = false;
  /// The kernel's arrays are below 2 GiB.
  bool smallArrays = false;
  TargetAnswers target;
  /// -D NAME=VALUE: replaces what a module-level name would be, in every module.
  NamedConstants defines;
  /// Name of the function in the result; the kernel's when empty.
  std::string symbol;
  /// Where given: gets every row of Builtins.td that evaluating the kernel calls.
  std::set<const sema::BuiltinInfo *> *calledBuiltins = nullptr;
};

} // namespace kiln

#endif // KILN_COMPILER_SEMA_VALUES_KERNELINSTANCE_H
