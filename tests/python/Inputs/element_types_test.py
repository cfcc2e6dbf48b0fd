"""kiln.element_types against the rows of runtime/element_types.def, which the arguments name."""

import ctypes
import re
import sys
import unittest

from kiln import element_types

C_TYPES = {"bool": ctypes.c_bool, "float": ctypes.c_float, "double": ctypes.c_double, "kiln_fp8": ctypes.c_uint8,
           "kiln_fp16": ctypes.c_uint16, "kiln_bf16": ctypes.c_uint16,
           **{f"{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}}


def rows(text, macro):
    for row in re.findall(rf"^{macro}\((.*)\)$", text, re.MULTILINE):
        yield [field.strip().strip('"') for field in row.split(",")]


class ElementTypesTest(unittest.TestCase):
    def setUp(self):
        with open(sys.argv[1], encoding="utf-8") as file:
            self.text = file.read()

    def test_has_the_rows_of_the_table(self):
        c_types = {kind: C_TYPES[c_type] for kind, _, _, c_type in rows(self.text, "KILN_PARAM_TYPE")}
        expected = {spec: element_types.Element(language, array, int(dlpack), int(bits), c_types[kind])
                    for _, spec, _, language, _, bits, kind, array, _, dlpack in rows(self.text, "KILN_ELEMENT_TYPE")}
        self.assertIn("fp8e4nv", expected)
        self.assertEqual(list(element_types.ELEMENTS.items()), list(expected.items()))

    def test_knows_the_classes_of_the_table(self):
        classes = {row[1]: (row[4], int(row[5])) for row in rows(self.text, "KILN_ELEMENT_TYPE")}
        self.assertEqual(set(element_types.INTEGERS), {name for name, (kind, _) in classes.items() if kind in ("Signed", "Unsigned")})
        self.assertEqual(set(element_types.FP8), {name for name, (kind, bits) in classes.items() if kind == "Float" and bits == 8})
        for name in element_types.INTEGERS:
            sign = classes[name][0] == "Signed"
            low, high = element_types.integer_range(name)
            self.assertEqual((low < 0, (high - low + 1).bit_length() - 1), (sign, classes[name][1]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
