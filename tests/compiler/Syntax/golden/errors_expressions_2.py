y = 1 +
y = (a = b)
y = (*a)
[*x for x in y]
{a: b, c}
{a: b for a}
x.class
x[]
lambda x: 
def f(x, x): pass
def f(a=1, b): pass
def f(*): pass
def f(/, a): pass
def f(**k, a): pass
def f(*a, *b): pass
def f(*a=1): pass
def class(): pass
def f(a b): pass
import
from x import
