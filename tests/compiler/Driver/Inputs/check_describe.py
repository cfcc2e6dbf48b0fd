"""check_describe.py TEXT MANIFEST: kiln_describe says what the manifest does."""
import json
import sys

text, manifest = (json.load(open(path)) for path in sys.argv[1:])


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: got {got}, expected {wanted}")


expect("library", text["library"], manifest["library"])
expect("entries", [e["name"] for e in text["entries"]], [e["name"] for e in manifest["entries"]])
for entry, told in zip(text["entries"], manifest["entries"]):
    expect("arguments", entry["arguments"], [{"name": a["name"], "type": a["type"]} for a in told["arguments"]])
    expect("targets", [t["driver"] + ":" + t["form"] for t in entry["targets"]], ["cuda:ptx", "cpu:host"])
    expect("number of variants", len(entry["variants"]), len(told["variants"]))
    for variant, wanted in zip(entry["variants"], told["variants"]):
        for key in ["id", "name"]:
            expect(key, variant[key], wanted[key])
        expect("relies_on", sorted(variant["relies_on"]), sorted(wanted["relies_on"]))
        expect("parameters", [p["name"] for p in variant["parameters"]], [a["name"] for a in told["arguments"]])
        expect("binaries", len(variant["binaries"]), len(wanted["binaries"]))
        for binary, other in zip(variant["binaries"], wanted["binaries"]):
            expect("arena", binary["arena_bytes"], other.get("arena_bytes", 0))
            if other["format"] != "obj":
                expect("bytes", binary["bytes"], other["bytes"])
                expect("threads", binary["threads"], other["threads"])
                expect("shared_bytes", binary["shared_bytes"], other["dynamic_shared_bytes"])
