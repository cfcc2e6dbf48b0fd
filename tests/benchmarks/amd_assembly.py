"""AMD assembly as data: the main loop of a kernel, its instructions by class, registers, and cycles of shared memory.

Both compilers print what LLVM's AMDGPU back end prints, so one reader serves both. Shared-memory addresses of the loop are
computed by running the kernel's integer instructions for the 64 (32) lanes of the first wave; what hangs on arguments or on
memory is unknown, and an access by an unknown address counts as one without conflicts.
"""
import collections
import re
import subprocess

import numpy as np

MATRIX = ("v_mfma", "v_smfmac", "v_wmma", "v_swmmac")
GLOBAL = ("buffer_", "global_", "flat_", "scratch_")
CLASSES = ("matrix", "valu", "accvgpr", "salu", "lds_read", "lds_write", "lane_exchange", "load", "store", "wait", "barrier", "branch")
# A branch to far away adds how far its label is to where it stands.
FAR = re.compile(r"\((\.LBB\w+)-\.Lpost_getpc")
# Products of a matrix instruction are in its name: 32x32x8, 16x16x16.
SHAPE = re.compile(r"_(\d+)x(\d+)x(\d+)")
MULTIPLY_ADD = re.compile(r"\bv_(?:dual_|pk_)?(?:fma|fmac|fmaak|fmamk|fma_mix|mac|dot2c?|dot2acc)_(?:f32|f16|f64|mixlo_f16|mixhi_f16)")


class Instruction:
    def __init__(self, line):
        parts = line.split(";")[0].split("//")[0].strip().split(None, 1)
        self.text, self.name = line.split(";")[0].strip(), parts[0]
        self.operands = [o.strip() for o in re.split(r",\s*(?![^\[]*\])", parts[1])] if len(parts) > 1 else []

    def kind(self):
        n = self.name
        if n.startswith(MATRIX):
            return "matrix"
        if n.startswith("ds_"):
            if n.startswith(("ds_bpermute", "ds_permute", "ds_swizzle")):
                return "lane_exchange"
            return "lds_read" if n.startswith(("ds_read", "ds_load")) else "lds_write"
        if n.startswith(GLOBAL):
            return "load" if "_load" in n else "store"
        if n.startswith("v_accvgpr"):
            return "accvgpr"
        if n.startswith("v_"):
            return "valu"
        if n.startswith(("s_waitcnt", "s_wait_", "s_delay")):
            return "wait"
        if n.startswith("s_barrier"):
            return "barrier"
        if n.startswith(("s_cbranch", "s_branch", "s_setpc", "s_endpgm")):
            return "branch"
        if n.startswith(("s_nop", "s_setprio", "s_clause", "sched_")):
            return "hint"
        return "salu"

    def copies(self):
        """To the LDS, not to a register."""
        return self.kind() == "load" and bool(re.search(r"_lds_|\blds\b", self.text))

    def bits(self):
        """Of a lane's access."""
        n = self.name
        twice = 2 if re.search(r"(read2|write2|load_2addr|store_2addr)", n) else 1
        for pattern, bits in ((r"b128|x4\b|dwordx4", 128), (r"b96|dwordx3", 96), (r"b64|dwordx2", 64), (r"u16|i16|b16|short|d16", 16), (r"u8|i8|b8|byte", 8)):
            if re.search(pattern, n):
                return bits * twice
        return 32 * twice

    def products(self):
        shape = SHAPE.search(self.name)
        return int(shape[1]) * int(shape[2]) * int(shape[3]) if shape else 0

    def work(self):
        """Multiply-adds of a wave of 64, in matrix instructions or on numbers of 16 bits or more in lanes."""
        return self.products() or 64 * len(MULTIPLY_ADD.findall(self.text)) * (2 if self.name.startswith(("v_pk_", "v_dot2")) else 1)


