"""pytest -p kiln --kiln-target emu:sm_90a: a test suite that uses PyTorch and Triton runs with Kiln compiling and executing.

Without --kiln-target the plug-in does nothing. docs/pytest.md describes it."""

import os
import time
import warnings

import pytest

from kiln import case_sampling
from kiln.kernel_counts import KernelCounts


def pytest_addoption(parser):
    group = parser.getgroup("kiln", "Triton kernels compiled and run by Kiln")
    add = group.addoption
    add("--kiln-target", metavar="TARGET", help="run kernels on this target: cpu, emu:sm_90a, emu:gfx942 …")
    add("--kiln-check", action="store_true", help="races, accesses out of bounds and reads of what nobody wrote are failures")
    add("--kiln-portable", action="store_true", help="kernels that Triton refuses are refused, where Kiln would take them, too")
    add("--kiln-count", action="store_true", help="print what a profiler would count of each kernel (emulated targets)")
    add("--kiln-count-json", metavar="FILE", help="write the counts of each kernel in each test as JSON")
    add("--kiln-bounds", choices=("tensor", "storage"), default="tensor", help="what a kernel may access: the tensors, or all of their storages")
    add("--kiln-configs", type=int, default=1, metavar="N", help="configs that an autotuner tries (1); 0: all")
    add("--kiln-threads", type=int, default=0, metavar="N", help="threads for a launch (all; beside other workers of xdist 1)")
    add("--kiln-cache", metavar="FOLDER", help="where compiled kernels are kept (~/.cache/kiln)")
    add("--kiln-fp64", choices=("retry", "always", "never"), default="retry", help="references of PyTorch in fp64: when a test failed, always or never")
    add("--kiln-sample", type=int, default=0, metavar="N", help="at most N cases of each test function")
    add("--kiln-smallest", action="store_true", help="of these the cases with the smallest sizes in their names")
    add("--kiln-seed", type=int, default=0, help="another sample")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before any of the suite's modules asks whether there is a GPU."""
    options = early_config.known_args_namespace
    if not options.kiln_target:
        for option in ("kiln_check", "kiln_portable", "kiln_count", "kiln_count_json"):
            if getattr(options, option):
                raise pytest.UsageError(f"--{option.replace('_', '-')}: expected --kiln-target, too")
        return
    early_config.pluginmanager.register(Session(options), "kiln-session")


class Session:
    """The hooks of a run with a target."""

    def __init__(self, options):
        from kiln.jit import stand_in
        from kiln.toolchain import BuildError

        name = options.kiln_target
        try:
            for option in ("kiln_check", "kiln_count", "kiln_count_json"):
                if getattr(options, option) and not name.startswith("emu:"):
                    raise ValueError(f"--{option.replace('_', '-')} needs an emulated GPU, --kiln-target is {name}")
            self.launcher = stand_in.start(
                name,
                options.kiln_cache,
                options.kiln_check,
                options.kiln_threads or (1 if "PYTEST_XDIST_WORKER" in os.environ else 0),
                options.kiln_bounds == "storage",
                options.kiln_configs,
                options.kiln_portable,
            )
        except (ValueError, OSError, BuildError) as error:
            raise pytest.UsageError(f"kiln: {error}") from None
        self.options, self.begin, self.of_workers = options, time.monotonic(), []
        self.target, self.cache = self.launcher.device.target, self.launcher.cache
        self.counts = None
        if options.kiln_count or options.kiln_count_json:
            self.start_counting()

    def start_counting(self):
        try:
            self.counts = KernelCounts(self.target.name, self.options.kiln_count_json)
        except ValueError as error:
            raise pytest.UsageError(f"kiln: {error}") from None
        self.launcher.device.emulator.set_count(True)

    def pytest_report_header(self):
        checks = ", checks on" if self.options.kiln_check else ""
        return f"kiln: {self.target.name}{checks}, compiled kernels in {self.cache.folder}"

    def pytest_collection_modifyitems(self, config, items):
        options = self.options
        if options.kiln_sample:
            kept = case_sampling.sample([item.nodeid for item in items], options.kiln_sample, options.kiln_seed, options.kiln_smallest)
            config.hook.pytest_deselected(items=[item for index, item in enumerate(items) if index not in kept])
            items[:] = [item for index, item in enumerate(items) if index in kept]

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        from kiln.jit import references

        self.launcher.forget()
        references.used = False
        references.enabled = self.options.kiln_fp64 == "always"
        try:
            result = yield
        except Exception:
            if not self.passes_in_fp64(pyfuncitem):
                raise
            warnings.warn(f"kiln: {pyfuncitem.nodeid} passes with PyTorch's references in fp64 alone", stacklevel=1)
            return True
        finally:
            references.enabled = False
        if self.launcher.findings:  # the test has caught the exception
            pytest.fail("kiln: " + "\n".join(self.launcher.findings), pytrace=False)
        return result

    def passes_in_fp64(self, item):
        """Whether a test that has failed was only less exact in its references."""
        from kiln.jit import references

        if self.options.kiln_fp64 != "retry" or self.launcher.findings or not references.used or not self.launcher.launches:
            return False
        references.enabled = True
        try:
            item.obj(**{name: item.funcargs[name] for name in item._fixtureinfo.argnames})
        except Exception:
            return False
        return not self.launcher.findings

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.when == "call":
            report.user_properties.append(("kiln_launches", self.launcher.launches))
            if self.counts:
                report.kiln_counts = self.launcher.device.emulator.take_counts()
            if report.failed and self.launcher.findings:
                report.sections.append(("Kiln's findings", "\n".join(self.launcher.findings)))
        return report

    def pytest_runtest_logreport(self, report):
        if self.counts:
            self.counts.add(report.nodeid, getattr(report, "kiln_counts", []))

    def measures(self):
        return {"compiles": self.cache.compiles, "compile_seconds": self.cache.seconds, "launch_seconds": self.launcher.seconds}

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workeroutput"):  # a worker of xdist
            session.config.workeroutput["kiln"] = self.measures()
        elif self.options.kiln_count_json:
            self.counts.write()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        self.of_workers.append(getattr(node, "workeroutput", {}).get("kiln", {}))

    def pytest_terminal_summary(self, terminalreporter):
        def total(name):
            return sum(measures.get(name, 0) for measures in [self.measures(), *self.of_workers])

        terminalreporter.section(f"kiln: {self.target.name}")
        terminalreporter.line(
            f"{total('compiles')} kernels compiled in {total('compile_seconds'):.1f} s, "
            f"launches took {total('launch_seconds'):.1f} s, the run {time.monotonic() - self.begin:.1f} s"
        )
        if self.options.kiln_count:
            for line in self.counts.table():
                terminalreporter.line(line)
