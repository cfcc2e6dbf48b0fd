"""Kernels without products, Kiln's beside Triton's: accesses and their widths, and what stands beside them.

What is compared is a way through the code: of all that load and store most, the one with fewest instructions. That is what a tile that nothing
bounds takes, where a compiler has other code for tiles that end within; a branch by a flag goes where what the way has set it to leads; of two branches with accesses that lanes take one of, it takes one, and others that lanes
take both, as some lane of a wave mostly does. Loops that both have
are compared round by round, the longer one's numbers divided by how many times the bytes it has, of a lane and of what a wave loads once for all lanes; of kernels without loops in one of them, all of the code.

Mask arithmetic is counted: comparisons of integers in lanes, and what is computed of them: combinations, selections by them, numbers of active lanes, and branches
around lanes that do nothing. Some of it is what kernels ask for (`tl.where(column == target, …)`), so it is compared with Triton's.
"""
import collections
import itertools
import math
import re
import sys

from amd_assembly import Kernel, cycles_of_mca, occupancy
from amd_verdict import number

COMPARED = re.compile(r"^v_cmpx?_(?:eq|ne|lg|lt|gt|le|ge)_[iu](?:16|32|64)")
COMBINED = re.compile(r"^s_(?:and|or|xor|andn2|orn2|and_not1|or_not1|nand|nor|not|mov)_b(?:32|64)$")
SCALAR_LOAD = re.compile(r"^s_(?:buffer_)?load_(?:dword(?:x(?P<words>\d+))?|[bu](?P<bits>\d+))$")
EXEC, VCC = ("exec", "exec_lo"), ("vcc", "vcc_lo")
BY_FLAG = re.compile(r"^s_and(?P<inverts>n2|_not1)?_b(?:32|64)$")
ACCESS = re.compile(r"^(?:buffer|global|flat)_(?:load|store)_")
CLASSES = ("vector", "scalar", "lds", "access", "branch", "wait")
OF_KIND = {"valu": "vector", "accvgpr": "vector", "matrix": "vector", "salu": "scalar", "barrier": "scalar", "lds_read": "lds", "lds_write": "lds", "lane_exchange": "lds",
           "load": "access", "store": "access", "branch": "branch"}


def is_access(instruction):
    """Of memory that kernels name, and no atomic operation."""
    return bool(ACCESS.match(instruction.name))


def bytes_of(instruction):
    return instruction.bits() // 8 if is_access(instruction) else 0


def scalar_bytes_of(instruction):
    """Of a load that a wave makes once for what all of its lanes read."""
    load = SCALAR_LOAD.match(instruction.name)
    return 0 if not load else int(load["bits"]) // 8 if load["bits"] else 4 * int(load["words"] or 1)


#===-- ways through the code ----------------------------------------------------------------------===#


class Ways:
    """The kernel's blocks, its loops that access memory, and the way through each."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.ranges, self.after = kernel.blocks()
        self.flags = {i.operands[2] for i in kernel.instructions if BY_FLAG.match(i.name) and i.operands[0] in VCC and i.operands[1] in EXEC}

    def body(self, block):
        return self.kernel.instructions[self.ranges[block][0]:self.ranges[block][1]]

    def loops(self):
        """Loops with accesses, without loops in them that have some, in the order of the text."""
        accessing = {head: body for head, body in self.kernel.natural_loops().items() if any(is_access(i) for block in body for i in self.body(block))}
        inner = [(head, body) for head, body in accessing.items() if not any(other != head and other in body for other in accessing)]
        return sorted(inner, key=lambda loop: loop[0])

    def _half(self, block):
        """Of a branch around what some lanes do: "then", or "else" for what the others do; None."""
        body = self.body(block)
        if not body or not body[-1].name.startswith("s_cbranch_execz"):
            return None
        saves = [i.name for i in body if "saveexec" in i.name]
        return "else" if saves and saves[-1].startswith(("s_andn2", "s_or", "s_and_not1")) else "then"

    def _behind(self, block, flags):
        """The flags that are known behind the block, of those before it, and where it goes by them; None where that may be anywhere."""
        known, vcc = dict(flags), None
        for i in self.body(block):
            if not i.operands:
                continue
            target, sources = i.operands[0], i.operands[1:]
            if target in VCC:
                by = BY_FLAG.match(i.name)
                vcc = known.get(sources[1]) if by and sources[0] in EXEC else None
                vcc = not vcc if vcc is not None and by["inverts"] else vcc
            elif target in self.flags:
                known.pop(target, None)
                if i.name.startswith("s_mov_b") and sources[0] in ("0", "-1"):
                    known[target] = sources[0] == "-1"
        last = self.body(block)[-1]
        if vcc is None or not last.name.startswith("s_cbranch_vcc"):
            return frozenset(known.items()), None
        taken = vcc == last.name.startswith("s_cbranch_vccnz")
        return frozenset(known.items()), self.kernel.labels.get(last.operands[-1]) if taken else self.ranges[block][1]

    def _next(self, block, inside, done, flags):
        """(next block, whether lanes have done the one half of what they choose between, flags)."""
        flags, start = self._behind(block, flags)
        half, targets = self._half(block), [t for t in self.after[block] if t in inside and start in (None, self.ranges[t][0])]
        chooses = half == "then" and any(self._half(t) == "else" for t in self.after[block] if t != block + 1)
        accesses = any(is_access(i) for around in range(block + 1, max(targets, default=0)) for i in self.body(around))
        for target in targets:
            enters = target == block + 1
            if half and not enters and not accesses or half == "else" and accesses and enters == done:
                continue
            yield target, enters if chooses and accesses else done, flags

    def best(self, head, inside):
        """The instructions' numbers of the way from the head on that moves most bytes, with fewest instructions."""
        known, pending = {}, set()
        def way(block, done, flags):
            state = (block, done, flags)
            if state in known:
                return known[state]
            if state in pending:  # a loop in it: once
                return None
            pending.add(state)
            ways = [w for w in (way(*after) for after in self._next(block, inside - {head}, done, flags)) if w]
            own = list(range(*self.ranges[block]))
            moved, length = sum(bytes_of(self.kernel.instructions[at]) for at in own), len(own)
            further = max(ways, key=lambda w: w[0], default=((0, 0), []))
            pending.discard(state)
            known[state] = ((further[0][0] + moved, further[0][1] - length), own + further[1])
            return known[state]
        return way(head, False, frozenset())[1]


