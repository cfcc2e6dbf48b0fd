"""Packs a folder of stage.py: the same folder gives the same bytes.

    package.py tarball|deb|wheel FOLDER OUTPUT_FOLDER READELF [PYTHON_FILE…]

The names of the packages say the version with its commit, and what machines they are for; the latter is what the
command itself asks of the C library. PYTHON_FILEs are for the wheel.
"""

import base64
import gzip
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

# Names that the linker and the loader know a library by, beside its own. Wheels cannot hold links.
LINKS = {"lib/libkiln.so": "lib/libkiln.so.{abi}",
         "lib/libkiln_emulated.so": "lib/libkiln_emulated.so.{abi}"}
# What the loader finds on every machine that PEP 600 speaks of.
MANYLINUX_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2",
                       "libgcc_s.so.1"}
MAINTAINER = "Kiln maintainers <maintainers@kiln.invalid>"
SUMMARY = "Compiles Triton kernels ahead of time into a C library"


class Entry:
    """A file of the package: its place, its bytes, and whether it can be run; or a link to another."""

    def __init__(self, place, data, executable=False, target=""):
        self.place, self.data, self.executable, self.target = place, data, executable, target

    @property
    def mode(self):
        return 0o755 if self.executable else 0o644


def abi_of(folder):
    header = (folder / "include/kiln/kiln.h").read_text(encoding="utf-8")
    return re.search(r"#define KILN_ABI_VERSION (\d+)u", header).group(1)


def read_entries(folder):
    links = {place: target.format(abi=abi_of(folder)) for place, target in LINKS.items() if (folder / place).exists()}
    entries = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        place = path.relative_to(folder).as_posix()
        executable = place.startswith("bin/") or place.endswith(".sh")
        entries.append(Entry(links.get(place, place), path.read_bytes(), executable))
    entries += [Entry(place, b"", target=pathlib.PurePath(target).name) for place, target in links.items()]
    return sorted(entries, key=lambda entry: entry.place)


