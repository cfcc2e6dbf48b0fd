match x:
    case a + b: pass
    case f(x=1, 2): pass
    y = 1
match x:
    case ==: pass
