x = foo(1, (2, 3)
y = 1

def f(a):
    return a)

z = [1, 2)
w = (a[1)
v = {1: 2
import os
print(f(x, "unterminated)
def g(x, y:
    return x +
if h(x:
    pass
ok = (lambda a:
      a)
if ok(lambda a:
      a): pass
last = f([1, 2