def glibc_of(folder, readelf):
    """The glibc that the programs and shared libraries need: (2, 34). They need nothing else of a machine."""
    versions = []
    for place in ["bin/kiln", *(place for place in LINKS if (folder / place).exists())]:
        text = subprocess.run([readelf, "--dynamic-table", "--version-info", folder / place], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", text))
        if needed - MANYLINUX_LIBRARIES:
            raise SystemExit(f"{place} needs libraries that not every machine has: {needed - MANYLINUX_LIBRARIES}")
        versions += [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(\d+\.\d+)", text)]
    return max(versions)


# ---------------------------------------------------------------------------------------------- tarball


def write_tar(entries, prefix):
    """A compressed archive; every folder has an entry of its own in front of its files."""
    buffer, folders = io.BytesIO(), set()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=6, mtime=0, filename="") as compressed:
        with tarfile.open(fileobj=compressed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for entry in entries:
                name = f"{prefix}{entry.place}"
                for folder in reversed(pathlib.PurePath(name).parents[:-1]):
                    if folder not in folders:
                        folders.add(folder)
                        info = tarfile.TarInfo(f"./{folder}" if prefix.startswith("./") else str(folder))
                        info.type, info.mode = tarfile.DIRTYPE, 0o755
                        archive.addfile(info)
                info = tarfile.TarInfo(name)
                info.mode, info.size = entry.mode, len(entry.data)
                if entry.target:
                    info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.target, 0o777
                archive.addfile(info, io.BytesIO(entry.data))
    return buffer.getvalue()


def write_tarball(folder, output, version, _glibc):
    name = f"kiln-{version}-linux-x86_64"
    (output / f"{name}.tar.gz").write_bytes(write_tar(read_entries(folder), f"{name}/"))


# -------------------------------------------------------------------------------------------------- deb

CONTROL = """Package: kiln
Version: {version}
Section: devel
Priority: optional
Architecture: amd64
Maintainer: {maintainer}
Installed-Size: {kilobytes}
Depends: libc6 (>= {glibc}), libgcc-s1
Recommends: gcc | c-compiler, libc6-dev, pkgconf | pkg-config
Suggests: cmake, libzstd-dev, g++
Description: {summary}
 Kiln takes unmodified Triton kernels and a JSON spec, and writes a C library
 for NVIDIA and AMD GPUs, the CPU, and GPUs that the CPU emulates. Neither the
 build nor the program that links the result needs Python or a GPU.
 .
 This package holds the command kiln, the runtime's headers, sources and
 libraries, and files for CMake and pkg-config.
"""


def debian_place(place):
    return place.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/")


def ar_member(name, data):
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
    return header + data + b"\n" * (len(data) % 2)


def write_deb(folder, output, version, glibc):
    entries = read_entries(folder)
    for entry in entries:
        entry.place = f"usr/{debian_place(entry.place)}"
    entries.sort(key=lambda entry: entry.place)
    control = CONTROL.format(version=version, maintainer=MAINTAINER, summary=SUMMARY,
                             glibc=".".join(map(str, glibc)),
                             kilobytes=sum(-(-len(entry.data) // 1024) for entry in entries))
    sums = "".join(f"{hashlib.md5(entry.data).hexdigest()}  {entry.place}\n"
                   for entry in entries if not entry.target)
    about = [Entry("control", control.encode()), Entry("md5sums", sums.encode()),
             Entry("triggers", b"activate-noawait ldconfig\n")]
    (output / f"kiln_{version}_amd64.deb").write_bytes(
        b"!<arch>\n" + ar_member("debian-binary", b"2.0\n") + ar_member("control.tar.gz", write_tar(about, "./"))
        + ar_member("data.tar.gz", write_tar(entries, "./")))


# ------------------------------------------------------------------------------------------------ wheel

METADATA = """Metadata-Version: 2.1
Name: kiln-compiler
Version: {version}
Summary: {summary}
Maintainer-email: {maintainer}
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""
ENTRY_POINTS = "[pytest11]\nkiln = kiln.pytest_plugin\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: kiln\nRoot-Is-Purelib: false\nTag: {tag}\n"


def wheel_entries(folder, python_files, version, tag):
    """Beside the Python package everything goes to the environment's own folders: bin/, lib/, share/ …"""
    by_place = {entry.place: entry for entry in read_entries(folder)}
    data = f"kiln_compiler-{version}.data/data/"
    info = f"kiln_compiler-{version}.dist-info/"
    entries = []
    for entry in by_place.values():
        target = by_place[str(pathlib.PurePath(entry.place).with_name(entry.target))] if entry.target else entry
        entries.append(Entry(data + entry.place, target.data, entry.executable))
    for file in python_files:
        path = pathlib.Path(file)
        entries.append(Entry(path.as_posix().split("python/", 1)[1], path.read_bytes()))
    metadata = METADATA.format(version=version, summary=SUMMARY, maintainer=MAINTAINER)
    readme = by_place["share/doc/kiln/README.md"].data.decode()
    entries.append(Entry(info + "METADATA", (metadata + readme).encode()))
    entries.append(Entry(info + "WHEEL", WHEEL.format(tag=tag).encode()))
    entries.append(Entry(info + "entry_points.txt", ENTRY_POINTS.encode()))
    return entries, info + "RECORD"


def write_wheel(folder, output, version, glibc, python_files):
    tag = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_x86_64"
    entries, record = wheel_entries(folder, python_files, version, tag)
    lines = []
    for entry in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(entry.data).digest()).rstrip(b"=").decode()
        lines.append(f"{entry.place},sha256={digest},{len(entry.data)}\n")
    entries.append(Entry(record, "".join(lines + [f"{record},,\n"]).encode()))
    with zipfile.ZipFile(output / f"kiln_compiler-{version}-{tag}.whl", "w") as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.place, (1980, 1, 1, 0, 0, 0))
            info.external_attr, info.create_system = (0o100000 | entry.mode) << 16, 3
            archive.writestr(info, entry.data, zipfile.ZIP_DEFLATED, 6)


def main(kind, folder, output, readelf, *python_files):
    folder, output = pathlib.Path(folder), pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    version = (folder / "share/kiln/VERSION").read_text(encoding="utf-8").strip()
    glibc = glibc_of(folder, readelf)
    if kind == "wheel":
        write_wheel(folder, output, version, glibc, python_files)
    else:
        {"tarball": write_tarball, "deb": write_deb}[kind](folder, output, version, glibc)


if __name__ == "__main__":
    main(*sys.argv[1:])