def way_of_loop(ways, head, body):
    return ways.best(head, set(body))


def way_of_kernel(ways):
    return ways.best(0, set(range(len(ways.ranges))))


#===-- what is counted ----------------------------------------------------------------------------===#


def masks_of(kernel):
    """Numbers of instructions that are mask arithmetic, by the order of the text."""
    masks, found = set(), set()
    for at, i in enumerate(kernel.instructions):
        if not i.operands:
            continue
        target, sources = i.operands[0], i.operands[1:]
        from_masks = any(s in masks for s in sources)
        if COMPARED.match(i.name):
            masks.add(target)
            found.add(at)
        elif i.name.startswith("s_cbranch_exec") or target.startswith("exec"):
            found.add(at)
        elif "saveexec" in i.name:
            masks.add(target)
            found.add(at)
        elif COMBINED.match(i.name) and from_masks or re.match(r"s_cselect_b(32|64)", i.name) and sources == ["-1", "0"]:
            masks.add(target)
            found.add(at)
        elif i.name.startswith("v_cndmask") and sources[-1] in masks:
            found.add(at)
        elif target.startswith(("s", "vcc")) and i.kind() in ("valu", "salu") and not i.name.startswith("s_cmp"):
            masks.discard(target)
    return found


def counted(kernel, way, masks, arch):
    body = [kernel.instructions[at] for at in way]
    classes = collections.Counter(OF_KIND.get(i.kind()) for i in body)
    classes["wait"] = sum(i.name.startswith("s_wait") for i in body)
    widths = collections.Counter(f"{i.kind()} {bytes_of(i)}" for i in body if is_access(i))
    return {"bytes": sum(map(bytes_of, body)), "scalar_bytes": sum(map(scalar_bytes_of, body)), "accesses": sum(map(is_access, body)), "widths": dict(widths), **{c: classes[c] for c in CLASSES},
            "instructions": sum(classes[c] for c in CLASSES), "masks": sum(at in masks for at in way),
            "barriers": sum(i.kind() == "barrier" for i in body), "mca": cycles_of_mca(kernel, way, arch)[0] if way else None}


def measure_streaming(text, arch, num_warps, shared=None):
    sys.setrecursionlimit(1_000_000)  # a way through some thousand blocks
    kernel = Kernel(text)
    ways, masks, resources = Ways(kernel), masks_of(kernel), kernel.resources()
    resources["lds"] = max(resources["lds"], shared or 0)
    return {**resources, "occupancy": occupancy(resources, num_warps, arch), "products": sum(i.products() for i in kernel.instructions),
            "loops": [counted(kernel, way_of_loop(ways, *loop), masks, arch) for loop in ways.loops()],
            "whole": counted(kernel, way_of_kernel(ways), masks, arch)}


#===-- side by side -------------------------------------------------------------------------------===#


def scaled(numbers, share):
    return {name: ({w: n / share for w, n in value.items()} if name == "widths" else None if value is None else value / share) for name, value in numbers.items()}


def together(parts):
    result = {name: None if any(p[name] is None for p in parts) else sum(p[name] for p in parts) for name in parts[0] if name != "widths"}
    return {**result, "widths": dict(sum((collections.Counter(p["widths"]) for p in parts), collections.Counter()))}


