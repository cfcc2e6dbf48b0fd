// The block interpreter's arithmetic: operations of the LLVM dialect on scalars, component by
// component.

#include "tests/compiler/Conversion/TileGPUToLLVM/BlockInterpreter.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/InterpreterTypes.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::testing {

template <typename Function>
void BlockInterpreter::mapComponents(Operation &op, Function function) {
  size_t components = componentsOf(op.getResult(0).getType()).size();
  SmallVector<Lanes *> operands;
  for (Value operand : op.getOperands())
    operands.push_back(&of(operand));
  // Copied: the result may grow the table that operands live in.
  std::vector<Lanes> inputs;
  for (Lanes *operand : operands)
    inputs.push_back(*operand);
  Lanes &result = define(op.getResult(0));
  SmallVector<uint64_t, 3> words(inputs.size());
  for (size_t c = 0; c < components; ++c)
    forActive([&](unsigned t) {
      for (size_t index = 0; index < inputs.size(); ++index) {
        size_t place = c * numThreads + t;
        words[index] = inputs[index][place < inputs[index].size() ? place : t];
      }
      result[c * numThreads + t] = function(words);
    });
}

static Type scalarOf(Value value) { return componentsOf(value.getType())[0]; }

static bool compareIntegers(LLVM::ICmpPredicate predicate, uint64_t l, uint64_t r, unsigned bits) {
  int64_t a = signExtend(l, bits), b = signExtend(r, bits);
  switch (predicate) {
  case LLVM::ICmpPredicate::eq:
    return l == r;
  case LLVM::ICmpPredicate::ne:
    return l != r;
  case LLVM::ICmpPredicate::slt:
    return a < b;
  case LLVM::ICmpPredicate::sle:
    return a <= b;
  case LLVM::ICmpPredicate::sgt:
    return a > b;
  case LLVM::ICmpPredicate::sge:
    return a >= b;
  case LLVM::ICmpPredicate::ult:
    return l < r;
  case LLVM::ICmpPredicate::ule:
    return l <= r;
  case LLVM::ICmpPredicate::ugt:
    return l > r;
  case LLVM::ICmpPredicate::uge:
    return l >= r;
  }
  return false;
}

static bool compareFloats(LLVM::FCmpPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case LLVM::FCmpPredicate::_false:
    return false;
  case LLVM::FCmpPredicate::oeq:
    return a == b;
  case LLVM::FCmpPredicate::ogt:
    return a > b;
  case LLVM::FCmpPredicate::oge:
    return a >= b;
  case LLVM::FCmpPredicate::olt:
    return a < b;
  case LLVM::FCmpPredicate::ole:
    return a <= b;
  case LLVM::FCmpPredicate::one:
    return !unordered && a != b;
  case LLVM::FCmpPredicate::ord:
    return !unordered;
  case LLVM::FCmpPredicate::ueq:
    return unordered || a == b;
  case LLVM::FCmpPredicate::ugt:
    return unordered || a > b;
  case LLVM::FCmpPredicate::uge:
    return unordered || a >= b;
  case LLVM::FCmpPredicate::ult:
    return unordered || a < b;
  case LLVM::FCmpPredicate::ule:
    return unordered || a <= b;
  case LLVM::FCmpPredicate::une:
    return unordered || a != b;
  case LLVM::FCmpPredicate::uno:
    return unordered;
  case LLVM::FCmpPredicate::_true:
    return true;
  }
  return false;
}

static double maximumOf(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
}
static double minimumOf(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
}

uint64_t atomicResult(LLVM::AtomicBinOp kind, Type type, uint64_t old, uint64_t value) {
  unsigned bits = bitsOf(type);
  auto real = [&](double x) { return encode(x, formatOf(type)); };
  double a = isa<FloatType>(type) ? decode(old, formatOf(type)) : 0;
  double b = isa<FloatType>(type) ? decode(value, formatOf(type)) : 0;
  bool less = signExtend(old, bits) < signExtend(value, bits);
  switch (kind) {
  case LLVM::AtomicBinOp::add:
    return maskTo(old + value, bits);
  case LLVM::AtomicBinOp::_and:
    return old & value;
  case LLVM::AtomicBinOp::_or:
    return old | value;
  case LLVM::AtomicBinOp::_xor:
    return old ^ value;
  case LLVM::AtomicBinOp::max:
    return less ? value : old;
  case LLVM::AtomicBinOp::min:
    return less ? old : value;
  case LLVM::AtomicBinOp::umax:
    return std::max(old, value);
  case LLVM::AtomicBinOp::umin:
    return std::min(old, value);
  case LLVM::AtomicBinOp::fadd:
    return real(a + b);
  case LLVM::AtomicBinOp::fmax:
    return real(std::fmax(a, b));
  case LLVM::AtomicBinOp::fmin:
    return real(std::fmin(a, b));
  default:
    return value;
  }
}

