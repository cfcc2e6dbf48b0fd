x: int
x: tl.constexpr = 0
(x): int = 1
a.b: int = yield_
a[0]: "text" = 3
x += 1
x -= 1
x *= 1
x /= 1
x //= 1
x %= 1
x @= 1
x **= 1
x <<= 1
x >>= 1
x &= 1
x |= 1
x ^= 1
a, b = b, a
(a, b), [c, *d] = e
*a, = b
a.b, c[0] = x
x = *a, *b
a = b = c[d:e] = f
x += 1, 2
del a, b.c, d[0]
del (a, b), [c]
