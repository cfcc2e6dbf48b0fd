// What is evaluated at compile time: Python's builtins and library, and triton's own functions for
// host code. A kernel stores the values.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS(
    "range min max abs len int float bool str repr print isinstance callable getattr hasattr "
    "zip enumerate sum all any sorted reversed tuple list set frozenset dict map filter type "
    "round pow divmod bin slice staticmethod classmethod property super iter next setattr "
    "issubclass chr ord hex enum.auto dataclasses.dataclass dataclasses.field object math.sqrt "
    "math.exp math.log "
    "math.log2 math.log10 math.pow math.sin math.cos math.tanh math.fabs math.ceil math.floor "
    "math.gcd math.prod math.isnan math.isinf os.environ.get os.getenv functools.partial "
    "functools.reduce functools.lru_cache functools.cache functools.wraps itertools.product "
    "itertools.chain packaging.version.parse packaging.version.Version "
    "collections.namedtuple collections.OrderedDict operator.ge operator.gt operator.le "
    "operator.lt operator.eq operator.ne operator.add operator.mul importlib.import_module "
    "importlib.util.find_spec torch.finfo torch.iinfo torch.cuda.is_available "
    "torch.xpu.is_available torch.backends.mps.is_available torch.npu.is_available "
    "torch.musa.is_available torch.utils._triton.has_triton "
    "torch.utils._triton.has_triton_package torch.cuda.get_device_capability triton.cdiv "
    "triton.next_power_of_2 triton.jit triton.constexpr_function");

class Python : public SourceTest {};

struct Evaluation {
  const char *expression;
  double value;
};

