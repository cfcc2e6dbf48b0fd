#!/usr/bin/env python3
"""AMD code of Kiln beside Triton's, without a GPU: main loop by main loop, or streaming kernel by streaming kernel.

  amd_static.py --kiln KILN --target hip:gfx942 [--cases CASES.json] [--root FOLDER …] [--only NAME] [--json OUT.json] [--save FOLDER]
  amd_static.py --kiln KILN --target hip:gfx942 --records RECORDS.jsonl --sources FOLDER [--sizes SIZES.json] [--limit N] …
  amd_static.py --kiln KILN --target hip:gfx942 --streaming [--records RECORDS.jsonl --sources FOLDER] …

Each case is a kernel with its signature and config; both compilers get the same. Triton (3.4 or later, in this Python) is told
what its launcher would find: pointers and strides divisible by 16 where the signature says so, and arrays below 2 GiB, which
Kiln is told, too (`--small-arrays`), but with --large-arrays, and that they are in the device's own memory (`--device-memory`), as
Triton's atomic operations take for granted. Prints
registers, LDS, occupancy, instructions by class, cycles of LDS by a model of its banks (amd_assembly.py), llvm-mca's
estimate of one wave ("mca"), and the least that a SIMD takes for an iteration when as many waves run as fit ("simd"): the wave's cycles by their
number, or those of a unit that they share, the matrix unit, the vector unit or the LDS, which no number of waves makes less. Where one compiler's loop does the work of several iterations, its numbers are divided; what several warps compute alike counts
once. Both get fewer stages where Triton's code
would take more LDS than there is.

With --streaming, of kernels without products (amd_streaming.json, or the corpus' kernels that load and store): accesses by their width, instructions
by class, mask arithmetic, registers, waves, spills, and llvm-mca's estimate, of the loops with accesses that both have, for the same bytes, else of all of the
code (amd_streaming.py); then how many kernels have narrower accesses than Triton's, more instructions, more mask arithmetic.

--triton FOLDER keeps Triton's code there, by case and target, and takes from there what it has: Triton takes most of the time.

CASES.json: [{"name", "source", "kernel", "signature": {…}, "num_warps", "num_stages", "options": {"waves_per_eu": 2, …}}],
or {"spec": FILE, "entries": […]} for entries of a Kiln spec. Sources are looked for in the FOLDERs, those that none has are left out. RECORDS.jsonl: kernels of the corpus
(docs/corpus.md) with a product in a loop, or without products, whose sources are in FOLDER/OWNER+NAME; as their launches mostly find it, pointers,
sizes and strides are multiples of 16, and the last stride of each array is 1, unless the kernel has that dimension without a stride. SIZES.json
(amd_sizes.json): [{"file", "kernel", "constants": {…}, "types": {…}, "num_warps", "num_stages"}], of the records those of these kernels, with what it says in place of theirs.
"""
import argparse
import ast
import collections
import hashlib
import importlib.abc
import importlib.machinery
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import sys
import types

from amd_assembly import measure
from amd_streaming import measure_streaming, print_streaming
from amd_verdict import number, per_iteration

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 100  # for one kernel and compiler


#===-- cases --------------------------------------------------------------------------------------===#


def found(roots, path):
    return next((root / path for root in roots if (root / path).exists()), None)


# Of a config, beside warps and stages. Both compilers leave out what is not for the target.
OPTIONS = ("num_ctas", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "launch_pdl", "launch_cooperative_grid", "enable_fp_fusion")


def cases_of_spec(entry, path, target):
    """One case for each entry named, with its first config for the target."""
    spec = json.loads(path.read_text())
    for kernel in spec["kernels"]:
        if kernel["name"] not in entry["entries"]:
            continue
        signature = dict(kernel.get("signature") or kernel["signatures"][0]["signature"])
        fits = lambda config: any(target.startswith(prefix) for prefix in config.get("targets", [target]))
        config = next(config for config in kernel["configs"] if fits(config))
        launch, options = {"num_warps": 4, "num_stages": 2}, {}
        for name, value in config.items():
            if name in launch:
                launch[name] = value
            elif name in OPTIONS:
                options[name] = value
            elif name != "targets":
                signature[name] = value
        yield {"name": kernel["name"], "source": str(path.parent / kernel["source"]), "kernel": kernel["kernel"], "signature": signature, **launch,
               **({"options": options} if options else {})}


