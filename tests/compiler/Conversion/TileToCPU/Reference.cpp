// The interpreter: a value is a list of cells (one for a scalar); an operation computes cells.

#include "tests/compiler/Conversion/TileToCPU/Reference.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>

using namespace mlir;

namespace kiln::test {
namespace {

union Cell {
  int64_t i; // integers, sign-extended; booleans 0 or 1; addresses
  double f;
};
using Cells = std::vector<Cell>;

Type elementOf(Value value) { return tile::elementTypeOf(value.getType()); }
bool isFloat(Type type) { return isa<FloatType>(type); }
unsigned widthOf(Type type) { return isa<tile::PtrType>(type) ? 64 : type.getIntOrFloatBitWidth(); }
int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

double roundTo(double value, Type type) {
  llvm::APFloat rounded(value);
  bool inexact;
  rounded.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &inexact);
  rounded.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return rounded.convertToDouble();
}
int64_t wrap(int64_t value, Type type) {
  unsigned width = widthOf(type);
  if (width == 1)
    return value & 1;
  return width == 64 ? value : int64_t(uint64_t(value) << (64 - width)) >> (64 - width);
}
uint64_t unsignedOf(int64_t value, Type type) {
  unsigned width = widthOf(type);
  return width == 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << width) - 1);
}

Cell readMemory(int64_t address, Type type) {
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<void *>(address), std::max(1u, widthOf(type) / 8));
  Cell cell;
  if (isFloat(type)) {
    llvm::APFloat value(cast<FloatType>(type).getFloatSemantics(),
                        llvm::APInt(widthOf(type), bits, false, true));
    bool inexact;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    cell.f = value.convertToDouble();
  } else {
    cell.i = wrap(int64_t(bits), type);
  }
  return cell;
}
uint64_t bitsOf(Cell cell, Type type) {
  if (!isFloat(type))
    return uint64_t(cell.i);
  llvm::APFloat value(cell.f);
  bool inexact;
  value.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
  return value.bitcastToAPInt().getZExtValue();
}
void writeMemory(int64_t address, Cell cell, Type type) {
  uint64_t bits = bitsOf(cell, type);
  std::memcpy(reinterpret_cast<void *>(address), &bits, std::max(1u, widthOf(type) / 8));
}

/// The row-major number of an index and back.
int64_t numberOf(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [i, extent] : llvm::zip(index, shape))
    number = number * extent + i;
  return number;
}
SmallVector<int64_t> indexOf(int64_t number, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
    index[axis] = number % shape[axis];
    number /= shape[axis];
  }
  return index;
}

/// What an atomic operation leaves of integers of `width` bits, which are extended by their signs.
int64_t atomically(tile::AtomicKind kind, int64_t old, int64_t operand, unsigned width) {
  auto bits = [&](int64_t number) { return uint64_t(number) << (64 - width); };
  switch (kind) {
  case tile::AtomicKind::Add:
    return old + operand;
  case tile::AtomicKind::SMax:
    return std::max(old, operand);
  case tile::AtomicKind::UMin:
    return bits(old) < bits(operand) ? old : operand;
  case tile::AtomicKind::Xor:
    return old ^ operand;
  case tile::AtomicKind::Exchange:
    return operand;
  default:
    llvm_unreachable("no random program has it");
  }
}

class Interpreter {
public:
  Interpreter(std::array<uint32_t, 3> id, std::array<uint32_t, 3> count) : id(id), count(count) {}

  void bind(Value value, Cells cells) { values[value] = std::move(cells); }
  const Cells &get(Value value) { return values.at(value); }

  /// Runs all but the terminator; returns the terminator's operands.
  SmallVector<Cells> runBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      run(&op);
    SmallVector<Cells> results;
    for (Value operand : block.getTerminator()->getOperands())
      results.push_back(get(operand));
    return results;
  }