const Evaluation evaluations[] = {
    {"sum(range(10))", 45},
    {"sum(range(2, 11, 3))", 15},
    {"len(range(10, 0, -3))", 4},
    {"min(3, 1, 2) + min((7, 5))", 6},
    {"max([1, 9, 4])", 9},
    {"max('abc', 'b', key=len) == 'abc'", 1},
    {"abs(-7) + abs(-0.5)", 7.5},
    {"len('four') + len((1, 2)) + len({1: 2})", 7},
    {"int('ff', 16) + int(3.9) + int(True) + int('12')", 271},
    {"float('1.5') + float(2) + float('-inf') * 0 if False else float('1.5')", 1.5},
    {"bool([]) + bool('x') + bool(0)", 1},
    {"str(12) == '12'", 1},
    {"repr('a') == \"'a'\"", 1},
    {"len(str((1, 2)))", 6},
    {"'${out}, ${in_};'.format(out=0, in_=1) == '$0, $1;'", 1},
    {"'{}-{}|{1}{0}'.format('a', 'b') == 'a-b|ba'", 1},
    {"'{{{0.small}}}{1[2]}{2[k]}'.format(Sizes, (1, 2, 3), {'k': 'v'}) == '{4}3v'", 1},
    {"'{:>6}|{:<4}|{:^5}|{:*^7}'.format('ab', 'c', 'd', 7) == '    ab|c   |  d  |***7***'", 1},
    {"'{:05d}|{:+}|{:#x}|{:X}|{:b}|{:,}'.format(-42, 7, 255, 255, 5, 1234567) == "
     "'-0042|+7|0xff|FF|101|1,234,567'",
     1},
    {"'{:.2f}|{:e}|{:.3g}|{:8.1f}|{:.0%}|{:.3}'.format(1.005, 12345.678, 0.00012345, 2.25, 0.5, "
     "2.0) "
     "== '1.00|1.234568e+04|0.000123|     2.2|50%|2.0'",
     1},
    {"'{:{}}|{!r}'.format(3, 4, 'q') == \"   3|'q'\"", 1},
    {"f'{5:03}{2.5:.1f}{\"x\"!r:>5}' == \"0052.5  'x'\"", 1},
    {"'%d %5.2f|%-4s|%s %x %%' % (3, 2.5, 'ab', None, 255) == '3  2.50|ab  |None ff %'", 1},
    {"'%s' % 'one' + '%(k)03d' % {'k': 7} == 'one007'", 1},
    {"' a b  c '.split()[2] == 'c' and len('a,b,c'.split(',', 1)) == 2", 1},
    {"'a.b.c'.rsplit('.', 1)[0] == 'a.b' and 'a.b.c'.partition('.')[2] == 'b.c'", 1},
    {"'xxaxx'.lstrip('x') + '|' + 'xxaxx'.rstrip('x') == 'axx|xxa'", 1},
    {"'sm_90'.removeprefix('sm_') + 'f.py'.removesuffix('.py') == '90f'", 1},
    {"'abab'.rfind('ab') + len('p\\nq\\n'.splitlines())", 4},
    {"'gfx942'.startswith(('sm', 'gfx')) + 'gfx942'.endswith(('0', '1'))", 1},
    {"'ab'.replace('', '-') == '-a-b-' and 'aXbX'.replace('X', 'yy') == 'ayybyy'", 1},
    {"'ab'.count('') + 'abab'.count('ab')", 5},
    {"'ab'.ljust(4, '.') + 'cd'.rjust(3, '-') == 'ab..-cd'", 1},
    {"'a b c'.split(sep=' ', maxsplit=1)[1] == 'b c'", 1},
    {"[1, 2, 1, 3].index(1, 1) + (4, 5, 4).index(4, -2, 3)", 4},
    {"len('' * 10 ** 30) + len(() * 10 ** 30)", 0},
    {"{1, 2}.isdisjoint([3]) + {1, 2}.isdisjoint({2: 0})", 1},
    {"isinstance(3, int) + isinstance(3.0, (int, str)) + isinstance('s', str)", 2},
    {"callable(len) + callable(3)", 1},
    {"getattr(Sizes, 'small')", 4},
    {"getattr(Sizes, 'missing', 11)", 11},
    {"hasattr(Sizes, 'small') + hasattr(Sizes, 'missing')", 1},
    {"Sizes.twice(21)", 42},
    {"Sizes.made(5).half", 5},
    {"Larger(4).half", 3},
    {"issubclass(Larger, Sizes) + issubclass(Sizes, Larger)", 1},
    {"setattr(Sizes, 'huge', 64) is None and Sizes.huge", 64},
    {"next(iter((7, 8))) + next(iter(()), 3)", 10},
    {"ord('a') + len(chr(98)) + (hex(255) == '0xff')", 99},
    {"Level.HIGH.value + len([level for level in Level])", 7},
    {"Record(2).scale + len(Record(3).parts)", 4},
    {"sum(a * b for a, b in zip((1, 2, 3), (4, 5, 6)))", 32},
    {"sum(i * x for i, x in enumerate((5, 6, 7)))", 20},
    {"sum(i for i, x in enumerate((5, 6), start=3))", 7},
    {"all(x > 0 for x in (1, 2)) + all([0, 1])", 1},
    {"any(x > 1 for x in (1, 2)) + any(())", 1},
    {"sorted((3, 1, 2))[0] * 10 + sorted([3, 1, 2], reverse=True)[0]", 13},
    {"sorted(('bb', 'a', 'ccc'), key=len)[2] == 'ccc'", 1},
    {"list(reversed((1, 2, 3)))[0]", 3},
    {"len(tuple([1, 2]) + tuple(range(3)))", 5},
    {"len(list('abc'))", 3},
    {"len(set((1, 2, 2, 1)))", 2},
    {"len(frozenset([3, 3]))", 1},
    {"dict(a=1, b=2)['b'] + dict([('c', 3)])['c']", 5},
    {"sum(map(lambda x: x * x, (1, 2, 3)))", 14},
    {"sum(filter(lambda x: x % 2, range(6)))", 9},
    {"type(3) == int", 1},
    {"round(2.5) + round(3.5) + round(1.25, 1)", 7.2},
    {"pow(2, 10)", 1024},
    {"divmod(17, 5)[0] * 10 + divmod(17, 5)[1]", 32},
    {"len(bin(100)) + (bin(-5) == '-0b101') * 100 + (bin(0) == '0b0') * 1000", 1109},
    {"sum((1, 2, 3, 4, 5)[slice(1, 4)])", 9},
    {"math.sqrt(2)", 1.4142135623730951},
    {"math.exp(1)", 2.718281828459045},
    {"math.log(10)", 2.302585092994046},
    {"math.log(8, 2)", 3},
    {"math.log2(1024)", 10},
    {"math.log10(1000)", 3},
    {"math.pow(2, 0.5)", 1.4142135623730951},
    {"math.sin(1)", 0.8414709848078965},
    {"math.cos(1)", 0.5403023058681398},
    {"math.tanh(1)", 0.7615941559557649},
    {"math.fabs(-3)", 3},
    {"math.ceil(2.1) + math.floor(-2.1)", 0},
    {"math.gcd(12, 18)", 6},
    {"math.prod((2, 3, 4))", 24},
    {"math.isnan(float('nan')) + math.isnan(1.0)", 1},
    {"math.isinf(-math.inf) + math.isinf(math.pi)", 1},
    {"os.environ.get('KILN_TEST_NAME', '5') == '5'", 1},
    {"os.getenv('KILN_TEST_NAME') is None", 1},
    {"functools.partial(power, 2)(exponent=5)", 32},
    {"functools.reduce(lambda a, b: a * b, (1, 2, 3, 4))", 24},
    {"functools.reduce(operator.add, (1, 2), 10)", 13},
    {"cached(4) + also_cached(5)", 9},
    {"functools.lru_cache(maxsize=4)(power)(2, 3) + functools.cache(power)(2, 4)", 24},
    {"functools.wraps(power)(double_too)(4)", 8},
    {"len(list(itertools.product((1, 2), (3, 4, 5))))", 6},
    {"sum(a * b for a, b in itertools.product((1, 2), repeat=2))", 9},
    {"sum(itertools.chain((1, 2), [3]))", 6},
    {"version.parse('2.10.1') > version.parse('2.9')", 1},
    {"version.Version('3.0') >= version.Version('3.0.0')", 1},
    {"Point(3, y=4).y", 4},
    {"collections.OrderedDict([('a', 8)])['a']", 8},
    {"operator.ge(2, 2) + operator.gt(2, 2) + operator.le(3, 2) + operator.lt(1, 2)", 2},
    {"operator.eq(2, 2) + operator.ne(2, 2)", 1},
    {"operator.add(2, 3) * operator.mul(2, 3)", 30},
    {"importlib.util.find_spec('kiln_has_no_such_module') is None", 1},
    {"importlib.import_module('math').floor(2.5)", 2},
    {"torch.finfo(torch.float16).max", 65504},
    {"torch.finfo(torch.bfloat16).eps", 0.0078125},
    {"torch.finfo(torch.float32).min", -3.4028234663852886e38},
    {"torch.finfo(torch.float64).tiny", 2.2250738585072014e-308},
    {"torch.finfo(torch.float8_e4m3fn).max", 448},
    {"torch.finfo(torch.float8_e4m3fn).tiny", 0.015625},
    {"torch.finfo(torch.float8_e4m3fnuz).max", 240},
    {"torch.finfo(torch.float8_e4m3fnuz).smallest_normal", 0.0078125},
    {"torch.finfo(torch.float8_e5m2).min", -57344},
    {"torch.finfo(torch.float8_e5m2).eps", 0.25},
    {"torch.finfo(torch.float8_e5m2fnuz).max", 57344},
    {"torch.finfo(torch.float8_e5m2fnuz).tiny", 0.000030517578125},
    {"torch.iinfo(torch.int8).min", -128},
    {"torch.iinfo(torch.int32).max", 2147483647},
    {"torch.cuda.is_available()", 1},
    {"has_triton() + torch.utils._triton.has_triton_package()", 2},
    {"torch.xpu.is_available()", 0},
    {"torch.backends.mps.is_available()", 0},
    {"torch.npu.is_available()", 0},
    {"torch.musa.is_available()", 0},
    {"torch.cuda.get_device_capability()[0] > 0", 1},
    {"triton.cdiv(17, 5)", 4},
    {"triton.next_power_of_2(65)", 128},
    {"triton.next_power_of_2(1)", 1},
    {"doubled(21)", 42},
    {"doubled_too(4)", 8},
    {"fallback()", 6},
    {"Exception('a value') is not None", 1},
    {"constant_of(20)", 22},
    {"print('nothing is printed') is None", 1},
    {"object() is not None", 1},
};