def read_cases(path, roots, target):
    for entry in json.loads(path.read_text()):
        source = found(roots, entry.get("spec") or entry["source"])
        if not source:
            print(f"  left out, not there: {entry.get('spec') or entry['source']}", file=sys.stderr)
        elif "spec" in entry:
            yield from cases_of_spec(entry, source, target)
        else:
            yield {"num_warps": 4, "num_stages": 2, **entry, "source": str(source)}


def summed_beside_indices(function):
    """Strides of rows whose elements are dense: some sum adds an index to their multiples that nothing multiplies, `m[:, None] * stride + k[None, :]`."""
    def terms(node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return terms(node.left) + terms(node.right)
        return [node]
    strides = set()
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            summands = terms(node)
            if any(isinstance(term, ast.Subscript) and "None" in ast.unparse(term) for term in summands):
                products = [term for term in summands if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult)]
                strides |= {name.id for term in products for name in ast.walk(term) if isinstance(name, ast.Name)}
    return strides


def arrays_of_strides(names):
    """The strides' names, an array's in one list: `stride_am`, `stride_ak`; `stride_x_batch`, `stride_x_head`."""
    arrays, last, roles = [], None, set()
    for name in names:
        words = [word for word in name.split("_") if word not in ("stride", "strides")]
        array, role = (words[0], words[-1]) if len(words) > 1 else (name[:-1], name[-1])
        array = array if len(words) > 1 else "".join(words)[:-1]
        if array != last or role in roles:
            arrays.append([])
            last, roles = array, set()
        arrays[-1].append(name)
        roles.add(role)
    return arrays


def specialised(record, function, sizes):
    """The record's signature as a launch with dense arrays has it."""
    signature = {**record["signature"], **record["constexprs"]}
    rows = summed_beside_indices(function)
    for array in arrays_of_strides([a.arg for a in function.args.args if "stride" in a.arg and not str(signature.get(a.arg, "")).startswith("*")]):
        for name in array:
            if signature.get(name) in ("i32", "i64"):
                signature[name] = 1 if name == array[-1] and name not in rows else signature[name] + ":16"
    for name, kind in record["signature"].items():
        if kind.startswith("*") or (signature[name] in ("i32", "i64") and sizes):
            signature[name] = kind + ":16"
    dtype = lambda value: {"dtype": value[3:]} if isinstance(value, str) and value.startswith("tl.") else value
    return {name: dtype(value) for name, value in signature.items()}


def function_of(source, kernel):
    tree = ast.parse(pathlib.Path(source).read_text())
    return next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == kernel), None)


def multiplies_in_loop(function):
    return any(isinstance(loop, (ast.For, ast.While)) and "tl.dot(" in ast.unparse(loop) for loop in ast.walk(function))


def streams(function):
    """Of modules: Triton finds no methods."""
    text = ast.unparse(function)
    return function.col_offset == 0 and "tl.load(" in text and "tl.store(" in text and "dot" not in text


def with_sizes(records, path):
    """The records that the file names, with the constants, types and numbers that it has in place of theirs."""
    changes = {(change["file"], change["kernel"]): change for change in json.loads(path.read_text())}
    for record in records:
        change = changes.pop((pathlib.Path(record["path"]).stem, record["kernel"]), None)
        if change:
            constants = {**record["constexprs"], **change["constants"]}
            signature = {name: change.get("types", {}).get(name, kind) for name, kind in record["signature"].items() if name not in constants}
            numbers = {name: change[name] for name in ("num_warps", "num_stages") if name in change}
            yield {**record, "signature": signature, "constexprs": constants, **numbers}
    if changes:
        raise SystemExit(f"{path}: no record of " + ", ".join(f"{kernel} ({file})" for file, kernel in changes))


def read_records(path, sources, limit, sizes, wanted, changes=None):
    """Kernels that are wanted, of all repositories in turns, so that no family of kernels makes up the most."""
    of_repository = {}
    seen = set()
    records = map(json.loads, path.read_text().splitlines())
    for record in with_sizes(records, changes) if changes else records:
        root = sources / record["repo"].replace("/", "+")
        source = root / record["path"]
        name = f"{record['repo'].split('/')[1]}/{source.stem}/{record['kernel']}"
        function = function_of(source, record["kernel"]) if name not in seen and source.exists() else None
        if function and wanted(function):
            seen.add(name)
            of_repository.setdefault(record["repo"], []).append(
                {"name": name, "source": str(source), "root": str(root), "kernel": record["kernel"], "signature": specialised(record, function, sizes),
                 "num_warps": record["num_warps"] or 4, "num_stages": record["num_stages"] or 2})
    in_turns = itertools.chain.from_iterable(itertools.zip_longest(*of_repository.values()))
    return itertools.islice((case for case in in_turns if case), limit)


