"""The version of Kiln. python/kiln/__init__.py has it, too; //tests/packages compares them."""

KILN_VERSION = "0.1.0"
