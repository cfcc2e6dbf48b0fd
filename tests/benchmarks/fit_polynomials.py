"""Coefficients of the fp32 formulas in compiler/Sema/DeviceFunctions/Single*.cpp and compiler/Expansion/Math: what they fit, and where.

    fit_polynomials.py [NAME]        prints the coefficients in ascending powers, and the largest error

Each polynomial has the least largest error, weighted so that it is the function's relative error where nothing else is said: least squares
whose weights grow where the error is large (C. L. Lawson, 1961). Coefficients are rounded to fp32 one after another from the lowest power
on, and the others fitted anew. Needs mpmath and NumPy.
"""
import sys

import mpmath as m
import numpy as np

m.mp.dps = 40


def lawson(basis, target, weight, steps):
    """The largest weighted error, and the coefficients."""
    share, best = np.ones(len(target)), None
    for _ in range(steps):
        scale = np.sqrt(share) * weight
        columns = basis * scale[:, None]
        size = np.abs(columns).max(axis=0) + 1e-300
        coefficients = np.linalg.lstsq(columns / size, target * scale, rcond=None)[0] / size
        error = np.abs((basis @ coefficients - target) * weight)
        if best is None or error.max() < best[0]:
            best = error.max(), coefficients
        share *= error / error.max() + 1e-3
        share /= share.mean()
    return best


def fit(function, low, high, degree, weight, shift=0.0, count=120):
    x = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    target = np.array([float(function(m.mpf(v))) for v in x])
    weights = np.array([float(weight(m.mpf(v))) for v in x])
    powers = [(x - shift) ** power for power in range(degree + 1)]
    coefficients = []
    for power in range(degree + 1):
        rest = target - sum((c * p for c, p in zip(coefficients, powers)), np.zeros_like(x))
        _, free = lawson(np.stack(powers[power:], axis=1), rest, weights, 15 if power else 60)
        coefficients.append(float(np.float32(free[0])))
    value = sum(c * p for c, p in zip(coefficients, powers))
    return coefficients, np.abs((value - target) * weights).max()


def relative(function):
    return lambda x: 1 / function(x)


def by_root(function):
    """A function of x as one of x², where it is defined at 0 by its limit."""
    return lambda square: function(m.sqrt(square))


def inverse_erfc(q):
    y = m.sqrt(-m.log(q))
    y = m.sqrt(-m.log(q * m.sqrt(m.pi) * y)) if y > 1.5 else y
    return m.findroot(lambda t: m.log(m.erfc(t)) - m.log(q), y)


def erfinv_by_log2(log2):
    x = m.sqrt(1 - m.mpf(2) ** log2)
    return m.erfinv(x) / x


def erfinv_by_root(root):
    """erfinv(x) / x by sqrt(-log(1 - x²))."""
    q = -m.expm1(m.log1p(-m.exp(-root * root)) / 2)
    return inverse_erfc(q) / (1 - q)


def erfcx_by_part(part):
    x = m.mpf(2.5) * part / (1 - part)
    if x > 1e4:
        return (m.mpf(0.5) + x) / (x * m.sqrt(m.pi)) * (1 - 1 / (2 * x * x) + 3 / (4 * x**4))
    return m.exp(x * x) * m.erfc(x) * (m.mpf(0.5) + x)


def lgamma_near_2(v):
    return 1 - m.euler if v == 0 else m.euler if v == -1 else m.loggamma(2 + v) / (v * (v + 1))


def stirling_rest(square):
    """x (lgamma(x) - (x - 1/2) (log(x) - 1)) less a constant, by 1 / x²."""
    x = 1 / m.sqrt(square)
    return x * (m.loggamma(x) - ((x - 0.5) * (m.log(x) - 1) + m.log(2 * m.pi) / 2 - 0.5))


def stirling_factor(inverse):
    x = 1 / inverse
    return m.gamma(x) / (m.power(x, x - 0.5) * m.exp(-x))


def over_zero(kind, order, zero):
    """A Bessel function over its distance from a zero, and the weight that makes its error relative."""
    zero = m.findroot(lambda x: kind(order, x), zero)
    return lambda x: kind(order, x) / (x - zero), lambda x: (x - zero) / kind(order, x)


def over_zeros(kind, order, zero):
    """The same over the distance of the squares, by the square (order 1: over x, too)."""
    zero = m.findroot(lambda x: kind(order, x), zero) ** 2
    divided = lambda square: kind(order, m.sqrt(square)) / (square - zero) / m.sqrt(square) ** order
    return divided, relative(divided)


def wave(order):
    """P and Q / (8 / x) of J = sqrt(2 / (pi x)) (P cos c - Q sin c) by (8 / x)²."""
    def both(square):
        x = 8 / m.sqrt(square)
        c, scale = x - m.pi / 4 - order * m.pi / 2, m.sqrt(m.pi * x / 2)
        j, y = m.besselj(order, x) * scale, m.bessely(order, x) * scale
        return j * m.cos(c) + y * m.sin(c), (y * m.cos(c) - j * m.sin(c)) / m.sqrt(square)
    return (lambda square: both(square)[0]), (lambda square: both(square)[1])


