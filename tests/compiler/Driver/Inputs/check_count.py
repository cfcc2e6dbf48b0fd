"""Checks what kiln run counts, with nothing but Python's own library.

  check_count.py json SCHEMA FILE [PATH=VALUE...]   by the schema, by sums, and single values: total.flops=4096
  check_count.py html FILE TEXT...                  well-formed, self-contained, and has these texts
"""

import json
import sys
import xml.etree.ElementTree

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}


def validate(value, schema, root, path):
    """The part of JSON Schema that count.schema.json uses; an unknown keyword is an error."""
    for key, rule in schema.items():
        if key == "$ref":
            validate(value, root["$defs"][rule.removeprefix("#/$defs/")], root, path)
        elif key == "type":
            types = [rule] if isinstance(rule, str) else rule
            assert any(isinstance(value, TYPES[one]) for one in types) and not isinstance(value, bool), (path, value)
        elif key == "const":
            assert value == rule, (path, value)
        elif key == "enum":
            assert value in rule, (path, value)
        elif key == "minimum":
            assert value >= rule, (path, value)
        elif key == "minItems":
            assert len(value) >= rule, (path, value)
        elif key == "maxItems":
            assert len(value) <= rule, (path, value)
        elif key == "required":
            assert set(rule) <= set(value), (path, set(rule) - set(value))
        elif key == "items":
            for number, item in enumerate(value):
                validate(item, rule, root, "%s[%d]" % (path, number))
        elif key == "properties":
            for name in rule.keys() & value.keys():
                validate(value[name], rule[name], root, path + "." + name)
        elif key == "propertyNames":
            for name in value:
                validate(name, rule, root, path)
        elif key == "additionalProperties":
            for name in value.keys() - schema.get("properties", {}).keys():
                assert rule, (path, name)
                validate(value[name], rule, root, path + "." + name)
        else:
            assert key in ("$schema", "$defs", "title", "description"), key


def numbers(counts, path=""):
    for key, value in counts.items():
        if isinstance(value, dict):
            yield from numbers(value, path + key + ".")
        else:
            yield path + key, value


def check_sums(report, parts):
    """The counts of all lines, and those of all places, are the total."""
    sums = {}
    for part in report[parts]:
        for key, value in numbers(part["counts"]):
            sums[key] = sums.get(key, 0) + value
    for key, value in numbers(report["total"]):
        assert sums.get(key, 0) == value, (parts, key, sums.get(key), value)


def check_json(schema_path, path, values):
    with open(schema_path) as file:
        schema = json.load(file)
    with open(path) as file:
        report = json.load(file)
    validate(report, schema, schema, "")
    check_sums(report, "lines")
    check_sums(report, "places")
    for text in values:
        where, expected = text.split("=")
        value = report
        for key in where.split("."):
            value = value[key] if isinstance(value, dict) else value[int(key)]
        assert str(value) == expected, (where, value, expected)


def check_html(path, texts):
    with open(path) as file:
        page = file.read()
    root = xml.etree.ElementTree.fromstring(page)
    tags = {element.tag for element in root.iter()}
    assert not tags & {"link", "img", "iframe"}, tags
    assert not any("src" in element.attrib for element in root.iter())
    assert "http" not in page and "url(" not in page and "@import" not in page
    text = "".join(root.itertext())
    for expected in texts:
        assert expected in text, expected


if sys.argv[1] == "json":
    check_json(sys.argv[2], sys.argv[3], sys.argv[4:])
else:
    check_html(sys.argv[2], sys.argv[3:])
