"""Builds a library of 2,000 variants with Bazel against a remote cache, or remote execution, on loopback.

    remote_build.py cache KILN SCRATCH [--nginx FILE]
    remote_build.py execution KILN SCRATCH [--postgres FOLDER]

KILN is a folder with bin/kiln and runtime/; the servers are nginx (a WebDAV folder) or BuildGrid on PostgreSQL with two
workers (remote_worker.py). BuildGrid is a package of PyPI, "buildgrid[database]", for the Python that runs this. Three
builds follow: a first one, one in another folder with another Bazel, as on a second machine, and there again after an
edit of one kernel. Each line says how many actions of Kiln's ran and how many came from the cache; a number other than
expected is an error.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
KERNELS, CONFIGS, TARGET = 200, 10, "cpu:x86-64-v3"
RUNNING = []  # servers

KERNEL = """import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * {factor}.0 + 0.5, mask=mask)
"""

WORKSPACE = """workspace(name = "many")
local_repository(name = "kiln", path = "{checkout}")
load("@kiln//bazel:repositories.bzl", "kiln_repositories")
load("@kiln//bazel:offline.bzl", "bazel4_offline_repositories")
kiln_repositories()
bazel4_offline_repositories()
new_local_repository(
    name = "kiln_prebuilt",
    build_file_content = '''
load("@kiln//codegen:toolchain.bzl", "kiln_prebuilt")
kiln_prebuilt(name = "kiln")
''',
    path = "{prebuilt}",
)
register_toolchains("@kiln_prebuilt//:kiln")
"""

BUILD = """load("@kiln//codegen:kiln.bzl", "kiln_kernel_library")
kiln_kernel_library(
    name = "many",
    pieces = {{"k%d.py" % k: "k%d" % k for k in range({kernels})}},
    spec = "many.json",
    targets = ["{target}"],
)
"""


def write_workspace(folder, prebuilt):
    folder.mkdir(parents=True)
    (folder / "WORKSPACE").write_text(WORKSPACE.format(checkout=CHECKOUT, prebuilt=prebuilt))
    (folder / "BUILD").write_text(BUILD.format(kernels=KERNELS, target=TARGET))
    kernels = []
    for k in range(KERNELS):
        (folder / f"k{k}.py").write_text(KERNEL.format(factor=k + 1))
        kernels.append({
            "name": f"k{k}", "source": f"k{k}.py", "kernel": "kernel",
            "signature": {"x_ptr": "*kfp32", "out_ptr": "*fp32", "n": "i32"},
            "configs": [{"BLOCK": 64 << c % 5, "num_warps": 4 << c // 5} for c in range(CONFIGS)],
            "grid": ["cdiv(n, BLOCK)"],
        })
    spec = {"kiln": 1, "library": "many", "targets": [TARGET], "kernels": kernels}
    (folder / "many.json").write_text(json.dumps(spec, indent=1))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(command, port=None, **options):
    """Runs until the block ends; `port` is one that it answers at when it is ready."""
    process = subprocess.Popen([str(part) for part in command], start_new_session=True, **options)
    RUNNING.append(process)
    try:
        while port:
            check_servers()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield
    finally:
        RUNNING.remove(process)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def check_servers():
    for process in RUNNING:
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} has ended with status {process.returncode}")


@contextlib.contextmanager
def nginx(arguments, scratch):
    port, folder = free_port(), scratch / "nginx"
    (folder / "files").mkdir(parents=True)
    user = f"user {pwd.getpwuid(os.getuid()).pw_name};" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(f"""
{user} daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; client_max_body_size 0;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi; scgi_temp_path {folder}/scgi; uwsgi_temp_path {folder}/uwsgi;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; location / {{ dav_methods PUT; create_full_put_path on; }} }}
}}
""")
    with server([arguments.nginx, "-c", folder / "nginx.conf", "-p", folder, "-e", folder / "errors"], port):
        yield [f"--remote_cache=http://127.0.0.1:{port}", "--jobs=2"]


@contextlib.contextmanager
def postgres(programs, folder):
    """A server of its own; it refuses to run as root."""
    folder.mkdir()
    user = "postgres" if os.getuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    port = free_port()
    subprocess.run([programs / "initdb", "-D", folder / "data", "-U", "bgd", "-A", "trust"], check=True, user=user,
                   stdout=subprocess.DEVNULL, cwd="/")
    command = [programs / "postgres", "-D", folder / "data", "-p", port, "-c", "listen_addresses=127.0.0.1",
               "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
    with server(command, port, user=user, cwd="/", stderr=open(folder.parent / "postgres.log", "w")):
        yield f"postgresql+psycopg2://bgd@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def buildgrid(arguments, scratch):
    port, folder = free_port(), scratch / "grid"
    folder.mkdir()
    bgd = pathlib.Path(sys.executable).parent / "bgd"
    with contextlib.ExitStack() as servers:
        database = servers.enter_context(postgres(arguments.postgres, folder / "database"))
        config = (HERE / "buildgrid.yml").read_text()
        config = config.replace("PORT", str(port)).replace("DATABASE", database).replace("FILES", f"{folder}/files")
        (folder / "buildgrid.yml").write_text(config)
        log = open(folder / "buildgrid.log", "w")
        subprocess.run([bgd, "migrate", "apply", database], check=True, stdout=log, stderr=log)
        servers.enter_context(server([bgd, "server", "start", folder / "buildgrid.yml"], port, stdout=log, stderr=log))
        for number in range(2):
            command = [sys.executable, HERE / "remote_worker.py", f"127.0.0.1:{port}", folder / f"worker{number}"]
            servers.enter_context(server(command, stdout=log, stderr=log))
        yield [f"--remote_executor=grpc://127.0.0.1:{port}", "--jobs=8", "--spawn_strategy=remote",
               "--remote_timeout=600"]


def build(folder, scratch, flags, what, expected):
    """Counts Kiln's actions by who ran them, from Bazel's execution log."""
    log = scratch / "execution.json"
    start = time.monotonic()
    command = ["bazel", f"--output_base={scratch}/bazel-{folder.name}", "build", "--noshow_progress",
               f"--execution_log_json_file={log}", *flags, "//:many"]
    with open(scratch / f"{folder.name}.log", "a") as messages:
        bazel = subprocess.Popen(command, cwd=folder, stderr=messages)
        try:
            while bazel.poll() is None:
                check_servers()
                time.sleep(0.05)
        finally:
            bazel.terminate()
    if bazel.returncode:
        sys.exit(f"bazel has failed: see {messages.name}")
    seconds = time.monotonic() - start
    counts = collections.Counter()
    text, decoder, position = log.read_text(), json.JSONDecoder(), 0
    while position < len(text):
        spawn, position = decoder.raw_decode(text, position)
        while position < len(text) and text[position].isspace():
            position += 1
        if spawn["mnemonic"] in ("KilnPiece", "KilnLink"):
            counts["hits" if spawn["remoteCacheHit"] else "ran"] += 1
            counts[spawn["runner"]] += 1
    print(f"{what}: {seconds:.1f} s, Kiln ran {counts['ran']} times, {counts['hits']} hits "
          f"({', '.join(f'{n} {name}' for name, n in counts.items() if name not in ('ran', 'hits'))})", flush=True)
    if (counts["ran"], counts["hits"]) != expected:
        sys.exit(f"expected {expected[0]} runs and {expected[1]} hits")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["cache", "execution"])
    parser.add_argument("kiln", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--nginx", default="nginx")
    parser.add_argument("--postgres", type=pathlib.Path, default=pathlib.Path("/usr/lib/postgresql/15/bin"))
    arguments = parser.parse_args()
    scratch = arguments.scratch.resolve()
    first, second = scratch / "first", scratch / "second"
    for folder in (first, second):
        write_workspace(folder, arguments.kiln.resolve())
    serve = nginx if arguments.kind == "cache" else buildgrid
    pieces = KERNELS
    try:
        with serve(arguments, scratch) as flags:
            build(first, scratch, flags, "first build", (pieces + 1, 0))
            build(second, scratch, flags, "another folder", (0, pieces + 1))
            with open(second / "k17.py", "a") as file:
                file.write("    # An edit.\n")
            build(second, scratch, flags, "one kernel edited", (2, 0))
    finally:
        for folder in (first, second):
            subprocess.run(["bazel", f"--output_base={scratch}/bazel-{folder.name}", "shutdown"], cwd=folder)


main()