bool BlockInterpreter::executeArithmetic(Operation &op) {
  using Words = ArrayRef<uint64_t>;
  auto integers = [&](auto function) {
    unsigned bits = bitsOf(scalarOf(op.getResult(0)));
    mapComponents(op, [&](Words w) { return maskTo(function(w[0], w[1], bits), bits); });
    return true;
  };
  auto floats = [&](auto function) {
    Format format = formatOf(scalarOf(op.getResult(0)));
    mapComponents(op, [&](Words w) {
      double x[3] = {};
      for (size_t index = 0; index < w.size() && index < 3; ++index)
        x[index] = decode(w[index], format);
      return encode(function(x[0], x[1], x[2]), format);
    });
    return true;
  };
  auto divide = [&](auto function) {
    return integers([&](uint64_t l, uint64_t r, unsigned bits) -> uint64_t {
      if (maskTo(r, bits) == 0)
        return fail(op, "divides by zero"), 0;
      return function(l, r, bits);
    });
  };
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](LLVM::AddOp) { return integers([](auto l, auto r, unsigned) { return l + r; }); })
      .Case([&](LLVM::SubOp) { return integers([](auto l, auto r, unsigned) { return l - r; }); })
      .Case([&](LLVM::MulOp) { return integers([](auto l, auto r, unsigned) { return l * r; }); })
      .Case([&](LLVM::AndOp) { return integers([](auto l, auto r, unsigned) { return l & r; }); })
      .Case([&](LLVM::OrOp) { return integers([](auto l, auto r, unsigned) { return l | r; }); })
      .Case([&](LLVM::XOrOp) { return integers([](auto l, auto r, unsigned) { return l ^ r; }); })
      .Case([&](LLVM::ShlOp) {
        return integers([](auto l, auto r, unsigned b) { return r >= b ? 0 : l << r; });
      })
      .Case([&](LLVM::LShrOp) {
        return integers([](auto l, auto r, unsigned b) { return r >= b ? 0 : l >> r; });
      })
      .Case([&](LLVM::AShrOp) {
        return integers([](auto l, auto r, unsigned b) {
          return signExtend(l, b) >> std::min<uint64_t>(r, b - 1);
        });
      })
      .Case([&](LLVM::UDivOp) { return divide([](auto l, auto r, unsigned) { return l / r; }); })
      .Case([&](LLVM::URemOp) { return divide([](auto l, auto r, unsigned) { return l % r; }); })
      .Case([&](LLVM::SDivOp) {
        return divide(
            [](auto l, auto r, unsigned b) { return signExtend(l, b) / signExtend(r, b); });
      })
      .Case([&](LLVM::SRemOp) {
        return divide(
            [](auto l, auto r, unsigned b) { return signExtend(l, b) % signExtend(r, b); });
      })
      .Case([&](LLVM::SMaxOp) {
        return integers([](auto l, auto r, unsigned b) {
          return std::max(signExtend(l, b), signExtend(r, b));
        });
      })
      .Case([&](LLVM::SMinOp) {
        return integers([](auto l, auto r, unsigned b) {
          return std::min(signExtend(l, b), signExtend(r, b));
        });
      })
      .Case([&](LLVM::UMaxOp) {
        return integers([](auto l, auto r, unsigned) { return std::max(l, r); });
      })
      .Case([&](LLVM::UMinOp) {
        return integers([](auto l, auto r, unsigned) { return std::min(l, r); });
      })
      .Case([&](LLVM::AbsOp) {
        unsigned bits = bitsOf(scalarOf(op.getResult(0)));
        mapComponents(
            op, [&](Words w) { return maskTo(uint64_t(std::abs(signExtend(w[0], bits))), bits); });
        return true;
      })
      .Case([&](LLVM::ICmpOp compare) {
        unsigned bits = bitsOf(scalarOf(compare.getLhs()));
        mapComponents(
            op, [&](Words w) { return compareIntegers(compare.getPredicate(), w[0], w[1], bits); });
        return true;
      })
      .Case([&](LLVM::FCmpOp compare) {
        Format format = formatOf(scalarOf(compare.getLhs()));
        mapComponents(op, [&](Words w) {
          return compareFloats(compare.getPredicate(), decode(w[0], format), decode(w[1], format));
        });
        return true;
      })
      .Case([&](LLVM::SelectOp) {
        mapComponents(op, [](Words w) { return w[0] & 1 ? w[1] : w[2]; });
        return true;
      })
      .Case([&](LLVM::FAddOp) { return floats([](auto a, auto b, auto) { return a + b; }); })
      .Case([&](LLVM::FSubOp) { return floats([](auto a, auto b, auto) { return a - b; }); })
      .Case([&](LLVM::FMulOp) { return floats([](auto a, auto b, auto) { return a * b; }); })
      .Case([&](LLVM::FDivOp) { return floats([](auto a, auto b, auto) { return a / b; }); })
      .Case([&](LLVM::FRemOp) {
        return floats([](auto a, auto b, auto) { return std::fmod(a, b); });
      })
      .Case([&](LLVM::FNegOp) { return floats([](auto a, auto, auto) { return -a; }); })
      .Case([&](LLVM::FMAOp) {
        return floats([](auto a, auto b, auto c) { return std::fma(a, b, c); });
      })
      .Case([&](LLVM::MaxNumOp) {
        return floats([](auto a, auto b, auto) { return std::fmax(a, b); });
      })
      .Case([&](LLVM::MinNumOp) {
        return floats([](auto a, auto b, auto) { return std::fmin(a, b); });
      })
      .Case([&](LLVM::MaximumOp) {
        return floats([](auto a, auto b, auto) { return maximumOf(a, b); });
      })
      .Case([&](LLVM::MinimumOp) {
        return floats([](auto a, auto b, auto) { return minimumOf(a, b); });
      })
      .Case([&](LLVM::FAbsOp) { return floats([](auto a, auto, auto) { return std::fabs(a); }); })
      .Case([&](LLVM::SqrtOp) { return floats([](auto a, auto, auto) { return std::sqrt(a); }); })
      .Case([&](LLVM::Exp2Op) { return floats([](auto a, auto, auto) { return std::exp2(a); }); })
      .Case([&](LLVM::Log2Op) { return floats([](auto a, auto, auto) { return std::log2(a); }); })
      .Case(
          [&](LLVM::FFloorOp) { return floats([](auto a, auto, auto) { return std::floor(a); }); })
      .Case([&](LLVM::FCeilOp) { return floats([](auto a, auto, auto) { return std::ceil(a); }); })
      .Case(
          [&](LLVM::FTruncOp) { return floats([](auto a, auto, auto) { return std::trunc(a); }); })
      .Case([&](LLVM::RoundOp) { return floats([](auto a, auto, auto) { return std::round(a); }); })
      .Case([&](LLVM::RoundEvenOp) {
        return floats([](auto a, auto, auto) { return std::nearbyint(a); });
      })
      .Case([&](LLVM::RintOp) {
        return floats([](auto a, auto, auto) { return std::nearbyint(a); });
      })
      .Case([&](LLVM::CopySignOp) {
        return floats([](auto a, auto b, auto) { return std::copysign(a, b); });
      })
      .Case([&](LLVM::AssumeOp assume) {
        forActive([&](unsigned t) {
          if (!(of(assume.getCond())[t] & 1))
            fail(op, "is false");
        });
        return true;
      })
      .Default([](Operation *) { return false; });
}