def second_kind_rest(order, zero):
    """What the logarithmic part leaves of Y: over x² - z² (order 0), over x (order 1)."""
    def rest(square):
        x = m.sqrt(square)
        part = 2 / m.pi * (m.log(x / zero) * m.besselj(order, x) - (1 / x if order else 0))
        return (m.bessely(order, x) - part) / (x if order else square - zero * zero)
    weight = lambda square: (m.sqrt(square) if order else square - zero * zero) / m.bessely(order, m.sqrt(square))
    return rest, weight


def modified(order):
    near = lambda z: m.besseli(order, 2 * m.sqrt(z)) / m.sqrt(z) ** order
    far = lambda inverse: m.besseli(order, 1 / inverse) * m.exp(-1 / inverse) / m.sqrt(inverse)
    return near, far


def fits():
    """Name, function, interval, degree, weight, and what is subtracted from the variable."""
    tiny, quarter = 1e-8, (np.pi / 4 * 1.003) ** 2
    yield "sin", by_root(lambda x: (m.sin(x) / x - 1) / x**2), tiny, quarter, 2, lambda z: z, 0
    yield "cos", by_root(lambda x: (m.cos(x) - 1) / x**2), tiny, quarter, 3, lambda z: z / m.cos(m.sqrt(z)), 0
    asin = by_root(lambda x: (m.asin(x) / x - 1) / x**2)
    yield "asin", asin, tiny, 0.25003, 5, lambda z: z / (1 + z * asin(z)), 0
    sine = by_root(lambda x: m.sin(m.pi * x) / x)
    yield "sine of pi x, by x", sine, tiny, 0.25, 4, relative(sine), 0
    yield "erfinv near", erfinv_by_log2, -8.3, -1e-9, 10, relative(erfinv_by_log2), 0
    yield "erfinv middle", erfinv_by_root, 5.744**0.5, 16.7**0.5, 8, relative(erfinv_by_root), 3.140625
    yield "erfinv far", erfinv_by_root, 16.5**0.5, 103.5**0.5, 8, relative(erfinv_by_root), 7.34375
    yield "erfcx, erfc", erfcx_by_part, 0, 0.9999999, 11, relative(erfcx_by_part), 0.25
    yield "lgamma near", lgamma_near_2, -1, 1.001, 12, relative(lgamma_near_2), 0
    yield "lgamma series", stirling_rest, 1e-4, 1 / 9, 2, lambda u: m.sqrt(u) / m.loggamma(1 / m.sqrt(u)), 0
    gamma = lambda v: m.gamma(2 + v)
    yield "tgamma near", gamma, -0.5, 1.001, 10, relative(gamma), 0
    yield "tgamma series", stirling_factor, 1 / 45, 1 / 2.99, 4, relative(stirling_factor), 0
    logarithm = by_root(lambda t: (m.log((1 + t) / (1 - t), 2) / t - 2 / m.log(2)) / t**2)
    yield "log2 in two parts", logarithm, 1e-6, 0.02973, 3, relative(logarithm), 0
    yield from bessel_fits()


def bessel_fits():
    j, y, tiny = m.besselj, m.bessely, 1e-9
    yield "j0 low", *reorder(over_zeros(j, 0, 2.4), tiny, 3.9**2, 6), 7
    yield "j0 high", *reorder(over_zero(j, 0, 5.5), 3.9, 8, 9), 6
    yield "j1 low", *reorder(over_zeros(j, 1, 3.8), tiny, 5.3**2, 7), 14
    yield "j1 high", *reorder(over_zero(j, 1, 7.0), 5.3, 8, 8), 6.65625
    yield "y0 low", *reorder(second_kind_rest(0, m.findroot(lambda x: y(0, x), 0.89)), tiny, 2.2**2, 5), 0
    yield "y0 of J", by_root(lambda x: j(0, x)), tiny, 2.2**2, 5, lambda z: 1, 0
    yield "y0 middle", *reorder(over_zero(y, 0, 3.95), 2.2, 5.5, 10), 3.84375
    yield "y0 high", *reorder(over_zero(y, 0, 7.08), 5.5, 8, 8), 6.75
    yield "y1 low", *reorder(second_kind_rest(1, 1), tiny, 1.6**2, 4), 0
    yield "y1 of J", by_root(lambda x: j(1, x) / x), tiny, 1.6**2, 4, lambda z: 1, 0
    yield "y1 middle", *reorder(over_zero(y, 1, 2.19), 1.6, 3.8, 11), 2.6875
    yield "y1 high", *reorder(over_zero(y, 1, 5.43), 3.8, 8, 10), 5.90625
    for order in (0, 1):
        p, q = wave(order)
        yield f"p{order}", p, 1e-5, 1, 2, lambda z: 1, 0
        yield f"q{order}", q, 1e-5, 1, 2, m.sqrt, 0
        near, far = modified(order)
        yield f"i{order} near", near, 1e-12, 7.75**2 / 4, 9, relative(near), 0
        yield f"i{order} far", far, 1 / 95, 1.001 / 7.75, 5, relative(far), 0


def reorder(pair, low, high, degree):
    function, weight = pair
    return function, low, high, degree, weight


def main():
    for name, function, low, high, degree, weight, shift in fits():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        coefficients, error = fit(function, float(low), float(high), degree, weight, shift)
        print(f"{name}, error {error:.1e}:", ", ".join(f"{c:.9e}" for c in coefficients))


if __name__ == "__main__":
    main()
