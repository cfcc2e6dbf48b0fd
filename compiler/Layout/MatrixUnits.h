//===- MatrixUnits.h - matrix instructions as records -----------*- C++ -*-===//
//
// A matrix instruction is a row of MatrixUnits.def: shape, element types, the
// features that a target must have, the intrinsic that issues it. Its fragments
// (which lane and register holds which element of A, B and C) are linear
// layouts, so the layouts of whole tiles follow by products, and one lowering of
// dots serves every row.
//
// A dot of which no row takes the types or the shape has no instruction: every
// thread multiplies and adds what it holds, in layouts that derive from the
// result's.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_MATRIXUNITS_H
#define KILN_COMPILER_LAYOUT_MATRIXUNITS_H

#include "compiler/Layout/LinearLayout.h"
#include "compiler/Target/TargetInfo.h"

namespace kiln {

/// Element types as matrix units see them. TF32: f32 in memory, rounded by the unit. The fp8
/// names are the unit's own encoding (OCP on NVIDIA, gfx950, gfx12; FNUZ on gfx942).
/// E2M1x2: two numbers of 4 bits in a byte, the first in its low bits.
enum class MatrixElement : uint8_t { F16, BF16, TF32, F32, F64, I8, I32, F8E4M3, F8E5M2, E2M1x2 };

/// Bits of one element in a register (TF32: 32).
unsigned elementBits(MatrixElement element);
llvm::StringRef elementName(MatrixElement element);

/// Whose fragments an instruction uses.
/// MfmaBy4, MfmaBy16: a lane has groups of so many neighbours along k.
/// WmmaGfx11By2: of k's elements a lane has every second one first, then those between.
enum class MatrixFamily : uint8_t {
  MmaSync,
  Wgmma,
  Mfma,
  MfmaBy4,
  MfmaBy16,
  MfmaScaled,
  WmmaGfx11,
  WmmaGfx11By2,
  WmmaGfx12
};

/// An operand of D = A * B + C; C stands for D as well.
enum class MatrixOperand : uint8_t { A, B, C };

struct MatrixInstruction {
  llvm::StringLiteral name;
  MatrixFamily family;
  unsigned m, n, k;
  /// Of A and of B.
  MatrixElement operand, operandB;
  MatrixElement accumulator;
  bool (*isLegal)(const MatrixFeatures &features);
  llvm::StringLiteral issue; ///< intrinsic name without "llvm."

  bool isMfma() const { return family >= MatrixFamily::Mfma && family <= MatrixFamily::MfmaScaled; }
  bool isWmma() const { return family >= MatrixFamily::WmmaGfx11; }
  /// It is told which formats of small floats A and B have.
  bool hasFormats() const { return issue.ends_with(".f8f6f4"); }
  /// 32 neighbours along k of a row of A or a column of B have a scale, a power of two as a biased
  /// exponent of 8 bits.
  bool isScaled() const { return family == MatrixFamily::MfmaScaled; }
  unsigned numLanes() const { return isMfma() ? 64 : 32; }
  /// Warps that carry out one instruction together.
  unsigned numWarps() const { return family == MatrixFamily::Wgmma ? 4 : 1; }
  /// Elements of A or B along k: a byte of E2M1x2 has two numbers, which k counts where the other
  /// operand has bytes of one.
  unsigned depth(MatrixOperand which) const;
  /// The instructions side by side along k that a row of the table stands for.
  unsigned numSteps() const;
  /// It reads B, and A unless that is in registers, from shared memory.
  bool readsSharedMemory() const { return family == MatrixFamily::Wgmma; }
  /// One instruction's fragment: register, lane (, warp) → (m, k), (k, n) or (m, n). Register bits
  /// are in the order in which the instruction's operand registers list them. Wgmma's B is never in
  /// registers: its fragment is what each warp would hold.
  LinearLayout fragment(MatrixOperand operand) const;
  /// Of the scales of A's rows or B's columns: register, lane → (row or column, number along k).
  LinearLayout scaleFragment() const;
  /// Scales along k.
  unsigned numScales() const { return isScaled() ? numLanes() / m : 0; }
};

llvm::ArrayRef<MatrixInstruction> allMatrixInstructions();
/// By its name, or null.
const MatrixInstruction *findMatrixInstruction(llvm::StringRef name);

/// How a block's warps share a dot.
struct MatrixTiling {
  const MatrixInstruction *instruction;
  /// The unit computes the transposed product (its A slot gets our B and the other way round), so
  /// that a lane's accumulators run along n, which row-major results want.
  bool swapped = false;
  /// Warps, or groups of warps that carry out an instruction together, along m and n.
  unsigned warpsM = 1, warpsN = 1;
  /// How many neighbours of a result's column (of the transposed product: row) a lane has, if it
  /// has so many elements of one: which row of A's the unit has where is not asked, as long as
  /// results are taken to be there. 0: as the unit has them.
  unsigned neighbours = 0;

