"""Samples of large test suites."""

import math
import random
import re


def function_of(name):
    return name.split("[")[0]


def size_of(name):
    """The product of the whole numbers between dashes of a case's name: test_softmax[4-4096-float32] has 16384."""
    parameters = name.partition("[")[2].rstrip("]")
    return math.prod(max(1, int(number)) for number in re.findall(r"(?<![^-])\d+(?![^-])", parameters))


def sample(names, count, seed=0, smallest=False):
    """The indices of at most `count` cases of each test function: with a seed equal ones in every process."""
    order = list(range(len(names)))
    random.Random(seed).shuffle(order)
    if smallest:
        order.sort(key=lambda index: size_of(names[index]))
    seen, kept = {}, set()
    for index in order:
        function = function_of(names[index])
        seen[function] = seen.get(function, 0) + 1
        if seen[function] <= count:
            kept.add(index)
    return kept
