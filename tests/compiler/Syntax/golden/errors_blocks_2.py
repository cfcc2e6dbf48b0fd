try:
    a
except A:
    b
except* B:
    c
try:
    a
except A, B:
    c
@decorator
x = 1
if a: for x in y: pass
with a as f(): pass
x = 1; if y: pass
async x
if x = 1:
    pass
while y = 2: pass