def is_type(value):
    return isinstance(value, str) and (value.lstrip("*").split(":")[0].rstrip("0123456789") in ("fp", "bf", "i", "u", "fp8e4b", "fp8e4nv", "fp8e5b") or value.startswith(("*", "tensordesc")))


def parameters(case):
    """Names and values of the signature, in the kernel's order, with its own defaults."""
    function = function_of(case["source"], case["kernel"])
    names = [a.arg for a in function.args.args]
    defaults = dict(zip(reversed(names), reversed(function.args.defaults)))
    given = case["signature"]
    return {name: given[name] if name in given else ast.literal_eval(defaults[name]) for name in names}


#===-- the two compilers --------------------------------------------------------------------------===#


# What of their loops' products several warps compute alike, as the tile has fewer rows or columns than the warps' units: from the IR of both.
KILN_DOT = re.compile(r'tilegpu\.dot .*unit <"\w+\.(\d+)x(\d+)x[^"]*"(?: swapped)?(?:, neighbours \d+)?, warps (\d+) x (\d+)>.* : \(tensor<\d+x(\d+)x.*-> tensor<(\d+)x(\d+)x')
KILN_SHAPE = re.compile(r"tilegpu\.dot .* : \(tensor<\d+x(\d+)x.*-> tensor<(\d+)x(\d+)x")
KILN_NARROWED = re.compile(r"tile\.narrowed_by = (\d+)")
TRITON_DOT = re.compile(r"tt\.dot .* : tensor<\d+x(\d+)x.*-> tensor<(\d+)x(\d+)x\w+, (#\w+)>")
TRITON_UNIT = re.compile(r"(#\w+) = #ttg\.amd_\w+<\{.*warpsPerCTA = \[(\d+), (\d+)\].*instrShape = \[(\d+), (\d+)")
# RDNA's: where each power of two of a warp's number leads, in instructions of 16 x 16.
TRITON_WMMA = re.compile(r"(#\w+) = #ttg\.amd_wmma<\{.*ctaLayout = \{.*?warp = \[([^}]*)\]")


def repeated(tile, unit, warps, num_warps):
    """How often a product is computed in a block."""
    return num_warps / math.prod(warps) * math.prod(max(1, u * w / t) for t, u, w in zip(tile, unit, warps))


def by_loop(ir):
    """The lines of the IR that stand in the same innermost loop, in any of its branches."""
    loops, around = collections.defaultdict(list), []
    for number, line in enumerate(ir.splitlines()):
        indent = len(line) - len(line.lstrip())
        while around and line.strip() and around[-1][0] >= indent:
            around.pop()
        if re.search(r"scf\.for|scf\.while|\} do \{", line):
            around.append((indent, number))
        loops[around[-1][1] if around else None].append(line)
    return loops


def repeated_in_loop(ir, products_of):
    """By how much more is computed than asked for in the loop with most products: of some dots, mostly. `products_of`: of a line with a dot,
    the product's (m, n, k) and how often it is computed; else none."""
    dots = [[(math.prod(shape), times) for shape, times in filter(None, map(products_of, lines))] for lines in by_loop(ir).values()]
    main = max(dots, key=lambda loop: sum(size for size, _ in loop))
    return sum(size * times for size, times in main) / sum(size for size, _ in main) if main else 1


def repeated_by_kiln(ir, num_warps):
    def products_of(line):
        found = KILN_DOT.search(line)
        if not found:
            return None
        um, un, wm, wn, k, m, n = map(int, found.groups())
        return (m, n, k), repeated((m, n), (um, un), (wm, wn), num_warps)
    return repeated_in_loop(ir, products_of)


def asked_of_dot(line):
    """Products that the source asks for where the IR has this dot, whose tiles may be narrower (`tile.narrowed_by`)."""
    found, narrowed = KILN_SHAPE.search(line), KILN_NARROWED.search(line)
    return math.prod(map(int, found.groups())) * (int(narrowed[1]) if narrowed else 1) if found else 0


