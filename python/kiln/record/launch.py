"""What one launch of a kernel says. Plain data: nothing here knows of Triton."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Value:
    """What a parameter is: a type with a promise ("16", "1" or ""), or a constant as specs write it."""

    type: str = ""
    promise: str = ""
    constant: object = None

    @property
    def is_constant(self):
        return not self.type

    def spelled(self, promise=None):
        if self.is_constant:
            return self.constant
        promise = self.promise if promise is None else promise
        return self.type + (":" + promise if promise else "")


@dataclass
class Launch:
    path: str  # of the file that the kernel is in
    kernel: str  # the function's name there
    values: dict  # parameter -> Value
    options: dict  # num_warps …
    tuned: frozenset = frozenset()  # parameters that an autotuner's config has set
    key: tuple = ()  # the autotuner's key: names of arguments
    numbers: dict = field(default_factory=dict)  # integers: arguments and constants by name
    grid: tuple = (1, 1, 1)
    grid_expressions: tuple = ()  # for each dimension that the program gives, the expressions that may be meant

    def integer_constants(self):
        return {name: value.constant for name, value in self.values.items() if value.is_constant and type(value.constant) is int}
