"""Formats that NumPy lacks: bfloat16 and the 8-bit floats, as bits in unsigned integers."""
import numpy as np

# Bits of mantissa, bias of the exponent.
FLOAT8 = {"fp8e5": (2, 15), "fp8e5b16": (2, 16), "fp8e4nv": (3, 7), "fp8e4b8": (3, 8), "fp8e4b15": (3, 15)}


def float8_table(name):
    """The value of each of the 256 encodings."""
    mantissa, bias = FLOAT8[name]
    bits = np.arange(256)
    exponent, fraction = (bits & 127) >> mantissa, bits & ((1 << mantissa) - 1)
    normal = (1 + fraction / (1 << mantissa)) * 2.0**(exponent - bias)
    table = np.where(exponent == 0, fraction / (1 << mantissa) * 2.0**(1 - bias), normal) * np.where(bits & 128, -1, 1)
    if name == "fp8e4nv":
        table[[0x7F, 0xFF]] = np.nan
    elif name in ("fp8e4b8", "fp8e5b16"):
        table[0x80] = np.nan
    elif name == "fp8e5":
        table[[0x7C, 0xFC]] = np.inf, -np.inf
        table[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = np.nan
    return table


def float8_numbers(data, name):
    return float8_table(name)[data]


def float8_bits(values, name):
    """Rounded to nearest, ties to even; too large a magnitude becomes the largest finite one, as GPUs' conversions do."""
    table = float8_table(name)[:128]
    codes = np.flatnonzero(np.isfinite(table))
    magnitude = np.minimum(np.abs(values), table[codes[-1]])
    above = np.clip(np.searchsorted(table[codes], magnitude), 1, len(codes) - 1)
    low, high = table[codes[above - 1]], table[codes[above]]
    takes_high = (magnitude - low > high - magnitude) | ((magnitude - low == high - magnitude) & (codes[above] % 2 == 0))
    bits = np.where(takes_high, codes[above], codes[above - 1])
    negative = np.signbit(values)
    if name in ("fp8e4b8", "fp8e5b16"):  # no negative zero
        negative &= bits != 0
    bits = np.where(negative, bits | 128, bits)
    nan = 0x80 if name in ("fp8e4b8", "fp8e5b16") else 0x7F
    return np.where(np.isnan(values), nan, bits).astype(np.uint8)


def bfloat16_numbers(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def bfloat16_bits(values, toward_zero=False):
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounding = 0 if toward_zero else 0x7FFF + ((bits >> 16) & 1)
    rounded = ((bits.astype(np.uint64) + rounding) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)