def asked_for(ir, num_warps):
    """Products of one iteration for a warp, by Kiln's IR, if all dots of the kernel have one shape, else 0."""
    dots = [line for line in ir.splitlines() if KILN_SHAPE.search(line)]
    shapes = {KILN_SHAPE.search(line).groups() for line in dots}
    return max(map(asked_of_dot, dots)) / num_warps if len(shapes) == 1 else 0


def asked_in_loop(ir, num_warps):
    """Those of an iteration of Kiln's main loop, whatever the shapes; 0 without a loop."""
    def asked(lines):
        return sum(map(asked_of_dot, filter(KILN_DOT.search, lines)))
    return max((asked(lines) for loop, lines in by_loop(ir).items() if loop is not None), default=0) / num_warps


def repeated_by_triton(ir, num_warps):
    units = {name: ((int(um), int(un)), (int(wm), int(wn))) for name, wm, wn, um, un in TRITON_UNIT.findall(ir)}
    for name, places in TRITON_WMMA.findall(ir):
        steps = re.findall(r"\[(\d+), (\d+)\]", places)
        units.setdefault(name, ((16, 16), tuple(2 ** sum(int(step[axis]) > 0 for step in steps) for axis in range(2))))
    def products_of(line):
        found = TRITON_DOT.search(line)
        if not found or found[4] not in units:
            return None
        k, m, n = map(int, found.groups()[:3])
        return (m, n, k), repeated((m, n), *units[found[4]], num_warps)
    return repeated_in_loop(ir, products_of)


def by_kiln(case, args):
    def text(value):
        if isinstance(value, dict):
            value = repr(value["string"]) if "string" in value else value.get("dtype") or value.get("function")
        elif isinstance(value, str) and not is_type(value):
            value = repr(value)
        return str(value)
    values = [text(value) for value in parameters(case).values()]
    command = [args.kiln, "compile", case["source"], "-n", case["kernel"], "-s", ", ".join(values), "-t", args.target, "-w", str(case["num_warps"]),
               "-ns", str(case["num_stages"]), *(f"--option={name}={value}" for name, value in case.get("options", {}).items()),
               "-I", case.get("root", str(pathlib.Path(case["source"]).parent)), "-q", *([] if args.large_arrays else ["--small-arrays"]), "--device-memory", "--emit"]
    def emitted(stage):
        built = subprocess.run([*command, stage], capture_output=True, text=True, timeout=LIMIT_S)
        if built.returncode:
            raise RuntimeError(next((line for line in built.stderr.splitlines() if "error" in line), "no message"))
        return built.stdout
    ir = emitted("tilegpu")
    return emitted("asm"), None, repeated_by_kiln(ir, case["num_warps"]), asked_for(ir, case["num_warps"]), asked_in_loop(ir, case["num_warps"])


