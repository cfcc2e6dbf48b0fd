"""Recorded launches as a spec.

Launches of one kernel are one C function where their C types and the constants that the program itself has passed are equal: nothing
is known of when other constants would be right. Promises (multiples of 16, ones) are specialisations of that function, and what an
autotuner chose are its configs."""

import hashlib
import json
import keyword
import re

from kiln.record import grid_expression

_LONGEST = 120  # characters of a function's name

OPTION_DEFAULTS = {"num_warps": 4, "num_stages": None, "num_ctas": 1, "maxnreg": None}


def _frozen(value):
    return json.dumps(value, sort_keys=True)


def _config_of(launch):
    config = {name: launch.values[name].constant for name in launch.values if name in launch.tuned}
    config.update({name: value for name, value in launch.options.items() if value is not None and OPTION_DEFAULTS.get(name) != value})
    return config


class Entry:
    """The launches that become one C function."""

    def __init__(self, first):
        self.first, self.launches = first, []
        self.name = identifier(first.kernel) if re.search("__|^_[A-Z]", first.kernel) else first.kernel

    def parameters(self, launch):
        return {name: value for name, value in launch.values.items() if name not in launch.tuned}

    def constants(self):
        return {name: value.constant for name, value in self.parameters(self.first).items() if value.is_constant}

    def signatures(self):
        """Distinct signatures with their configs, the strictest promises first; the last promises what all calls keep."""
        found = {}
        for launch in self.launches:
            signature = {name: value.spelled() for name, value in self.parameters(launch).items()}
            configs = found.setdefault(_frozen(signature), (signature, {}))[1]
            config = _config_of(launch)
            configs[_frozen(config)] = config
        return sorted(
            ((signature, list(configs.values())) for signature, configs in found.values()),
            key=lambda pair: -sum(isinstance(v, str) and ":" in v for v in pair[0].values()),
        )

    def spec(self, source):
        signatures = self.signatures()
        entry = {"name": self.name, "source": source, "kernel": self.first.kernel}
        if len(signatures) == 1:
            entry["signature"], entry["configs"] = signatures[0]
        else:
            entry["signatures"] = [{"signature": signature, "configs": configs} for signature, configs in signatures]
        key = [name for name in self.first.key if name in self.first.values and _is_integer(self.first.values[name])]
        if key and any(len(configs) > 1 for _, configs in signatures):
            entry["dispatch"] = {"key": key[:8]}
        grid = grid_expression.agreed(self.launches)
        if grid and all(self._may_use(expression) for expression in grid):
            entry["grid"] = grid
        return entry

    def _may_use(self, expression):
        """Grids see integers: arguments, and constants of every config."""
        names = set(re.findall(r"[A-Za-z_]\w*", expression)) - {"cdiv", "min", "max", "next_power_of_2"}
        return all(name in self.first.values for name in names)

    def seen(self):
        """The ranges of integer arguments."""
        ranges = {}
        for launch in self.launches:
            for name, number in launch.numbers.items():
                if name in launch.values and not launch.values[name].is_constant:
                    low, high = ranges.get(name, (number, number))
                    ranges[name] = (min(low, number), max(high, number))
        return ranges


def _is_integer(value):
    return not value.is_constant and value.type[0] in "iu"


def _identity(launch):
    """What keeps C functions apart."""
    values = {
        name: ["constant", value.constant] if value.is_constant else ["type", value.type]
        for name, value in launch.values.items()
        if name not in launch.tuned
    }
    return launch.path, launch.kernel, _frozen(values)


def identifier(text):
    """A name of C's, which keeps those with two underscores in a row for itself."""
    name = re.sub(r"[\W_]+", "_", text).strip("_")
    return name + "_" if keyword.iskeyword(name) or not name or name[0].isdigit() else name


def _text_of(constant):
    if isinstance(constant, dict):
        return "_".join(map(_text_of, constant.values()))
    if isinstance(constant, list):
        return "_".join(map(_text_of, constant))
    return str(constant).replace("-", "m").replace(".", "p")


def _shortened(name):
    """Names are names of files, too: the end of a long one is a digest of it."""
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: _LONGEST - 9].rstrip('_')}_{digest}"


def _name_apart(entries):
    """Names for the functions of one kernel: by what they differ in."""
    if len(entries) == 1:
        return
    constants = [entry.constants() for entry in entries]
    types = [{n: v.type for n, v in entry.first.values.items() if not v.is_constant} for entry in entries]
    for entry, own, typed in zip(entries, constants, types):
        parts = [f"{n}_{_text_of(v)}" for n, v in own.items() if any(other.get(n, v) != v or n not in other for other in constants)]
        parts += dict.fromkeys(t.strip("*k") for n, t in typed.items() if any(other.get(n, t) != t for other in types))
        entry.name = _shortened(identifier("_".join([entry.first.kernel, *parts])))


def entries_of(launches):
    """C functions, named apart from each other."""
    found = {}
    for launch in launches:
        found.setdefault(_identity(launch), Entry(launch)).launches.append(launch)
    of_kernel = {}
    for entry in found.values():
        of_kernel.setdefault((entry.first.path, entry.first.kernel), []).append(entry)
    for entries in of_kernel.values():
        _name_apart(entries)
    taken = set()
    for entry in found.values():
        name, number = entry.name, 2
        while entry.name in taken:
            entry.name, number = f"{name}_{number}", number + 1
        taken.add(entry.name)
    return list(found.values())


def spec_of(entries, library, targets, source_of):
    """`source_of(entry)`: the path of its source, relative to the spec."""
    return {"kiln": 1, "library": library, "targets": targets, "kernels": [entry.spec(source_of(entry)) for entry in entries]}
