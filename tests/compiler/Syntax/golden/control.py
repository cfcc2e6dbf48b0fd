if a: b
if a:
    b
elif c:
    d
elif e: f
else:
    g
if a: pass
else:
    if b: pass
while x := f():
    break
else:
    continue
for i in range(10): pass
for i, (a, b) in c:
    pass
else:
    pass
for x in *a, b: pass
for a[0] in b: pass
with a: pass
with a as b, c() as d.e: pass
with (a as b, c): pass
with (a, b): pass
with (a, b) as c: pass
with (a): pass
with (yield): pass
with (a as b,): pass
with open("x") as (c, d): pass
try:
    a
except A:
    b
except (B, C) as d:
    c
except:
    d
else:
    e
finally:
    f
try: a
finally: b
try: a
except* E: b
raise
raise A
raise A from b
assert a
assert a, "b"
a; b; c;
type X[T] = list[T]
type = 1