class Anything(types.ModuleType):
    """Stands for modules that kernels do not need: every name in it is there, and callable."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self

    def __mro_entries__(self, bases):
        return ()

    __getitem__ = __call__
    __bool__ = lambda self: False
    __iter__ = lambda self: iter(())


class AnyModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def source_of(node, importing, root):
    """The file of the sources that `from … import` names."""
    words = node.module.split(".") if node.module else []
    folders = [importing.parents[node.level - 1]] if node.level else [importing.parent, root, root / "python", root / "src"]
    return next((f for f in (folder.joinpath(*words).with_suffix(".py") for folder in folders if words) if f.exists()), None)


DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def defines(node):
    """Also where it depends on a condition what is imported."""
    inner = [n for part in (getattr(node, "body", []), getattr(node, "orelse", []), *(h.body for h in getattr(node, "handlers", []))) for n in part]
    return isinstance(node, DEFINITIONS) or isinstance(node, (ast.If, ast.Try)) and all(isinstance(n, ast.Pass) or defines(n) for n in inner)


def load_definitions(source, root, loaded):
    """The module's imports, functions, classes and constants; what it would run is left out. What it takes of others of the sources is loaded
    the same way."""
    path = pathlib.Path(source)
    if path in loaded:
        return loaded[path]
    module = loaded[path] = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules.setdefault(path.stem, module)
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (file := source_of(node, path, root)):
            other = vars(load_definitions(file, root, loaded))
            vars(module).update({name.asname or name.name: other[name.name] for name in node.names if name.name in other})
        elif defines(node):
            if isinstance(node, ast.FunctionDef):  # tuners and hooks want a device
                node.decorator_list = [d for d in node.decorator_list if "jit" in ast.unparse(d)]
            try:
                exec(compile(ast.Module([node], []), str(path), "exec"), module.__dict__)
            except Exception:  # what the kernel needs of it is missed by name later
                continue
    return module


def apart(function, *arguments):
    """What the function returns, in a process of its own: Triton may print modules, abort, or not come to an end."""
    def answer(pipe):
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        try:
            pipe.send((function(*arguments), None))
        except Exception as error:
            pipe.send((None, f"{type(error).__name__}: {error}"))
    ours, its = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=answer, args=(its,))
    process.start()
    its.close()
    try:
        if not ours.poll(LIMIT_S):
            raise RuntimeError(f"takes more than {LIMIT_S} s")
        result, error = ours.recv()
    except EOFError:
        raise RuntimeError("ended without an answer") from None
    finally:
        process.kill()
        process.join()
    if error:
        raise RuntimeError(error)
    return result


def by_triton(case, args):
    """From the folder of `--triton`, where it has this case's answer."""
    if not args.triton:
        return apart(compiled_by_triton, case, args)
    asked = json.dumps([case, args.target], sort_keys=True)
    file = args.triton / (hashlib.sha256(asked.encode()).hexdigest()[:24] + ".json")
    if not file.exists():
        try:
            answer = [apart(compiled_by_triton, case, args), None]
        except RuntimeError as error:
            answer = [None, str(error)]
        file.write_text(json.dumps(answer))
    result, error = json.loads(file.read_text())
    if error:
        raise RuntimeError(error)
    return result


def compiled_by_triton(case, args):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    source = pathlib.Path(case["source"])
    function = getattr(load_definitions(source, pathlib.Path(case.get("root", source.parent)), {}), case["kernel"])
    while not isinstance(function, triton.runtime.jit.JITFunction):
        function = function.fn
    signature, constants, attributes = {}, {}, {}
    for index, (name, value) in enumerate(parameters(case).items()):
        if not is_type(value):
            signature[name] = "constexpr"
            dtype = value.get("dtype") if isinstance(value, dict) else None
            constants[name] = getattr(triton.language, DTYPES.get(dtype, dtype)) if dtype else value.get("string") if isinstance(value, dict) else value
            continue
        kind, _, divisor = value.partition(":")
        signature[name] = kind
        found = [["tt.divisibility", 16]] if divisor else []
        if kind.startswith("*"):
            found.append(["tt.pointer_range", 32])
        if found:
            attributes[(index,)] = found
    arch = args.target.split(":")[1]
    options = {o: case[o] for o in ("num_warps", "num_stages")} | case.get("options", {})
    target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    built = triton.compile(ASTSource(function, signature, constants, attributes), target=target, options=options)
    return built.asm["amdgcn"], built.metadata.shared, repeated_by_triton(built.asm["ttgir"], case["num_warps"])


DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


#===-- the table ----------------------------------------------------------------------------------===#


def compare(case, args):
    outcome, asked = {"name": case["name"], "num_stages": case["num_stages"]}, []
    arch = args.target.split(":")[1]
    for compiler, compile_case in (("triton", by_triton), ("kiln", by_kiln)):
        try:
            text, shared, repeats, *asked = compile_case(case, args)
            if args.save:
                (args.save / f"{case['name'].replace('/', '.')}.{arch}.{compiler}.s").write_text(text)
            outcome[compiler] = (measure_streaming if args.streaming else measure)(text, arch, case["num_warps"], shared)
            outcome[compiler]["products"] /= repeats
        except Exception as error:
            outcome[compiler] = {"error": str(error).strip().splitlines()[-1][:300] if str(error).strip() else type(error).__name__}
        if compiler == "triton" and outcome[compiler].get("occupancy") == 0:
            if case["num_stages"] > 1:  # what it takes of LDS nobody could launch
                return compare({**case, "num_stages": case["num_stages"] - 1}, args)
            outcome[compiler] = {"error": "takes more LDS than there is"}
    if not args.streaming and not any("error" in outcome[c] or outcome[c]["products"] for c in ("kiln", "triton")) and outcome["kiln"]["whole"] != outcome["triton"]["whole"]:
        outcome["kiln"] = {"error": "no loop to compare: one of both is written out, and has no matrix instructions"}
    # A compiler that knows that some are zeros, as rows that no array has, may leave them out: they are done, too.
    for compiler, done in (("triton", asked[:1]), ("kiln", asked)):
        if done and outcome[compiler].get("products"):
            outcome[compiler]["products"] = max(outcome[compiler]["products"], *done)
    return outcome


