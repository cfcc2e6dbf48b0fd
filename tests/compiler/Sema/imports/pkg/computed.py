# A module whose names are computed when they are asked for.


def __getattr__(name):
    return compute(name)
