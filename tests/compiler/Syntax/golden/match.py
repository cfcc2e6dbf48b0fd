match x:
    case 1 | -2 | 3 + 4j: pass
    case "a" "b" | None | True: pass
    case A.B: pass
    case _: pass
    case y if y > 0: pass
    case [a, *rest] | (b, _): pass
    case a, *_: pass
    case (a): pass
    case (a,): pass
    case (): pass
    case {"k": v, **rest}: pass
    case {}: pass
    case P(1, x=2, y=Q()) as p: pass
    case (1 | 2) as z: pass
match a, b:
    case *c, d: pass
match(x)
match = 1
match[x] = 2
match.y: int
print(match, case)
case = 3
