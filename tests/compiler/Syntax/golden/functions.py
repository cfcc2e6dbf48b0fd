def f(): pass
def f(a, b=1, /, c=2, *, d, e=3, **kw): return
def f(*args: int, key: str = "x") -> tuple[int, ...]:
    """Docstring."""
    return a, *b
def f(*args: *Ts): ...
def f[T: int, *Ts, **P, U = int](x: T) -> T: return x
async def f():
    await g()
    async with a as b: pass
    async for x in y: pass
    yield
    x = yield 1, 2
    yield from z
    return await h(), 1
@a.b
@c(1)[2]
@(lambda f: f)
def g(
    x,
    y: int = 1,
):
    global p, q
    nonlocal r
    def inner():
        return x
    return inner
@decorator
async def h(): ...
class A: x = 1
class B(A, metaclass=M, *bases, **kw):
    y: int = 0

    @property
    def z(self): return self.y
class C[T](): pass
def annotated_on_the_next_line(a, b:
    T, c:
    T = 1
): pass