def print_table(outcomes):
    columns = ("matrix", "valu", "accvgpr", "salu", "lds_read", "lds_write", "lane_exchange", "load", "store", "wait", "barrier", "branch", "lds_cycles", "mca", "simd")
    print("| kernel | VGPR | AGPR | spills | LDS KiB | waves | " + " | ".join(columns) + " | mca ratio | simd ratio |")
    print("| --- " * (len(columns) + 8) + "|")
    ratios = {"mca": [], "simd": []}
    for outcome in outcomes:
        errors = [f"{c}: {outcome[c]['error']}" for c in ("kiln", "triton") if "error" in outcome[c]]
        if errors:
            print(f"| {outcome['name']} | " + "; ".join(errors) + " |")
            continue
        loops = per_iteration(outcome)
        both = lambda get: f"{get(outcome['kiln'])} / {get(outcome['triton'])}"
        cells = [both(lambda o: o["vgpr"]), both(lambda o: o["agpr"]), both(lambda o: o["spilled"]), both(lambda o: o["lds"] // 1024), both(lambda o: number(o["occupancy"]))]
        cells += [f"{number(loops['kiln'][c])} / {number(loops['triton'][c])}" for c in columns]
        for measured, known in ratios.items():
            mine, theirs = loops["kiln"][measured], loops["triton"][measured]
            known += [theirs / mine] if mine and theirs else []
            cells.append(f"{theirs / mine:.2f}" if mine and theirs else "?")
        print(f"| {outcome['name']} | " + " | ".join(cells) + " |")
    print("\ngeometric means of the ratios (above 1: Kiln's loop is shorter):")
    for measured, known in ratios.items():
        if known:
            print(f"{measured} {statistics.geometric_mean(known):.3f} over {len(known)} kernels")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--target", default="hip:gfx942")
    parser.add_argument("--streaming", action="store_true", help="kernels without products: by amd_streaming.py")
    parser.add_argument("--cases", type=pathlib.Path, help="amd_static.json, or amd_streaming.json of --streaming, if not given")
    parser.add_argument("--root", type=pathlib.Path, action="append", default=[HERE.parents[1]], help="where sources and specs of the cases are looked for, too")
    parser.add_argument("--records", type=pathlib.Path)
    parser.add_argument("--sources", type=pathlib.Path)
    parser.add_argument("--sizes", type=pathlib.Path, help="such as amd_sizes.json: only the records that it names, with its constants in place of theirs")
    parser.add_argument("--limit", type=int, default=1000, help="most records")
    parser.add_argument("--any-size", action="store_true", help="numbers of the records, such as sizes, may be anything: else they are multiples of 16")
    parser.add_argument("--large-arrays", action="store_true", help="Kiln is not told that arrays are below 2 GiB")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--save", type=pathlib.Path, help="a folder for the assembly of both")
    parser.add_argument("--triton", type=pathlib.Path, help="a folder for Triton's answers, where later runs find them")
    args = parser.parse_args()
    sys.meta_path.append(AnyModule())
    for folder in (args.save, args.triton):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    outcomes = []
    cases_file = args.cases or HERE / ("amd_streaming.json" if args.streaming else "amd_static.json")
    cases = (read_records(args.records, args.sources, args.limit, not args.any_size, streams if args.streaming else multiplies_in_loop, args.sizes) if args.records
             else read_cases(cases_file, args.root, args.target))
    for case in cases:
        if args.only in case["name"]:
            sys.path[:0] = [case.get("root", ""), str(pathlib.Path(case["source"]).parent)]
            outcomes.append(compare(case, args))
            print(case["name"], file=sys.stderr)
            if args.json:
                args.json.write_text(json.dumps(outcomes, indent=1))
    (print_streaming if args.streaming else print_table)(outcomes)


if __name__ == "__main__":
    main()
