# Precedence, from loosest to tightest.
a if b else c if d else e
not a or b and not c
a < b <= c is not d not in e
a | b ^ c & d << e + f * g
a - b - c
a / b // c % d @ e
-a ** -b ** c
~-+a
await_ = (await_ for _ in x)
-a[0].b(c) ** 2
(a + b) * c
a == (b == c)
not a == b
a and (b and c)
x = y = z = 1, 2
(w := 5) + 1
lambda x, /, y=1, *args, z, **kw: x if y else z
lambda: (yield)
a @ b
a >> b >> c
1 if x else 2
