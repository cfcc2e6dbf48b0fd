#include "compiler/Conversion/FlattenControlFlow/LoopAnnotation.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace kiln {

void forbidUnrolling(Operation *loop) {
  MLIRContext *context = loop->getContext();
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(loopAnnotationAttr,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

template <typename BranchOp> static void placeAnnotation(BranchOp branch) {
  if (auto annotation =
          branch->template getAttrOfType<LLVM::LoopAnnotationAttr>(loopAnnotationAttr)) {
    branch->removeAttr(loopAnnotationAttr);
    branch.setLoopAnnotationAttr(annotation);
  }
}

void placeLoopAnnotations(ModuleOp module) {
  module.walk(placeAnnotation<LLVM::BrOp>);
  module.walk(placeAnnotation<LLVM::CondBrOp>);
}

} // namespace kiln