def shape_of(loop):
    """Accesses by their widths, however many iterations the loop does in a round."""
    common = math.gcd(*loop["widths"].values())
    return {width: n // common for width, n in loop["widths"].items()}


def meetings_of(loop):
    """How often threads meet for the same bytes, however many iterations the loop does in a round."""
    return loop["barriers"] / loop["bytes"]


def without_versions(loops, count):
    """Loops while there are more than `count`, without what is there again: behind a loop of several iterations a round the one of what is left over, and of
    others with the same accesses, those of most bytes, the one where threads meet more, which is for equal arguments."""
    loops = list(loops)
    for loop, rest in itertools.pairwise(list(loops)):
        if len(loops) > count > 0 and shape_of(loop) == shape_of(rest) and loop["bytes"] > rest["bytes"] and meetings_of(loop) >= meetings_of(rest):
            loops.remove(rest)
    while len(loops) > count > 0:
        alike = [(a, b) for a, b in itertools.combinations(loops, 2) if shape_of(a) == shape_of(b)]
        if not alike:
            break
        loops.remove(max(max(alike, key=lambda pair: pair[0]["bytes"]), key=lambda loop: (meetings_of(loop), loop["instructions"] / loop["bytes"])))
    return loops


def side_by_side(outcome):
    """(Kiln's numbers, Triton's): of loops for the same bytes."""
    kiln, triton = (outcome[c]["loops"] for c in ("kiln", "triton"))
    kiln, triton = without_versions(kiln, len(triton)), without_versions(triton, len(kiln))
    if len(kiln) != len(triton):
        kiln, triton = ([max(loops, key=lambda l: (l["bytes"], -l["instructions"]))] if loops else [] for loops in (kiln, triton))
    if not kiln or not triton:
        return outcome["kiln"]["whole"], outcome["triton"]["whole"]
    halves = ([], [])
    for ours, theirs in zip(kiln, triton):
        both = [numbers["bytes"] + numbers["scalar_bytes"] for numbers in (ours, theirs)]
        for half, numbers, touched in zip(halves, (ours, theirs), both):
            # What one loads twice makes up parts of a round.
            half.append(scaled(numbers, max(1, round(touched / min(both))) if min(both) else 1))
    return tuple(map(together, halves))


def width(numbers):
    return numbers["bytes"] / numbers["accesses"] if numbers["accesses"] else 0


def widths_text(numbers):
    parts = sorted(((kind, int(size), count) for (kind, size), count in ((key.split(), n) for key, n in numbers["widths"].items())), key=lambda p: (p[0], -p[1]))
    return ", ".join(f"{number(count)} {'of' if kind == 'load' else 'to'} {size}" for kind, size, count in parts)


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def print_streaming(outcomes):
    columns = ("vector", "scalar", "lds", "branch", "wait", "masks", "instructions", "mca")
    print("| kernel | VGPR | spills | waves | loads of and stores to bytes, Kiln's | Triton's | bytes an access | " + " | ".join(columns) + " | instructions: Triton's / Kiln's |")
    print("| --- " * (len(columns) + 8) + "|")
    compared = []
    for outcome in outcomes:
        errors = [f"{c}: {outcome[c]['error']}" for c in ("kiln", "triton") if "error" in outcome[c]]
        errors = errors or ["it multiplies matrices"] * any(outcome[c]["products"] for c in ("kiln", "triton"))
        if errors:
            print(f"| {outcome['name']} | " + "; ".join(errors) + " |")
            continue
        ours, theirs = side_by_side(outcome)
        compared.append((outcome["name"], ours, theirs))
        both = lambda get: f"{get(outcome['kiln'])} / {get(outcome['triton'])}"
        cells = [both(lambda o: o["vgpr"]), both(lambda o: o["spilled"]), both(lambda o: number(o["occupancy"])), widths_text(ours), widths_text(theirs),
                 f"{number(width(ours))} / {number(width(theirs))}"]
        cells += [f"{number(ours[c])} / {number(theirs[c])}" for c in columns]
        print(f"| {outcome['name']} | " + " | ".join(cells) + f" | {theirs['instructions'] / ours['instructions']:.2f} |")
    print_summary(compared)


def print_summary(compared):
    """How many kernels are above Triton's, in what."""
    if not compared:
        return
    def names(above):
        found = [name for name, ours, theirs in compared if above(ours, theirs)]
        return f"{len(found)}" + (f": {', '.join(found)}" if found else "")
    print(f"\nof {len(compared)} kernels")
    print("  narrower accesses than Triton's, and more of them:", names(lambda k, t: width(k) < 0.99 * width(t) and k["accesses"] > 1.005 * t["accesses"]))
    print("  more instructions:", names(lambda k, t: k["instructions"] > 1.005 * t["instructions"]))
    print("  more mask arithmetic:", names(lambda k, t: k["masks"] > t["masks"] + 0.01))
    print(f"  any mask arithmetic: {names(lambda k, t: k['masks'] > 0).split(':')[0]}, Triton {names(lambda k, t: t['masks'] > 0).split(':')[0]}")
    for what in ("instructions", "vector", "scalar", "accesses", "masks", "mca"):
        ratios = [t[what] / k[what] for _, k, t in compared if k[what] and t[what]]
        print(f"  geometric mean, {what}, Triton's / Kiln's: {geometric_mean(ratios):.3f} over {len(ratios)}")