bool BlockInterpreter::executeConversion(Operation &op) {
  using Words = ArrayRef<uint64_t>;
  auto from = [&] { return scalarOf(op.getOperand(0)); };
  auto to = [&] { return scalarOf(op.getResult(0)); };
  auto saturate = [](double x, double low, double high) {
    return std::isnan(x) ? 0 : std::min(std::max(x, low), high);
  };
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](LLVM::ConstantOp constant) {
        Lanes &lanes = define(constant.getResult());
        size_t components = lanes.size() / numThreads;
        auto bitsOfAttr = [](Attribute attr) {
          if (auto integer = dyn_cast<IntegerAttr>(attr))
            return integer.getValue().getZExtValue();
          return cast<FloatAttr>(attr).getValue().bitcastToAPInt().getZExtValue();
        };
        for (size_t c = 0; c < components; ++c) {
          Attribute attr = constant.getValue();
          if (auto dense = dyn_cast<DenseElementsAttr>(attr))
            attr = dense.getValues<Attribute>()[c];
          std::fill_n(lanes.begin() + c * numThreads, numThreads, bitsOfAttr(attr));
        }
        return true;
      })
      .Case<LLVM::PoisonOp, LLVM::UndefOp>([&](auto) {
        Lanes &lanes = define(op.getResult(0));
        std::fill(lanes.begin(), lanes.end(), 0x7F4D7F4D7F4D7F4Dull);
        return true;
      })
      .Case([&](LLVM::ZeroOp) {
        Lanes &lanes = define(op.getResult(0));
        std::fill(lanes.begin(), lanes.end(), 0);
        return true;
      })
      .Case<LLVM::ZExtOp, LLVM::PtrToIntOp, LLVM::IntToPtrOp>([&](auto) {
        mapComponents(op, [](Words w) { return w[0]; });
        return true;
      })
      .Case([&](LLVM::SExtOp) {
        unsigned bits = bitsOf(from()), wide = bitsOf(to());
        mapComponents(op, [&](Words w) { return maskTo(signExtend(w[0], bits), wide); });
        return true;
      })
      .Case([&](LLVM::TruncOp) {
        unsigned bits = bitsOf(to());
        mapComponents(op, [&](Words w) { return maskTo(w[0], bits); });
        return true;
      })
      .Case<LLVM::FPExtOp, LLVM::FPTruncOp>([&](auto) {
        Format source = formatOf(from()), result = formatOf(to());
        mapComponents(op, [&](Words w) { return encode(decode(w[0], source), result); });
        return true;
      })
      .Case([&](LLVM::SIToFPOp) {
        unsigned bits = bitsOf(from());
        Format format = formatOf(to());
        mapComponents(op, [&](Words w) { return encode(signExtend(w[0], bits), format); });
        return true;
      })
      .Case([&](LLVM::UIToFPOp) {
        Format format = formatOf(to());
        mapComponents(op, [&](Words w) { return encode(double(w[0]), format); });
        return true;
      })
      .Case([&](LLVM::FPToSIOp) {
        Format format = formatOf(from());
        unsigned bits = bitsOf(to());
        mapComponents(op, [&](Words w) {
          return maskTo(int64_t(saturate(decode(w[0], format), -9.2e18, 9.2e18)), bits);
        });
        return true;
      })
      .Case([&](LLVM::FPToUIOp) {
        Format format = formatOf(from());
        unsigned bits = bitsOf(to());
        mapComponents(op, [&](Words w) {
          return maskTo(uint64_t(saturate(decode(w[0], format), 0, 1.8e19)), bits);
        });
        return true;
      })
      .Case([&](LLVM::BitcastOp cast) {
        Lanes source = of(cast.getArg());
        unsigned narrow = bitsOf(from()), wide = bitsOf(to());
        Lanes &result = define(cast.getResult());
        size_t components = result.size() / numThreads;
        forActive([&](unsigned t) {
          for (size_t c = 0; c < components; ++c) {
            uint64_t word = 0;
            if (wide >= narrow)
              for (unsigned part = 0; part < wide / narrow; ++part)
                word |= source[(c * (wide / narrow) + part) * numThreads + t] << (part * narrow);
            else
              word = source[c / (narrow / wide) * numThreads + t] >> (c % (narrow / wide) * wide);
            result[c * numThreads + t] = maskTo(word, wide);
          }
        });
        return true;
      })
      .Case([&](LLVM::ExtractElementOp extract) {
        Lanes &vector = of(extract.getVector()), index = of(extract.getPosition());
        Lanes source = vector;
        Lanes &result = define(extract.getResult());
        forActive([&](unsigned t) { result[t] = source[index[t] * numThreads + t]; });
        return true;
      })
      .Case([&](LLVM::InsertElementOp insert) {
        Lanes result = of(insert.getVector());
        Lanes &index = of(insert.getPosition()), &value = of(insert.getValue());
        forActive([&](unsigned t) { result[index[t] * numThreads + t] = value[t]; });
        define(insert.getResult()) = result;
        return true;
      })
      .Case([&](LLVM::ExtractValueOp extract) {
        auto type = mlir::cast<LLVM::LLVMStructType>(extract.getContainer().getType());
        size_t first = 0;
        for (int64_t index = 0; index < extract.getPosition()[0]; ++index)
          first += componentsOf(type.getBody()[index]).size();
        Lanes source = of(extract.getContainer());
        Lanes &result = define(extract.getResult());
        std::copy_n(source.begin() + first * numThreads, result.size(), result.begin());
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace kiln::testing
