// The plan's text: operations in program order, and under each the nests of its code.
//
//   %6 = tile.reduce
//     nest [1024], axis 0 in vectors of 64
//       fused: %3 tile.load, %4 math.exp
//       access: %3 contiguous
//       stores %4 in buffer 0
//
// Values have the names that they have in the kernel's own text. A nest that fills a buffer before
// the operation's own is a `fill`.

#include "compiler/Conversion/TileToCPU/LoopPlan.h"
#include "compiler/Conversion/TileToCPU/Fusion.h"
#include "compiler/Dialect/Tile/ByteFloats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Support/IndentedOstream.h"

using namespace mlir;

namespace kiln::cpu {

SmallVector<Stretch, 4> stretchesOf(int64_t extent, unsigned lanes) {
  SmallVector<Stretch, 4> stretches;
  for (int64_t from = 0; from != extent; lanes = std::max(1u, lanes / 4))
    if (int64_t to = extent - (extent - from) % lanes; to != from) {
      stretches.push_back({from, to, lanes});
      from = to;
    }
  return stretches;
}

Type lowered(Type element) {
  if (tile::isByteFloat(element))
    return IntegerType::get(element.getContext(), 8);
  return isa<tile::PtrType>(element) ? LLVM::LLVMPointerType::get(element.getContext()) : element;
}

const OperationPlan &LoopPlan::of(Operation *op) const {
  static const OperationPlan none;
  auto found = operations.find(op);
  return found == operations.end() ? none : found->second;
}

namespace {

StringRef textOf(AccessForm form) {
  switch (form) {
  case AccessForm::Same:
    return "the same in all lanes";
  case AccessForm::Contiguous:
    return "contiguous";
  case AccessForm::Checked:
    return "contiguous if a check at run time says so";
  case AccessForm::Scattered:
    return "scattered";
  }
  llvm_unreachable("a form of access");
}

StringRef textOf(Fill::Form form) {
  switch (form) {
  case Fill::Elements:
    return "";
  case Fill::Panels:
    return " in panels";
  case Fill::TransposedPanels:
    return " in panels, transposed";
  }
  llvm_unreachable("a form of fill");
}

/// Values that are worth a mention: constants, ranges and changes of shape are nothing to compute.
bool computes(Value value) {
  Operation *op = value.getDefiningOp();
  return isa<tile::GatherOp>(op) || (keepsIndices(op) && !op->hasTrait<OpTrait::ConstantLike>());
}

class PlanPrinter {
public:
  PlanPrinter(const LoopPlan &plan, llvm::raw_ostream &os)
      : plan(plan), os(os), kernel(plan.kernel), names(kernel) {}

  void print() {
    os << "loop plan of @" << kernel.getName() << ", vectors of " << plan.options.vectorBits
       << " bits\n";
    for (const Buffer &buffer : plan.buffers)
      printBuffer(buffer);
    printBlock(kernel.getBody().front());
  }

private:
  struct Indented {
    explicit Indented(raw_indented_ostream &os) : os(os) { os.indent(); }
    ~Indented() { os.unindent(); }
    raw_indented_ostream &os;
  };

  void printBuffer(const Buffer &buffer) {
    os << "buffer " << buffer.number << ": " << buffer.valueElement << " ";
    printShape(buffer.shape);
    if (buffer.shape.size() > 1) {
      os << ", strides ";
      printShape(buffer.strides);
    }
    os << ", " << buffer.bytes << " bytes\n";
  }

  void printShape(ArrayRef<int64_t> shape) {
    os << "[";
    llvm::interleaveComma(shape, os);
    os << "]";
  }

  std::string nameOf(Value value) {
    std::string name;
    llvm::raw_string_ostream text(name);
    value.printAsOperand(text, names);
    return name;
  }

  void printList(StringRef what, ArrayRef<std::pair<Value, const Buffer *>> values,
                 StringRef preposition) {
    for (auto [value, buffer] : values)
      os << what << " " << nameOf(value) << " " << preposition << " buffer " << buffer->number
         << "\n";
  }

  void printNest(const Nest &nest) {
    printShape(nest.shape);
    if (nest.lanes > 1)
      os << ", axis " << nest.vectorAxis << " in vectors of " << nest.lanes;
    os << "\n";
    Indented inside(os);
    StringRef separator = "fused: ";
    for (Value value : llvm::make_filter_range(nest.fused, computes)) {
      os << separator << nameOf(value) << " " << value.getDefiningOp()->getName();
      separator = ", ";
    }
    if (separator == ", ")
      os << "\n";
    for (auto [op, axis] : nest.accesses)
      printAccess(op, plan.facts->form(op->getOperand(0), axis, nest.lanes));
    printList("reads", nest.read, "from");
    printList("stores", nest.stored, "in");
  }

  void printAccess(Operation *op, AccessForm form) {
    os << "access: ";
    if (op->getNumResults() == 0)
      os << op->getName();
    else
      os << nameOf(op->getResult(0));
    os << " " << textOf(form) << "\n";
  }

  void printFill(const Fill &fill) {
    for (const Fill &first : fill.before)
      printFill(first);
    os << "fill buffer " << fill.buffer->number << " with " << nameOf(fill.value);
    if (fill.source)
      os << " from buffer " << fill.source->number;
    os << textOf(fill.form) << ": nest ";
    printNest(fill.nest);
  }

  void printBuffers(StringRef what, ArrayRef<const Buffer *> buffers) {
    if (llvm::none_of(buffers, [](const Buffer *buffer) { return buffer; }))
      return;
    os << what;
    for (const Buffer *buffer : buffers)
      if (buffer)
        os << " " << buffer->number;
    os << "\n";
  }

  void printDot(const DotPlan &dot) {
    const DotTiling &t = dot.tiling;
    os << "tile of " << t.rows << " x " << t.width() << " in vectors of " << t.lanes
       << ", rows in buffer " << dot.rows->number << ", panels in buffer " << dot.panels->number
       << (dot.startsFromZero ? ", from zero\n" : "\n");
  }

  void printOperation(Operation *op) {
    auto found = plan.operations.find(op);
    if (found == plan.operations.end())
      return;
    const OperationPlan &planned = found->second;
    if (op->getNumResults() != 0) {
      llvm::interleaveComma(op->getResults(), os, [&](Value value) { os << nameOf(value); });
      os << " = ";
    }
    os << op->getName() << "\n";
    Indented inside(os);
    for (const Fill &fill : planned.before)
      printFill(fill);
    for (const Guard &guard : planned.guards) {
      os << "if they meet, ";
      printFill(guard.copy);
    }
    if (planned.dot)
      printDot(*planned.dot);
    else if (!planned.nest.shape.empty()) {
      os << "nest ";
      printNest(planned.nest);
    }
    printBuffers("carried in", planned.carried);
    printBuffers("results in", planned.results);
    if (isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          printBlock(block);
  }

  void printBlock(Block &block) {
    for (Operation &op : block)
      printOperation(&op);
  }

  const LoopPlan &plan;
  raw_indented_ostream os;
  func::FuncOp kernel;
  AsmState names;
};

} // namespace

void LoopPlan::print(llvm::raw_ostream &os) const { PlanPrinter(*this, os).print(); }

} // namespace kiln::cpu
