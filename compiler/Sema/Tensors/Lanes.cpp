#include "compiler/Sema/Tensors/Lanes.h"

#include <cmath>

namespace kiln::sema {

namespace arith = mlir::arith;

Lanes powerOfTwo(const Lanes &exponent, const Lanes &like) {
  FloatFormat format = like.dtype().getFloatFormat();
  Lanes biased = exponent + double(format.bias);
  return biased.apply<arith::ShLIOp>(biased.integer(format.mantissaBits)).bitcast(like.dtype());
}

Lanes scaleByPower(Lanes x, Lanes n) {
  // The first two factors keep what they multiply normal, or take it to where the result is
  // certain.
  FloatFormat format = x.dtype().getFloatFormat();
  int up = format.largestExponent(), least = format.smallestExponent();
  int down = least + int(format.mantissaBits) + 1;
  for (int step = 0; step < 2; ++step) {
    Lanes isLarge = n > double(up), isSmall = n < double(least);
    auto choose = [&](const Lanes &large, const Lanes &small, const Lanes &none) {
      return isLarge.select(large, isSmall.select(small, none));
    };
    x = x * choose(x.number(std::ldexp(1.0, up)), x.number(std::ldexp(1.0, down)), x.number(1));
    n = n - choose(n.integer(up), n.integer(down), n.integer(0));
  }
  n = n.apply<arith::MinSIOp>(n.integer(up)).apply<arith::MaxSIOp>(n.integer(least));
  return x * powerOfTwo(n, x);
}

} // namespace kiln::sema