  /// Extents of one instruction in terms of the dot's own m and n.
  unsigned tileM() const { return swapped ? instruction->n : instruction->m; }
  unsigned tileN() const { return swapped ? instruction->m : instruction->n; }
  /// Layout of a whole operand of shape [batch x] rows x columns: the fragment, dealt to warps,
  /// repeated in registers (columns first). Batches repeat in registers. Element register order:
  /// fragment bits lowest.
  LinearLayout layout(MatrixOperand operand, llvm::ArrayRef<int64_t> shape) const;
  /// Of the scales of an operand, of shape rows (B: columns) x numbers along k.
  LinearLayout scaleLayout(MatrixOperand operand, llvm::ArrayRef<int64_t> shape) const;
  /// The fragment as the dot sees it: swapped back if the unit computes the transpose, rows where
  /// lanes have neighbours.
  LinearLayout fragment(MatrixOperand operand) const;
  /// For each register of a fragment the one that holds its value, among those of a tile of an
  /// operand of this shape: the same one for several where the operand has fewer rows or columns
  /// than the instruction.
  llvm::SmallVector<unsigned> fragmentRegisters(MatrixOperand operand,
                                                llvm::ArrayRef<int64_t> shape) const;

  friend bool operator==(const MatrixTiling &a, const MatrixTiling &b) {
    return a.instruction == b.instruction && a.swapped == b.swapped && a.warpsM == b.warpsM &&
           a.warpsN == b.warpsN && a.neighbours == b.neighbours;
  }
};

/// What a dot asks of the matrix unit.
struct MatrixProblem {
  int64_t m, n, k;
  MatrixElement operand, accumulator;
  unsigned numWarps;
  /// The operands can be in shared memory as instructions want them that read them from there.
  bool fromShared = true;
  /// All warps have rows of their own.
  bool isAlongM = false;
  /// Rows and columns of the instruction; 0: any.
  unsigned size = 0;
  /// One instruction a row of the table.
  bool isSingle = false;
  /// Operands have scales.
  bool isScaled = false;
  /// B's elements, if they are others than A's.
  std::optional<MatrixElement> operandB = std::nullopt;
};

/// The first record of the table that `features` allow, whose lanes are the target's, with the
/// problem's types, and that divides its shape, with warps dealt so that each warp reads the
/// fewest operand elements. Where no record has the problem's size any has. Where none divides its
/// shape one side may be shorter than the instruction's, which repeats it. None: use fused
/// multiply-adds (fmaOperandLayout); or, with `isAlongM`, there are not so many rows.
std::optional<MatrixTiling> selectMatrixTiling(const TargetInfo &target,
                                               const MatrixProblem &problem);

/// Operand layout of a dot without a matrix unit, from its result's layout ([batch x] m x n): a
/// thread holds all k of the rows (A) or columns (B) of which it holds results.
LinearLayout fmaOperandLayout(const LinearLayout &result, MatrixOperand operand, int64_t k);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_MATRIXUNITS_H
