if a
    b = 1
while c:
d = 2
  e = 3
if f:
        g
    h
def k(x)
    return x
for i in range(3)
class A
else:
    pass
if a:
    b
else if c:
    d
else:
    e
try:
    a
b = 1
try:
    a
except:
    b
except C:
    c