private:
  void bindAll(ValueRange targets, const SmallVector<Cells> &cells, size_t from = 0) {
    for (auto [i, target] : llvm::enumerate(targets))
      bind(target, cells[from + i]);
  }

  void run(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](scf::ForOp loop) { runFor(loop); })
        .Case([&](scf::IfOp branch) {
          Region &region =
              get(branch.getCondition())[0].i ? branch.getThenRegion() : branch.getElseRegion();
          if (!region.empty())
            bindAll(branch.getResults(), runBlock(region.front()));
        })
        .Case([&](scf::WhileOp loop) { runWhile(loop); })
        .Case([&](tile::ReduceOp reduce) {
          runFold(reduce, reduce.getAxis(), reduce.getCombine(), false, true);
        })
        .Case([&](tile::ScanOp scan) {
          runFold(scan, scan.getAxis(), scan.getCombine(), scan.getReverse(), false);
        })
        .Case([&](tile::DotOp dot) { runDot(dot); })
        .Case<tile::BarrierOp, tile::AssumeOp>([](Operation *) {})
        .Default([&](Operation *other) { runPerElement(other); });
  }

  void runFor(scf::ForOp loop) {
    SmallVector<Cells> carried;
    for (Value init : loop.getInitArgs())
      carried.push_back(get(init));
    int64_t step = get(loop.getStep())[0].i, end = get(loop.getUpperBound())[0].i;
    for (int64_t i = get(loop.getLowerBound())[0].i; i < end; i += step) {
      Cell cell;
      cell.i = i;
      bind(loop.getInductionVar(), {cell});
      bindAll(loop.getRegionIterArgs(), carried);
      carried = runBlock(*loop.getBody());
    }
    bindAll(loop.getResults(), carried);
  }

  void runWhile(scf::WhileOp loop) {
    SmallVector<Cells> carried;
    for (Value init : loop.getInits())
      carried.push_back(get(init));
    while (true) {
      bindAll(loop.getBeforeArguments(), carried);
      SmallVector<Cells> condition = runBlock(*loop.getBeforeBody());
      if (!condition[0][0].i) {
        bindAll(loop.getResults(), condition, 1);
        return;
      }
      bindAll(loop.getAfterArguments(), condition, 1);
      carried = runBlock(*loop.getAfterBody());
    }
  }

  template <typename Op>
  void runFold(Op op, unsigned axis, Region &region, bool reverse, bool reduces) {
    ArrayRef<int64_t> shape = tile::shapeOf(op.getSources()[0].getType());
    SmallVector<int64_t> outer(shape);
    outer.erase(outer.begin() + axis);
    SmallVector<Cells> results;
    for (Value result : op->getResults())
      results.push_back(Cells(countOf(tile::shapeOf(result.getType()))));
    for (int64_t number = 0; number != countOf(outer); ++number) {
      SmallVector<int64_t> index = indexOf(number, outer);
      index.insert(index.begin() + axis, 0);
      SmallVector<Cell> folded;
      for (int64_t step = 0; step != shape[axis]; ++step) {
        index[axis] = reverse ? shape[axis] - 1 - step : step;
        int64_t at = numberOf(index, shape);
        SmallVector<Cell> elements;
        for (Value source : op.getSources())
          elements.push_back(get(source)[at]);
        folded = step == 0 ? elements : combine(region, folded, elements);
        for (auto [result, cell] : llvm::zip(results, folded))
          result[reduces ? number : at] = cell;
      }
    }
    bindAll(op->getResults(), results);
  }

  SmallVector<Cell> combine(Region &region, ArrayRef<Cell> left, ArrayRef<Cell> right) {
    Block &block = region.front();
    for (auto [i, argument] : llvm::enumerate(block.getArguments()))
      bind(argument, {i < left.size() ? left[i] : right[i - left.size()]});
    SmallVector<Cell> result;
    for (const Cells &cells : runBlock(block))
      result.push_back(cells[0]);
    return result;
  }

  void runDot(tile::DotOp op) {
    ArrayRef<int64_t> a = tile::shapeOf(op.getA().getType()),
                      c = tile::shapeOf(op.getC().getType());
    int64_t m = c[c.size() - 2], n = c.back(), k = a.back(), batch = c.size() == 3 ? c[0] : 1;
    const Cells &left = get(op.getA()), &right = get(op.getB());
    Cells sums = get(op.getC());
    Type type = elementOf(op.getC());
    for (int64_t at = 0; at != batch * m * n; ++at)
      for (int64_t l = 0; l != k; ++l) {
        Cell x = left[at / n * k + l], y = right[(at / (m * n) * k + l) * n + at % n];
        if (isFloat(type))
          sums[at].f += x.f * y.f;
        else
          sums[at].i = wrap(sums[at].i + x.i * y.i, type);
      }
    bind(op.getResult(), sums);
  }

  //--- Operations whose result elements are computed one by one ---

  void runPerElement(Operation *op) {
    if (op->getNumResults() > 1)
      throw std::runtime_error("several results: " + op->getName().getStringRef().str());
    Value shaped = op->getNumResults() ? Value(op->getResult(0)) : op->getOperand(0);
    ArrayRef<int64_t> shape = tile::shapeOf(shaped.getType());
    Cells result(countOf(shape));
    // Everything is read before anything is written.
    std::vector<std::function<void()>> writes;
    for (int64_t at = 0; at != int64_t(result.size()); ++at)
      result[at] = element(op, at, shape, writes);
    for (auto &write : writes)
      write();
    if (op->getNumResults())
      bind(op->getResult(0), result);
  }

  Cell element(Operation *op, int64_t at, ArrayRef<int64_t> shape,
               std::vector<std::function<void()>> &writes) {
    auto operand = [&](Value value) {
      const Cells &cells = get(value);
      return cells.size() == 1 ? cells[0] : cells[at];
    };
    Cell zero;
    zero.i = 0;
    auto integer = [&](int64_t value) {
      Cell cell;
      cell.i = value;
      return cell;
    };
    return llvm::TypeSwitch<Operation *, Cell>(op)
        .Case([&](tile::ProgramIdOp grid) { return integer(id[grid.getAxis()]); })
        .Case([&](tile::NumProgramsOp grid) { return integer(count[grid.getAxis()]); })
        .Case([&](tile::ArangeOp range) { return integer(int32_t(range.getStart()) + at); })
        .Case<tile::SplatOp, tile::HintOp>([&](Operation *) { return operand(op->getOperand(0)); })
        .Case<tile::ReshapeOp, tile::ExpandDimsOp>(
            [&](Operation *) { return get(op->getOperand(0))[at]; })
        .Case([&](tile::BroadcastOp broadcast) {
          ArrayRef<int64_t> from = tile::shapeOf(broadcast.getSource().getType());
          SmallVector<int64_t> index = indexOf(at, shape);
          for (auto [i, extent] : llvm::zip(index, from))
            i = extent == 1 ? 0 : i;
          return get(broadcast.getSource())[numberOf(index, from)];
        })
        .Case([&](tile::TransOp trans) {
          SmallVector<int64_t> index = indexOf(at, shape), source(index.size());
          for (auto [axis, from] : llvm::enumerate(trans.getOrder()))
            source[from] = index[axis];
          return get(
              trans.getSource())[numberOf(source, tile::shapeOf(trans.getSource().getType()))];
        })
        .Case([&](tile::GatherOp gather) {
          SmallVector<int64_t> index = indexOf(at, shape);
          index[gather.getAxis()] = operand(gather.getIndices()).i;
          Value source = gather.getSource();
          return get(source)[numberOf(index, tile::shapeOf(source.getType()))];
        })
        .Case([&](tile::AddPtrOp add) {
          auto pointer = cast<tile::PtrType>(elementOf(add.getPtr()));
          return integer(operand(add.getPtr()).i +
                         operand(add.getOffset()).i * pointer.getElementBytes());
        })
        .Case([&](tile::LoadOp load) {
          if (!load.getMask() || operand(load.getMask()).i)
            return readMemory(operand(load.getPtr()).i, elementOf(load.getResult()));
          return load.getOther() ? operand(load.getOther()) : zero;
        })
        .Case([&](tile::StoreOp store) {
          if (!store.getMask() || operand(store.getMask()).i) {
            Cell value = operand(store.getValue());
            int64_t address = operand(store.getPtr()).i;
            Type type = elementOf(store.getValue());
            writes.push_back([=] { writeMemory(address, value, type); });
          }
          return zero;
        })
        .Case([&](tile::AtomicRMWOp atomic) {
          if (atomic.getMask() && !operand(atomic.getMask()).i)
            return zero;
          int64_t address = operand(atomic.getPtr()).i;
          Type type = elementOf(atomic.getValue());
          Cell old = readMemory(address, type), next = old;
          next.i = atomically(atomic.getKind(), old.i, operand(atomic.getValue()).i, widthOf(type));
          writeMemory(address, next, type);
          return old;
        })
        .Case([&](arith::ConstantOp constant) {
          Attribute value = constant.getValue();
          if (auto splat = dyn_cast<SplatElementsAttr>(value))
            value = splat.getSplatValue<Attribute>();
          Cell cell;
          if (auto real = dyn_cast<FloatAttr>(value))
            cell.f = real.getValueAsDouble();
          else
            cell.i = wrap(cast<IntegerAttr>(value).getValue().getSExtValue(), elementOf(constant));
          return cell;
        })
        .Default([&](Operation *) { return arithmetic(op, operand); });
  }

  Cell arithmetic(Operation *op, function_ref<Cell(Value)> operand) {
    SmallVector<Cell> x =
        llvm::map_to_vector(op->getOperands(), [&](Value v) { return operand(v); });
    Type to = elementOf(op->getResult(0)), from = elementOf(op->getOperand(0));
    Cell result;
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      result.i = arith::applyCmpPredicate(compare.getPredicate(), llvm::APInt(64, x[0].i, true),
                                          llvm::APInt(64, x[1].i, true));
    else if (auto compare = dyn_cast<arith::CmpFOp>(op))
      result.i = arith::applyCmpPredicate(compare.getPredicate(), llvm::APFloat(x[0].f),
                                          llvm::APFloat(x[1].f));
    else if (isa<arith::SelectOp>(op))
      result = x[0].i ? x[1] : x[2];
    else if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      result.f = roundTo(x[0].f, to);
    else if (isa<arith::SIToFPOp>(op))
      result.f = roundTo(double(x[0].i), to);
    else if (isa<arith::FPToSIOp>(op))
      result.i = wrap(int64_t(x[0].f), to);
    else if (isa<arith::ExtUIOp, arith::UIToFPOp>(op)) {
      if (isFloat(to))
        result.f = roundTo(double(unsignedOf(x[0].i, from)), to);
      else
        result.i = int64_t(unsignedOf(x[0].i, from));
    } else if (isa<arith::ExtSIOp>(op))
      result.i = widthOf(from) == 1 ? -x[0].i : x[0].i;
    else if (isa<arith::TruncIOp>(op))
      result.i = wrap(x[0].i, to);
    else if (isFloat(to))
      result.f = roundTo(realOperation(op->getName().getStringRef(), x), to);
    else
      result.i = wrap(integerOperation(op->getName().getStringRef(), x, to), to);
    return result;
  }

  int64_t integerOperation(StringRef name, ArrayRef<Cell> x, Type type) {
    int64_t a = x[0].i, b = x.size() > 1 ? x[1].i : 0;
    uint64_t ua = unsignedOf(a, type), ub = unsignedOf(b, type);
    auto is = [&](StringRef other) { return name == other; };
    if (is("arith.addi"))
      return int64_t(uint64_t(a) + uint64_t(b));
    if (is("arith.subi"))
      return int64_t(uint64_t(a) - uint64_t(b));
    if (is("arith.muli"))
      return int64_t(uint64_t(a) * uint64_t(b));
    if (is("arith.andi"))
      return a & b;
    if (is("arith.ori"))
      return a | b;
    if (is("arith.xori"))
      return a ^ b;
    if (is("arith.maxsi"))
      return std::max(a, b);
    if (is("arith.minsi"))
      return std::min(a, b);
    if (is("arith.maxui"))
      return int64_t(std::max(ua, ub));
    if (is("arith.minui"))
      return int64_t(std::min(ua, ub));
    if (is("arith.divsi"))
      return b ? a / b : 0;
    if (is("arith.remsi"))
      return b ? a % b : 0;
    if (is("arith.divui"))
      return ub ? int64_t(ua / ub) : 0;
    if (is("arith.remui"))
      return ub ? int64_t(ua % ub) : 0;
    if (is("arith.shli"))
      return int64_t(ua << (ub & 63));
    if (is("arith.shrsi"))
      return a >> (ub & 63);
    if (is("arith.shrui"))
      return int64_t(ua >> (ub & 63));
    throw std::runtime_error("unknown integer operation " + name.str());
  }

  double realOperation(StringRef name, ArrayRef<Cell> x) {
    double a = x[0].f, b = x.size() > 1 ? x[1].f : 0, c = x.size() > 2 ? x[2].f : 0;
    using Function = std::function<double()>;
    Function function =
        llvm::StringSwitch<Function>(name)
            .Case("arith.addf", [=] { return a + b; })
            .Case("arith.subf", [=] { return a - b; })
            .Case("arith.mulf", [=] { return a * b; })
            .Case("arith.divf", [=] { return a / b; })
            .Case("arith.negf", [=] { return -a; })
            .Case("arith.maxnumf", [=] { return std::fmax(a, b); })
            .Case("arith.minnumf", [=] { return std::fmin(a, b); })
            .Case("arith.maximumf",
                  [=] { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); })
            .Case("arith.minimumf",
                  [=] { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); })
            .Case("math.absf", [=] { return std::fabs(a); })
            .Case("math.ceil", [=] { return std::ceil(a); })
            .Case("math.cos", [=] { return std::cos(a); })
            .Case("math.erf", [=] { return std::erf(a); })
            .Case("math.exp", [=] { return std::exp(a); })
            .Case("math.exp2", [=] { return std::exp2(a); })
            .Case("math.floor", [=] { return std::floor(a); })
            .Case("math.fma", [=] { return std::fma(a, b, c); })
            .Case("math.log", [=] { return std::log(a); })
            .Case("math.log2", [=] { return std::log2(a); })
            .Case("math.powf", [=] { return std::pow(a, b); })
            .Case("math.rsqrt", [=] { return 1 / std::sqrt(a); })
            .Case("math.sin", [=] { return std::sin(a); })
            .Case("math.sqrt", [=] { return std::sqrt(a); })
            .Case("math.tanh", [=] { return std::tanh(a); })
            .Case("math.atan2", [=] { return std::atan2(a, b); })
            .Default(nullptr);
    if (!function)
      throw std::runtime_error("unknown operation " + name.str());
    return function();
  }

  std::array<uint32_t, 3> id, count;
  llvm::DenseMap<Value, Cells> values;
};

} // namespace

struct Reference::Module {
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

Reference::Reference(const std::string &tileIR) : module(new Module) {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect, ub::UBDialect>();
  module->context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  module->module = parseSourceString<ModuleOp>(tileIR, module->context.get());
  if (!module->module)
    throw std::runtime_error("the reference cannot parse the kernel");
}

Reference::~Reference() = default;

void Reference::launch(std::array<uint32_t, 3> grid, const std::vector<void *> &params) const {
  auto kernel = *module->module->getOps<func::FuncOp>().begin();
  for (uint32_t z = 0; z != grid[2]; ++z)
    for (uint32_t y = 0; y != grid[1]; ++y)
      for (uint32_t x = 0; x != grid[0]; ++x) {
        Interpreter interpreter({x, y, z}, grid);
        for (BlockArgument argument : kernel.getArguments())
          interpreter.bind(argument,
                           {readMemory(reinterpret_cast<int64_t>(params[argument.getArgNumber()]),
                                       argument.getType())});
        interpreter.runBlock(kernel.getBody().front());
      }
}

} // namespace kiln::test
