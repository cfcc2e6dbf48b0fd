"""What a module's names are worth, as text: by this Python, and by Kiln (the tool module-values)."""
import enum
import re
import signal
import subprocess


def text_of(value, depth=0):
    """The text of a simple value, sets in order; None for any other."""
    if value is None or isinstance(value, (bool, str)) and not isinstance(value, enum.Enum):
        return repr(value)
    if isinstance(value, enum.Enum):
        inner = text_of(value.value, depth + 1)
        return None if inner is None else f"{type(value).__name__}.{value.name}"
    if type(value) in (int, float):
        return repr(value) if type(value) is float or abs(value) < 2**126 else None
    if depth > 20 or type(value) not in (tuple, list, set, frozenset, dict):
        return None
    if type(value) is dict:
        parts = [(text_of(k, depth + 1), text_of(v, depth + 1)) for k, v in value.items()]
        return None if any(None in part for part in parts) else "{" + ", ".join(f"{k}: {v}" for k, v in parts) + "}"
    parts = [text_of(item, depth + 1) for item in value]
    if None in parts:
        return None
    if type(value) in (set, frozenset):
        return "{" + ", ".join(sorted(parts)) + "}" if parts else "set()"
    if type(value) is list:
        return "[" + ", ".join(parts) + "]"
    return "(" + ", ".join(parts) + (",)" if len(parts) == 1 else ")")


class TooLong(Exception):
    pass


def values_of(text, names=None, seconds=2):
    """The module's simple values by name; None if it raises an exception, or takes too long."""
    def stop(*_):
        raise TooLong

    names = names or {"__name__": "__kiln__"}
    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        exec(compile(text, "module", "exec"), names)
    except (Exception, TooLong):
        return None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
    found = {name: text_of(value) for name, value in names.items() if not name.startswith("__")}
    return {name: value for name, value in found.items() if value is not None and len(value) < 10000}


def kilns_values(tool, paths, options=()):
    """{path: {name: text or None where it is not known}}"""
    run = subprocess.run([tool, *options, *paths], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{tool} ends with {run.returncode}:\n{run.stderr[-2000:]}")
    result, at = {}, None
    for line in run.stdout.split("\n"):
        if line.startswith("== "):
            at = result.setdefault(line[3:], {})
        elif match := re.match(r"(\w+) (=|\?) ?(.*)", line):
            at[match[1]] = match[3] if match[2] == "=" else None
    return result


def compare(tool, expected, known_share, show=5):
    """Compares; 0 when every value that Kiln knows is Python's and it knows at least a share of them."""
    found = kilns_values(tool, list(expected))
    wrong = known = total = 0
    for path, values in expected.items():
        for name, value in values.items():
            mine = found.get(path, {}).get(name, "no such name")
            total += 1
            known += mine is not None
            if mine is not None and mine != value:
                wrong += 1
                if wrong <= show:
                    print(f"{path}: {name} is {value}\n  Kiln: {mine}")
    print(f"{len(expected)} modules: {total} values, {known} of them known ({100 * known / max(total, 1):.2f}%), {wrong} wrong")
    return 1 if wrong or known < known_share * total else 0
