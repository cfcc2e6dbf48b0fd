"""Changes the document of a file of pieces and gives it a hash again: rewrite.py FILE KEY VALUE."""

import hashlib
import json
import sys

path, key, value = sys.argv[1:]
with open(path, "rb") as file:
    first, rest = file.read().split(b"\n", 1)
words = first.split()
assert words[:3] == [b"kiln", b"pieces", b"1"] and words[3].decode() == hashlib.sha256(rest).hexdigest()
document = json.loads(rest)
assert document[key] != value
document[key] = value
rest = json.dumps(document).encode()
with open(path, "wb") as file:
    file.write(b"kiln pieces 1 " + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)
