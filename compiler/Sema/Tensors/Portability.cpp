// What Triton 3.8 refuses of tensors and descriptors and Kiln takes: errors of kernels that are to
// be portable (KernelInstance::portable). What it refuses of syntax and names is in
// Evaluate/Portability.cpp.

#include "compiler/Sema/Tensors/TensorBuilder.h"

#include "llvm/Support/MathExtras.h"

namespace kiln::sema {
namespace {

/// Whether Triton has an 8-bit float on the target.
bool hasByteFloat(const TargetAnswers &target, DType type) {
  if (target.backend == "hip")
    return !type.is(Scalar::FP8E4B15);
  return type.is(Scalar::FP8E5) || type.is(Scalar::FP8E4B15) ||
         (type.is(Scalar::FP8E4NV) && target.arch >= 89);
}

/// The smallest K of a product of elements of so many bits.
int64_t leastDepth(unsigned bits) { return bits == 8 ? 32 : bits == 64 ? 4 : bits == 32 ? 8 : 16; }

std::string nameOf(const TargetAnswers &target) {
  return target.backend == "hip" ? target.archName : "sm_" + std::to_string(target.arch);
}

} // namespace

TargetAnswers TensorBuilder::portableTarget() const {
  TargetAnswers answers = getTarget();
  if (answers.backend == "cpu") {
    answers.backend = "cuda";
    answers.arch = 90;
  }
  return answers;
}

bool TensorBuilder::checkPortableType(const TensorType &type) const {
  if (!isPortable() || failed())
    return !failed();
  for (int64_t extent : type.shape)
    if (extent > 0 && !llvm::isPowerOf2_64(uint64_t(extent))) {
      notPortable("a tensor of " + shapeToString(type.shape) + ", whose extent " +
                      llvm::Twine(extent) + " is no power of two",
                  "take " + llvm::Twine(llvm::PowerOf2Ceil(uint64_t(extent))) + " and a mask");
      return false;
    }
  DType element = type.dtype;
  while (element.isPointer())
    element = element.getPointee();
  TargetAnswers target = portableTarget();
  if (!element.isFP8() || hasByteFloat(target, element))
    return true;
  notPortable(element.str() + ", which is not supported in this architecture, " + nameOf(target),
              target.backend == "hip" ? "its types are fp8e4nv, fp8e5, fp8e4b8 and fp8e5b16"
              : target.arch >= 89     ? "its types are fp8e4nv, fp8e5 and fp8e4b15"
                                      : "its types are fp8e5 and fp8e4b15");
  return false;
}

bool TensorBuilder::checkPortableProduct(const TensorType &a, const TensorType &b) const {
  if (!isPortable() || portableTarget().backend != "cuda")
    return true;
  int64_t least = leastDepth(a.dtype.getBits());
  if (a.shape.back() >= least)
    return true;
  notPortable("Input shapes should have M >= 1, N >= 1 and K >= " + llvm::Twine(least) + ", got " +
                  a.str() + " and " + b.str(),
              "take tiles with K = " + llvm::Twine(least) + ", filled up with zeros");
  return false;
}

bool TensorBuilder::checkPortableBlock(const TensorType &block) const {
  if (!isPortable())
    return true;
  int64_t bytes = block.shape.back() * (block.dtype.getBits() / 8);
  if (bytes >= 16)
    return true;
  notPortable("Descriptor block shape must have at least 16 bytes in the last axis, got " +
                  block.str() + " with " + llvm::Twine(bytes),
              "take " + llvm::Twine(128 / block.dtype.getBits()) + " elements or more there");
  return false;
}

bool TensorBuilder::checkPortableReduction(llvm::StringRef method, DType element) const {
  if (!isPortable())
    return true;
  bool isHalf = element.is(Scalar::FP16) || element.is(Scalar::BF16);
  TargetAnswers target = portableTarget();
  // Compared halves need the hardware's own reductions.
  bool isTaken =
      method == "atomic_add"
          ? !element.is(Scalar::Int64) && !element.is(Scalar::FP64)
          : !element.isFloat() || (isHalf && target.backend == "cuda" && target.arch >= 90);
  if (isTaken)
    return true;
  notPortable(method + " of a descriptor on elements of " + element.str(),
              "tl." + method + " takes a block of pointers");
  return false;
}

bool TensorBuilder::checkPortableRows(const TensorType &rows, const TensorType &block) const {
  if (!isPortable())
    return true;
  int64_t columns = 32 / std::max(block.dtype.getBits(), 1u) * 8;
  if (!rows.dtype.is(Scalar::Int16) && !rows.dtype.is(Scalar::Int32))
    notPortable("numbers of rows of type " + rows.dtype.str(), "cast them with .to(tl.int32)");
  else if (rows.shape.front() < 8)
    notPortable("fewer than 8 rows", "take 8 rows, some of them out of bounds");
  else if (block.shape.back() < columns)
    notPortable("rows of fewer than " + llvm::Twine(columns) + " elements of " + block.dtype.str(),
                "a descriptor of wider blocks");
  return !failed();
}

} // namespace kiln::sema
