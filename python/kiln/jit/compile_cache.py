"""Libraries of one kernel each, kept by what they are made of: sources, spec, Kiln and its runtime. So are refusals."""

import hashlib
import json
import time

from kiln import installation, toolchain

LIBRARY = "kernel"


class CompileCache:
    def __init__(self, folder, target, runtime):
        self.folder, self.runtime = folder / target.replace(":", "-"), runtime
        made_with = [path.stat() for path in (installation.tool(), runtime)]
        self.made_with = [number for stat in made_with for number in (stat.st_size, stat.st_mtime_ns)]
        self.compiles, self.seconds = 0, 0.0

    def library(self, files, spec):
        """The shared object of a spec whose sources are `files`; BuildError where Kiln refuses it."""
        content = json.dumps([files, spec, self.made_with], sort_keys=True)
        folder = self.folder / hashlib.sha256(content.encode()).hexdigest()[:24]
        toolchain.kept(folder, lambda work: self._make(work, files, spec))
        refusal = folder / "refused"
        if refusal.exists():
            raise toolchain.BuildError(refusal.read_text())
        return folder / f"lib{LIBRARY}.so"

    def warnings(self, library):
        """The first line of each warning that Kiln gave when it made the library."""
        file = library.with_name("warnings")
        return [line for line in file.read_text().splitlines() if " warning: " in line] if file.exists() else []

    def _make(self, work, files, spec):
        for name, text in files.items():
            (work / name).write_text(text)
        (work / "spec.json").write_text(json.dumps(spec, indent=1))
        begin = time.monotonic()
        try:
            said = toolchain.build_library("spec.json", LIBRARY, work, self.runtime)
            if said:
                (work / "warnings").write_text(said)
        except toolchain.BuildError as error:
            (work / "refused").write_text(str(error))
        self.compiles += 1
        self.seconds += time.monotonic() - begin