const char *const definitions = R"(
import collections
import dataclasses
import enum
import functools
import importlib
import importlib.util
import itertools
import math
import operator
import os
import torch
import torch.utils._triton
from packaging import version
from torch.utils._triton import has_triton

class Sizes:
    small = 4

    def __init__(self, size):
        self.size = size

    @staticmethod
    def twice(x):
        return 2 * x

    @classmethod
    def made(cls, x):
        return cls(cls.twice(x))

    @property
    def half(self):
        return self.size // 2

class Larger(Sizes):
    def __init__(self, size):
        super().__init__(size + 2)

class Level(enum.Enum):
    LOW = 4
    HIGH = enum.auto()

@dataclasses.dataclass
class Record:
    size: int
    scale: int = 4
    parts: list = dataclasses.field(default_factory=list)

Point = collections.namedtuple('Point', ['x', 'y'])

def power(base, exponent):
    return base ** exponent

@functools.lru_cache(maxsize=None)
def cached(x):
    return x

@functools.cache
def also_cached(x):
    return x

@triton.constexpr_function
def doubled(x):
    return 2 * x

def double_too(x):
    return 2 * x

doubled_too = triton.constexpr_function(double_too)

@tl.constexpr
def constant_of(x: tl.constexpr):
    x = x.value if isinstance(x, tl.constexpr) else x
    return x + 2

