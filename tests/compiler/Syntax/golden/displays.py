()
(a,)
(a, b)
[]
[a, *b, c,]
{}
{a}
{a, *b}
{a: b, **c, "d": e,}
[x for x in y]
[x for x in y if a if b for z in x]
{x for x, y in z}
{k: v for k, v in z}
(x for x in y)
f(x for x in y)
f(a, (x for x in y))
[(i, j) for i in range(3) for j in range(i)]
[x async for x in y]
[*a]
[y := f(x), y ** 2]
[x if a else b for x in (y if c else d)]
(
    a +
    b
)
