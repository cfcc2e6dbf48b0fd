print "hello"
exec code
x++
y = a && b
y = a || b
y = a <> b
y = !a
y = (a b)
y = [a b]
f(a b)
f(a=1, b)
f(**a, b)
f(**a, *b)
f(a=1, a=2)
f(x for x in y, 1)
f(1, x for x in y)
y = a if b
