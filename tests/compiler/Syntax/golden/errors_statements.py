1 = x
f() = x
a + b = c
None = 1
a, 1 = b
*a = b
*a, *b = c
[a, b] += c
f(): int = 1
del f()
del *a
for 1 in x: pass
x y
whlie x:
    pass
retrun x
x := 1
a ? b
a $ b
x = \ y