def fallback():
    try:
        raise Exception('not this way')
    except Exception:
        return 6

)";

TEST_P(Python, ValuesOfExpressions) {
  const int count = int(std::size(evaluations));
  std::string source = definitions;
  source += "def values():\n    return (\n";
  for (const Evaluation &evaluation : evaluations)
    source += std::string("        ") + evaluation.expression + ",\n";
  source += "    )\n\n"
            "@triton.jit\ndef kernel(q, N: tl.constexpr):\n"
            "    numbers: tl.constexpr = values()\n"
            "    for i in tl.static_range(N):\n"
            "        tl.store(q + i, numbers[i])\n";
  // A Python float in a kernel is an fp32.
  Buffer<double> results(count);
  ASSERT_EQ(runSource(source, GetParam(), {{"q", "*fp64", results}}, {{"N", count}}), "");
  for (int i = 0; i < count; ++i)
    EXPECT_TRUE(results[i] == evaluations[i].value || results[i] == float(evaluations[i].value))
        << evaluations[i].expression << " is " << results[i];
}

TEST_P(Python, OneByOne) {
  // Which expression is refused, if one is.
  for (const Evaluation &evaluation : evaluations) {
    Buffer<double> result(1);
    EXPECT_EQ(runSource(std::string(definitions) + "def value():\n    return " +
                            evaluation.expression +
                            "\n\n@triton.jit\ndef kernel(q):\n    tl.store(q, value())\n",
                        GetParam(), {{"q", "*fp64", result}}),
              "")
        << evaluation.expression;
  }
}

TEST_P(Python, FunctionsMadeKernelFunctionsByACall) {
  Buffer<int32_t> y(4);
  ASSERT_EQ(runSource(R"(
def twice(x):
    return x + x

jitted = triton.jit(twice)

@triton.jit
def kernel(q):
    i = tl.arange(0, 4)
    tl.store(q + i, jitted(i))
)",
                      GetParam(), {{"q", "*i32", y}}),
            "");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(y[i], 2 * i);
}

KILN_SOURCE_TESTS(Python);

} // namespace
} // namespace kiln::testing