class Kernel:
    """The instructions of a function in the order of the text, the first one's."""

    def __init__(self, text):
        self.text = text
        self.labels, self.instructions = {}, []
        self.started = False
        for line in text.splitlines():
            if self._read(line):
                break

    def _read(self, line):
        label = re.match(r"^([.\w$]+):", line)
        if label:
            self.started |= not label[1].startswith(".L")
            if self.started:
                self.labels[label[1]] = len(self.instructions)
            return False
        # Inline assembly stands at the beginning of its lines.
        if not self.started or not re.match(r"[\ta-z]", line):
            return False
        body = line.strip()
        if body.startswith(".end_amdhsa_kernel") or body.startswith((".section", ".rodata")):
            return bool(self.instructions)
        if re.match(r"\.p2align\s+8$", body) and self._loads_arguments_alone():
            self.instructions.clear()
        if body.startswith((".", ";", "#")) or not body:
            return False
        self.instructions.append(Instruction(line))
        return False

    def _loads_arguments_alone(self):
        """What stands in front of a kernel for firmware that does not load arguments into registers: others start 256 bytes behind it."""
        *loads, last = self.instructions or [None]
        return bool(loads) and last.name == "s_branch" and all(i.name.startswith(("s_load_", "s_waitcnt")) for i in loads)

    def blocks(self):
        """Ranges of instructions that run through, and which ones each may go on to; none for what is never reached."""
        starts = {0, *self.labels.values(), *(at + 1 for at, i in enumerate(self.instructions) if i.kind() == "branch")}
        starts = sorted(at for at in starts if at < len(self.instructions))
        ranges = list(zip(starts, [*starts[1:], len(self.instructions)]))
        block_at = {start: number for number, (start, _) in enumerate(ranges)}
        after = []
        for number, (start, end) in enumerate(ranges):
            last = self.instructions[end - 1]
            targets = set()
            if last.kind() == "branch" and last.operands and self.labels.get(last.operands[-1]) in block_at:
                targets.add(block_at[self.labels[last.operands[-1]]])
            if last.name.startswith("s_setpc"):
                targets |= {block_at[self.labels[label]] for i in self.instructions[start:end] for label in FAR.findall(i.text) if self.labels.get(label) in block_at}
            # Forward, what LLVM makes of a scalar condition that always holds: it is taken, as a wave has some lane. Back to a loop's start it is for lanes that go on,
            # and over a branch to far away for those that do not take that.
            is_far = number + 1 < len(ranges) and self.instructions[ranges[number + 1][1] - 1].name.startswith("s_setpc")
            is_taken = last.name.startswith("s_cbranch_execnz") and not is_far and any(target > number for target in targets)
            if not is_taken and not last.name.startswith(("s_branch", "s_endpgm", "s_setpc")) and number + 1 < len(ranges):
                targets.add(number + 1)
            after.append(targets)
        reached, pending = {0}, [0]
        while pending:
            new = after[pending.pop()] - reached
            reached |= new
            pending.extend(new)
        return ranges, [targets if number in reached else set() for number, targets in enumerate(after)]

    def natural_loops(self):
        """Blocks of each loop, by its head."""
        ranges, after = self.blocks()
        before = [{n for n, targets in enumerate(after) if block in targets} for block in range(len(ranges))]
        everything = set(range(len(ranges)))
        dominators = [{0}] + [everything] * (len(ranges) - 1)
        changed = True
        while changed:
            changed = False
            for block in range(1, len(ranges)):
                known = [dominators[n] for n in before[block]]
                now = {block} | (set.intersection(*known) if known else set())
                changed |= now != dominators[block]
                dominators[block] = now
        bodies = collections.defaultdict(set)
        for block, targets in enumerate(after):
            for head in targets & dominators[block]:
                body, pending = {head}, [block]
                while pending:
                    at = pending.pop()
                    if at not in body:
                        body.add(at)
                        pending.extend(before[at])
                bodies[head] |= body
        return bodies

    def loops(self):
        """Natural loops without loops in them, as lists of instructions' numbers."""
        ranges, bodies = self.blocks()[0], self.natural_loops()
        inner = [body for head, body in bodies.items() if not any(other != head and other in body for other in bodies)]
        return [[at for block in sorted(body) for at in range(*ranges[block])] for body in inner]

    def main_loop(self):
        """The loop with most products of matrix instructions, or with most multiply-adds where no loop has these, else with most accesses of memory; all of the
        kernel if it has none, or hardly any multiply-adds are in one, as when loops are written out. Of a loop that a kernel has twice, as two of its arguments may
        be one array, the one for others: there threads do not meet for the order of its accesses."""
        everything = list(range(len(self.instructions)))

        def done(loop):
            return sum(self.instructions[at].work() for at in loop)

        def weight(loop):
            body = [self.instructions[at] for at in loop]
            products = sum(i.products() for i in body)
            work = 0 if products else done(loop)
            return (products, work, -sum(i.kind() == "barrier" for i in body) if products or work else 0, sum(i.kind() in ("load", "store") for i in body))
        loop = max(self.loops(), key=weight, default=everything)
        return loop if 8 * done(loop) >= done(everything) else everything

    def number(self, key):
        found = re.search(key + r"\D*?(\d+)", self.text)
        return int(found[1]) if found else 0

    def resources(self):
        return {"vgpr": self.number(r"\.vgpr_count:"), "agpr": self.number(r"\.agpr_count:"), "sgpr": self.number(r"\.sgpr_count:"),
                "spilled": self.number(r"\.vgpr_spill_count:") + self.number(r"\.sgpr_spill_count:"),
                "lds": self.number(r"\.group_segment_fixed_size:"), "scratch": self.number(r"\.private_segment_fixed_size:")}


