f()
f(a, b=1, *c, **d)
f(*a, *b, c)
f(a,)
f(x := 1)
a.b.c(d)(e)[f].g
a[0]
a[1:2]
a[:]
a[::2]
a[1:2:3]
a[:, None]
a[None, :, ...]
a[1,]
a[*b]
a[x := 1]
a[b:c, d]
kernel[(n,)](x, BLOCK=4)
kernel[lambda meta: (meta["N"],)](x)
