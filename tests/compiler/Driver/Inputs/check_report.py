"""Checks the data in a report's page: check_report.py FILE PATH=VALUE...

The page is well-formed XML. A path leads through objects and lists: launches.0.target=emu:sm_80
"""

import json
import sys
import xml.etree.ElementTree

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
data = json.loads(next(one.text for one in root.iter("script") if one.get("id") == "kiln-report"))
for text in sys.argv[2:]:
    where, expected = text.split("=", 1)
    value = data
    for key in where.split("."):
        value = value[key] if isinstance(value, dict) else value[int(key)]
    assert str(value) == expected, (where, value, expected)