def occupancy(resources, num_warps, arch):
    """Waves of a SIMD that run at a time, none of blocks that no launch can have (LLVM, "User Guide for AMDGPU Backend"; the ISA documents' limits)."""
    cdna = arch.startswith("gfx9")
    registers, granule, most = (512, 8, 8) if cdna else (1536, 24, 16)
    simds = 4  # of a CU of CDNA, or a WGP of RDNA
    of_block = 160 * 1024 if arch == "gfx950" else 64 * 1024
    lds = of_block if cdna else 2 * of_block
    used = max(1, resources["vgpr"])
    waves = min(most, registers // (-(-used // granule) * granule))
    blocks = min(waves * simds // num_warps, lds // max(1, resources["lds"])) if resources["lds"] <= of_block else 0
    return max(0, blocks) * num_warps / simds


GLOBAL_ACCESS = re.compile(r"^global_(load|store)_(\S+)\s+(\S+), (\S+?),? (?:off|s\[\S+\]|v\S+)")


SAME_SECOND = re.compile(r"(v_dual_\S+ \S+ \S+ v(\d+) :: v_dual_\S+ \S+ \S+ v)\2$")


def _for_mca(text, arch):
    """llvm-mca takes accesses to global memory for flat ones, which waits for LDS wait for, too: not so the hardware. Accesses to
    buffers cost the same in its model, and count as what they are. It crashes on gfx11's loads into half a register: others of as many
    bits stand for them. Both halves of gfx12's barriers hold memory for 2000 cycles in its model, which gfx11's barrier does not, and of pairs it
    refuses such as read one register twice, which the LLVM of Triton makes."""
    text = re.sub(r"^s_barrier_(signal|wait) -1$", "s_nop 0", text)
    if arch.startswith("gfx12"):
        text = SAME_SECOND.sub(lambda found: f"{found[1]}{int(found[2]) ^ 1}", text)
    text = re.sub(r"^(buffer|global)_load_d16_(?:hi_)?b16\b", r"\1_load_u16", text)
    text = re.sub(r"^global_load_lds_(\w+) v\[(\d+):\d+\], off$", r"buffer_load_\1 v\2, s[96:99], 0 offen lds", text)
    found = GLOBAL_ACCESS.match(text)
    if not found:
        return text
    what, width, first, second = found.groups()
    data, address = (first, second) if what == "load" else (text.split(", ")[1], first)
    offset = re.sub(r"v\[(\d+):\d+\]", r"v\1", address)
    return f"buffer_{what}_{width} {data}, {offset}, s[96:99], {'null' if arch.startswith('gfx12') else 0} offen"


# LLVM 22's model of gfx12 has nothing end ahead of an earlier load of global memory, so that whatever follows one waits for it: there its instructions
# go through gfx11's model. Triton's LLVM moves halves by instructions that 22 takes by this feature alone.
PROCESSORS = {"gfx12": ["-mcpu=gfx1100", "-mattr=+gfx12,+gfx12-insts,+real-true16"]}


def _ask_mca(body, arch, iterations):
    """llvm-mca's cycles for all iterations, and those of each unit for one of them."""
    try:  # it does not end on some sequences of matrix instructions
        ran = subprocess.run(["llvm-mca-22", "-mtriple=amdgcn-amd-amdhsa", *PROCESSORS.get(arch[:5], [f"-mcpu={arch}"]), f"-iterations={iterations}", "-instruction-info=0"],
                             input=body, capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return None, {}
    cycles = re.search(r"Total Cycles:\s+(\d+)", ran.stdout)
    units = re.findall(r"^\[[\d.]+\]\s+- (\w+)$", ran.stdout, re.MULTILINE)
    used = re.search(r"Resource pressure per iteration:\n.*\n(.*)\n", ran.stdout)
    return cycles and int(cycles[1]), {unit: float(value) for unit, value in zip(units, used[1].split()) if value != "-"} if used else {}


def cycles_of_mca(kernel, loop, arch):
    """llvm-mca's estimate for one iteration of a loop that runs on, and of its units' cycles: of what the first iterations take, hundreds of cycles are until the last of
    their stores ends, of which a loop that does twice as much in an iteration would have half."""
    body = "\n".join(_for_mca(kernel.instructions[at].text, arch) for at in loop if kernel.instructions[at].kind() != "branch")
    (few, _), (many, units) = (_ask_mca(body, arch, iterations) for iterations in (10, 30))
    return (many - few) / 20 if few and many else None, units


# Products that a SIMD of RDNA makes in a cycle, which llvm-mca does not know: of 16 bits, and of 8 (AMD, "Using the Matrix Cores of AMD RDNA 4 architecture GPUs", GPUOpen,
# 2025: operations of a CU, which has two SIMDs, for FP16, BF16 and I8; FP8 is taken to be as I8).
RDNA_PRODUCTS = {"gfx11": (128, 128), "gfx12": (256, 512)}


def cycles_of_units(body, units, lds, arch):
    """What an iteration of one wave takes of what all waves of a SIMD share: of its matrix and vector units, and, with the other SIMDs, of the LDS."""
    if arch.startswith("gfx9"):
        # Four cycles each; four SIMDs share the LDS.
        return {"matrix": units.get("HWXDL", 0), "vector": units.get("HWVALU", 0), "LDS": lds}
    halves, bytes_ = RDNA_PRODUCTS[arch[:5]]
    matrix = sum(i.products() / (bytes_ if re.search("iu8|fp8|bf8", i.name) else halves) for i in body if i.kind() == "matrix")
    # Matrix instructions are the vector unit's, too. Two SIMDs share a half of the LDS.
    return {"vector": matrix + units.get("HWVALU", 0) + units.get("HWTransVALU", 0), "LDS": 2 * lds}


#===-- shared memory ------------------------------------------------------------------------------===#


def _signed(x):
    return x.astype(np.uint32).astype(np.int32)


OPERATIONS = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "add": lambda a, b: a + b, "sub": lambda a, b: a - b,
    "subrev": lambda a, b: b - a, "mul": lambda a, b: a * b, "lshlrev": lambda a, b: b << (a & 31), "lshrrev": lambda a, b: b >> (a & 31),
    "lshl": lambda a, b: a << (b & 31), "lshr": lambda a, b: a >> (b & 31), "lshl_or": lambda a, b, c: (a << (b & 31)) | c,
    "lshl_add": lambda a, b, c: (a << (b & 31)) + c, "add_lshl": lambda a, b, c: (a + b) << (c & 31), "and_or": lambda a, b, c: (a & b) | c,
    "or3": lambda a, b, c: a | b | c, "add3": lambda a, b, c: a + b + c, "xor3": lambda a, b, c: a ^ b ^ c, "xad": lambda a, b, c: (a ^ b) + c,
    "bfe": lambda a, b, c: (a >> (b & 31)) & ((np.uint32(1) << (c & 31)) - 1), "bfei": lambda a, b, c: (_signed(a << (32 - (b & 31) - (c & 31))) >> (32 - (c & 31)).astype(np.int32)).astype(np.uint32),
    "mad": lambda a, b, c: a * b + c, "mov": lambda a: a,
    "ashrrev": lambda a, b: (_signed(b) >> (a & 31).astype(np.int32)).astype(np.uint32), "max": np.maximum, "min": np.minimum,
}
COMPARISON = re.compile(r"^[vs]_cmp_(eq|ne|lg|lt|gt|le|ge)_([ui])32")
NAME = re.compile(r"^[vs]_([a-z]+\d?(?:_(?:or|add|lshl))?)_(?:nc_|co_)?(?:u32_u24|[bui]32)(?:_(?:u24|i24))?(?:_e32|_e64)?$")


class Lanes:
    """The integer registers of one wave: an array for each known one."""

    def __init__(self, lanes):
        self.lanes, self.registers = lanes, {"v0": np.arange(lanes, dtype=np.uint32)}

    def value(self, operand):
        if re.fullmatch(r"-?\d+", operand):
            return np.full(self.lanes, int(operand) & 0xFFFFFFFF, dtype=np.uint32)
        if re.fullmatch(r"0x[0-9a-f]+", operand):
            return np.full(self.lanes, int(operand, 16), dtype=np.uint32)
        return self.registers.get(operand)

    @staticmethod
    def written(operand):
        span = re.fullmatch(r"([vsa])\[(\d+):(\d+)\]", operand)
        return [f"{span[1]}{n}" for n in range(int(span[2]), int(span[3]) + 1)] if span else [operand]

    def run(self, instruction):
        """Of RDNA's pairs (`a :: b`) both read what stood there before."""
        halves = [Instruction(half) for half in instruction.text.split("::")]
        results = [self._result(half) for half in halves]
        for half, result in zip(halves, results):
            self._write(half, result)

    def _write(self, instruction, result):
        if not instruction.operands or instruction.kind() in ("store", "branch", "wait", "barrier", "hint", "lds_write") or instruction.copies():
            return
        if instruction.name.startswith("s_cmp"):
            return
        for register in self.written(instruction.operands[0]):
            self.registers.pop(register, None)
        if result is not None:
            self.registers[instruction.operands[0]] = result

    def _result(self, instruction):
        compared = COMPARISON.match(instruction.name)
        if compared:
            return self._compare(compared, instruction)
        if re.match(r"[vs]_(dual_)?(cndmask|cselect)_b32", instruction.name):
            return self._select(instruction)
        name = NAME.match(re.sub("s_movk_|v_accvgpr_(read|write|mov)_", "v_mov_", instruction.name.replace("v_dual_", "v_")).replace("v_bfe_i32", "v_bfei_u32"))
        sources = [self.value(o) for o in instruction.operands[1:] if o != "vcc" and ":" not in o]
        if instruction.name.startswith("v_readfirstlane"):
            return None if sources[0] is None else np.full(self.lanes, sources[0][0], dtype=np.uint32)
        if not name or any(s is None for s in sources):
            return None
        if name[1] == "bitop3":
            return self._bitop3(instruction, sources)
        operation = OPERATIONS.get(name[1])
        if operation is None:
            return None
        try:
            return operation(*sources).astype(np.uint32)
        except TypeError:
            return None

    def _compare(self, compared, instruction):
        """Of scalars to scc, of vectors to the operand named first."""
        a, b = (self.value(o) for o in instruction.operands[-2:])
        if a is None or b is None:
            self.registers.pop("scc", None)
            return None
        if compared[2].startswith("i"):
            a, b = _signed(a), _signed(b)
        result = getattr(np, {"eq": "equal", "ne": "not_equal", "lg": "not_equal", "lt": "less", "gt": "greater", "le": "less_equal", "ge": "greater_equal"}[compared[1]])(a, b)
        if instruction.name.startswith("s_"):
            self.registers["scc"] = result
            return None
        return result

    def _select(self, instruction):
        scalar = instruction.name.startswith("s_")
        condition = self.registers.get("scc" if scalar else instruction.operands[3] if len(instruction.operands) > 3 else "vcc_lo")
        a, b = (self.value(o) for o in instruction.operands[1:3])
        if condition is None or a is None or b is None:
            return None
        return np.where(condition, a, b) if scalar else np.where(condition, b, a)

    @staticmethod
    def _bitop3(instruction, sources):
        table = re.search(r"bitop3:(0x[0-9a-f]+|\d+)", instruction.text)
        if not table or len(sources) != 3:
            return None
        code, result = int(table[1], 0), np.zeros_like(sources[0])
        for index in range(8):
            if code >> index & 1:
                bits = [s if index >> (2 - n) & 1 else ~s for n, s in enumerate(sources)]
                result |= bits[0] & bits[1] & bits[2]
        return result


def combinations(basis):
    """All xors of some of the numbers."""
    numbers = [0]
    for vector in basis:
        numbers += [n ^ vector for n in numbers]
    return numbers


def phases(kind, bytes_each, lanes, banks):
    """Which lanes the LDS serves together: as many neighbours as give each bank one word, but for reads of 16 bytes by waves of 64,
    whose groups are lanes 0-3 with 20-23 (32 banks), and 0-3, 12-15, 20-27 (64 banks), and what an xor makes of them
    (AMD, "Avoiding LDS Bank Conflicts on AMD GPUs Using CK-Tile Framework", ROCm blogs, 2025)."""
    together = max(1, min(lanes, banks * 4 // max(bytes_each, 4)))
    basis = [1 << bit for bit in range(together.bit_length() - 1)]
    if kind == "lds_read" and bytes_each == 16 and lanes == 64:
        basis = [1, 2, 20] if banks == 32 else [1, 2, 12, 20]
    group, seen, result = combinations(basis), set(), []
    for first in range(lanes):
        if first not in seen:
            result.append([first ^ n for n in group])
            seen.update(result[-1])
    return result


def cycles_of_access(instruction, address, lanes, banks):
    """Of the LDS, whose banks give a word a cycle: how often the busiest bank of each phase is asked."""
    twice = bool(re.search(r"(read2|write2|_2addr)", instruction.name))
    each, total = instruction.bits() // (16 if twice else 8), 0
    for part in range(2 if twice else 1):
        for group in phases(instruction.kind(), each, lanes, banks):
            words = collections.defaultdict(set)
            for lane in group if address is not None else ():
                at = int(address[lane]) + part * offset_between(instruction)
                for word in range(at // 4, (at + each + 3) // 4):
                    words[word % banks].add(word)
            total += max((len(w) for w in words.values()), default=1)
    return total


def copy_cycles(instruction, lanes, banks):
    """Of a copy to the LDS, which writes a wave's words there one after the other."""
    return -(-lanes * instruction.bits() // (banks * 32))


def offset_between(instruction):
    offsets = [int(m) for m in re.findall(r"offset[01]:(\d+)", instruction.text)]
    scale = (64 if "st64" in instruction.name or "stride64" in instruction.name else 1) * (instruction.bits() // 16)
    return (offsets[1] - offsets[0]) * scale if len(offsets) == 2 else (offsets[0] if offsets else 0) * scale


def waves_at(kernel, lanes):
    """A wave in front of each instruction that is reached. A block begins with what the nearest block in front of it, of those that lead there, ends with."""
    ranges, after = kernel.blocks()
    ends, pending = {}, {0}
    while pending:
        number = min(pending)
        before = [n for n in ends if number in after[n]]
        wave = Lanes(lanes)
        if before:
            wave.registers = dict(ends[max([n for n in before if n < number] or before)])
        for at in range(*ranges[number]):
            yield at, wave
            wave.run(kernel.instructions[at])
        ends[number] = wave.registers
        pending = (pending | after[number]) - ends.keys()


def lds_cycles(kernel, loop, arch):
    """(cycles of the loop's shared-memory accesses, share of them whose addresses are known)."""
    lanes, banks = (64, 64 if arch == "gfx950" else 32) if arch.startswith("gfx9") else (32, 32)
    cycles, known, all_accesses, inside = 0, 0, 0, set(loop)
    for at, wave in waves_at(kernel, lanes):
        instruction = kernel.instructions[at]
        kind = instruction.kind()
        if at in inside and instruction.copies():
            cycles += copy_cycles(instruction, lanes, banks)
        if at in inside and kind in ("lds_read", "lds_write") and instruction.operands:
            operand = instruction.operands[1 if kind == "lds_read" else 0].split()[0]
            address = wave.value(operand)
            cycles += cycles_of_access(instruction, address, lanes, banks)
            known, all_accesses = known + (address is not None), all_accesses + 1
    return cycles, known / all_accesses if all_accesses else 1.0


def measure(text, arch, num_warps, shared=None):
    """What the table has of one kernel. `shared`: bytes of LDS where the assembly does not say."""
    kernel = Kernel(text)
    loop = kernel.main_loop()
    if not loop:
        raise ValueError("no loop in the code")
    body = [kernel.instructions[at] for at in loop]
    resources = kernel.resources()
    resources["lds"] = max(resources["lds"], shared or 0)
    counts = collections.Counter(i.kind() for i in body)
    widths = collections.Counter(f"{i.kind()}{i.bits()}" for i in body if i.kind() in ("load", "store", "lds_read", "lds_write"))
    lds, known = lds_cycles(kernel, loop, arch)
    cycles, units = cycles_of_mca(kernel, loop, arch)
    waves, shared_units = occupancy(resources, num_warps, arch), cycles_of_units(body, units, lds, arch)
    return {**resources, "occupancy": waves, "whole": len(loop) == len(kernel.instructions), "products": sum(i.products() for i in body),
            "classes": {c: counts.get(c, 0) for c in CLASSES}, "widths": dict(widths), "lds_cycles": lds, "lds_known": round(known, 2),
            "mca": cycles, "units": shared_units, "simd": max(*shared_units.values(), cycles / waves) if cycles and waves else None, "instructions": len(body), "names": dict(collections.Counter(i.name for i in body))}
