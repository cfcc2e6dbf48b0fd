"""Writes and checks .npy files with nothing but Python's own library.

  check_npy.py write FILE FORMAT VALUE...      a one-dimensional file; FORMAT as in numpy ("<f4")
  check_npy.py add X Y OUT                     OUT is X + Y in f32
  check_npy.py times X OUT FACTOR              OUT is X times a small integer
  check_npy.py softmax X OUT TOLERANCE         by row
  check_npy.py matmul A B C TOLERANCE
  check_npy.py whole X LOW HIGH                whole numbers from LOW to HIGH, both among them
"""

import ast
import math
import struct
import sys

LETTERS = {"b1": "?", "f2": "e", "f4": "f", "f8": "d", "i4": "i", "u2": "H", "u1": "B"}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", path
    length, = struct.unpack_from("<H", data, 8)
    assert (10 + length) % 64 == 0, path
    header = ast.literal_eval(data[10:10 + length].decode())
    assert not header["fortran_order"]
    count = math.prod(header["shape"])
    values = struct.unpack_from("<%d%s" % (count, LETTERS[header["descr"][1:]]), data, 10 + length)
    return header["shape"], values


def write(path, descr, values):
    header = repr({"descr": descr, "fortran_order": False, "shape": (len(values),)})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    letter = LETTERS[descr[1:]]
    number = float if letter in "efd" else int
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (len(values), letter), *map(number, values)))


def near(got, expected, tolerance):
    worst = max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(got, expected))
    assert len(got) == len(expected) and worst <= tolerance, worst


def add(x, y, out):
    sums = [a + b for a, b in zip(read(x)[1], read(y)[1])]
    assert any(sums)
    assert struct.pack("<%df" % len(sums), *sums) == struct.pack("<%df" % len(sums), *read(out)[1])


def times(x, out, factor):
    products = tuple(int(factor) * value for value in read(x)[1])
    assert any(products) and products == read(out)[1]


def whole(x, low, high):
    values = set(read(x)[1])
    assert values <= set(range(int(low), int(high) + 1)) and {int(low), int(high)} <= values, values


def softmax(x, out, tolerance):
    (rows, columns), values = read(x)
    expected = []
    for row in range(rows):
        powers = [math.exp(value) for value in values[row * columns:(row + 1) * columns]]
        expected += [power / sum(powers) for power in powers]
    # Relative to one element of a flat row.
    near([v * columns for v in read(out)[1]], [v * columns for v in expected], float(tolerance))


def matmul(a, b, c, tolerance):
    (m, k), left = read(a)
    (_, n), right = read(b)
    expected = [sum(left[i * k + l] * right[l * n + j] for l in range(k)) for i in range(m) for j in range(n)]
    shape, got = read(c)
    assert shape == (m, n)
    near(got, expected, float(tolerance))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "write":
        write(arguments[0], arguments[1], arguments[2:])
    else:
        {"add": add, "times": times, "softmax": softmax, "matmul": matmul, "whole": whole}[command](*arguments)
