"""check_sarif.py LOG LIST: the log of --diagnostics=sarif says what the list of --diagnostics=json does."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    log = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    diagnostics = json.load(file)

assert log["version"] == "2.1.0" and len(log["runs"]) == 1
run = log["runs"][0]
rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
assert len(rules) == len(run["tool"]["driver"]["rules"])
assert set(rules) == {diagnostic["kind"] for diagnostic in diagnostics}
assert all(rule["shortDescription"]["text"] for rule in rules.values())
assert diagnostics and len(run["results"]) == len(diagnostics)


def check_place(location, diagnostic):
    if "file" not in diagnostic:
        assert location["logicalLocations"][0]["fullyQualifiedName"] == diagnostic["place"]
        return
    physical = location["physicalLocation"]
    region = physical["region"]
    assert physical["artifactLocation"]["uri"] == diagnostic["file"]
    assert (region["startLine"], region["startColumn"]) == (diagnostic["line"], diagnostic["column"])
    assert (region["endLine"], region["endColumn"]) == (diagnostic["endLine"], diagnostic["endColumn"])


for result, diagnostic in zip(run["results"], diagnostics):
    assert result["ruleId"] == diagnostic["kind"] and result["level"] == diagnostic["severity"]
    assert result["message"]["text"].startswith(diagnostic["message"])
    if "hint" in diagnostic:
        assert "hint: " + diagnostic["hint"] in result["message"]["text"]
    if "file" in diagnostic or "place" in diagnostic:
        check_place(result["locations"][0], diagnostic)
    related = iter(result.get("relatedLocations", []))
    for note in diagnostic.get("notes", []):
        if "file" in note or "place" in note:
            location = next(related)
            assert location["message"]["text"] == note["message"]
            check_place(location, note)
        else:
            assert "note: " + note["message"] in result["message"]["text"]
    assert next(related, None) is None
