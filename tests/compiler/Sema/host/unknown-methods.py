# Methods of what has something unknown in it, or gets it: what depends on that is unknown, all else is not.
# RUN: not sema-tool %s --kernel unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# RUN: sema-tool %s --kernel known | FileCheck %s --check-prefix=KNOWN
# SIG: p=*fp32
import torch
import triton
import triton.language as tl

COUNT = torch.cuda.device_count()

ADDED = {1}
ADDED.update([COUNT])
PAIRS = {(1, 1)}
PAIRS.add((COUNT, 1))
DISJOINT = {1}.isdisjoint([COUNT])
INDEX = [COUNT, 1].index(1)
COUNTED = [COUNT, 1].count(1)
SORTED = [COUNT, 2, 1]
SORTED.sort()
REMOVED = [COUNT, 2, 1]
REMOVED.remove(2)
GOT = {(1, 1): 5}.get((COUNT, 1), 7)
UPDATED = {1: 2}
UPDATED.update([(COUNT, 3)])
DELETED = {1: 2}
try:
    del DELETED[COUNT]
except KeyError:
    pass
MADE = dict([(COUNT, 3), (1, 2)])
LONGER = [3, 2]
LONGER.extend(COUNT)
BY_KEY = [3, 1, 2]
BY_KEY.sort(key=COUNT)
BY_FUNCTION = [3, 1, 2]
BY_FUNCTION.sort(key=lambda x: COUNT)
TEXT = '{x}'.format(x=COUNT)
KEPT = [1, COUNT]
KEPT.append(2)
FOUND = [5, 7]
FOUND.index(COUNT)
HELD = {1: 2}
HELD.update(a=COUNT)
HELD.setdefault(3, COUNT)
TAKEN = [4, COUNT].pop(0)
APART = {1}.isdisjoint([2, 3]) and not {1, 2}.isdisjoint((2,))


@triton.jit
def unknown(p):
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, len(ADDED))
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, len(PAIRS))
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, DISJOINT)
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, INDEX)
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, COUNTED)
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, SORTED[1])
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, REMOVED[1])
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, GOT)
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, len(UPDATED))
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, len(DELETED))
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, MADE[1])
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, len(LONGER))
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, BY_KEY[0])
    # UNKNOWN: error: the value of 'torch.cuda.device_count()
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: note: its value is needed here
    tl.store(p, BY_FUNCTION[0])
    # UNKNOWN: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()
    tl.store(p, len(TEXT))


@triton.jit
def known(p):
    # KNOWN-DAG: arith.constant 2.000000e+00
    tl.store(p + 0, KEPT[2] * 1.0)
    # KNOWN-DAG: arith.constant 7.000000e+00
    tl.store(p + 1, FOUND[1] * 1.0)
    # KNOWN-DAG: arith.constant 3.000000e+00
    tl.store(p + 2, len(HELD) * 1.0)
    # KNOWN-DAG: arith.constant 4.000000e+00
    tl.store(p + 3, TAKEN * 1.0)
    # KNOWN-DAG: arith.constant 6.000000e+00
    tl.store(p + 4, APART * 6 * 1.0)
