"""pytest -p kiln --kiln-target emu:sm_90a: a test suite that uses PyTorch and Triton runs with Kiln compiling and executing.

Without --kiln-target the plug-in does nothing. docs/pytest.md describes it."""

import os
import pathlib
import time
import warnings

import pytest

from kiln import case_sampling


def pytest_addoption(parser):
    group = parser.getgroup("kiln", "Triton kernels compiled and run by Kiln")
    add = group.addoption
    add("--kiln-target", metavar="TARGET", help="run kernels on this target: cpu, emu:sm_90a, emu:gfx942 …")
    add("--kiln-check", action="store_true", help="races, accesses out of bounds and reads of what nobody wrote are failures")
    add("--kiln-bounds", choices=("tensor", "storage"), default="tensor", help="what a kernel may access: the tensors, or all of their storages")
    add("--kiln-configs", type=int, default=1, metavar="N", help="configs that an autotuner tries (1); 0: all")
    add("--kiln-threads", type=int, default=0, metavar="N", help="threads for a launch (all; beside other workers of xdist 1)")
    add("--kiln-cache", metavar="FOLDER", help="where compiled kernels are kept (~/.cache/kiln)")
    add("--kiln-fp64", choices=("retry", "always", "never"), default="retry", help="references of PyTorch in fp64: when a test failed, always or never")
    add("--kiln-sample", type=int, default=0, metavar="N", help="at most N cases of each test function")
    add("--kiln-smallest", action="store_true", help="of these the cases with the smallest sizes in their names")
    add("--kiln-seed", type=int, default=0, help="another sample")
    add("--kiln-count", metavar="FILE", help="count what emulated GPUs do, by kernel, into this JSON file")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before any of the suite's modules asks whether there is a GPU."""
    options = early_config.known_args_namespace
    if not options.kiln_target:
        given = [name for name in ("kiln_check", "kiln_count") if getattr(options, name)]
        if given:
            raise pytest.UsageError(f"--{given[0].replace('_', '-')}: expected --kiln-target, too")
        return
    early_config.pluginmanager.register(Session(options), "kiln-session")


class Session:
    """The hooks of a run with a target."""

    def __init__(self, options):
        from kiln import toolchain
        from kiln.jit import launches, target, torch_device, triton_driver
        from kiln.jit.compile_cache import CompileCache

        try:
            chosen = target.Target(options.kiln_target)
            if (options.kiln_check or options.kiln_count) and not chosen.is_emulated:
                raise ValueError(f"--kiln-check and --kiln-count need an emulated GPU, --kiln-target is {chosen.name}")
            folder = pathlib.Path(options.kiln_cache or toolchain.default_cache())
            runtime = toolchain.runtime_library(folder)
            self.cache = CompileCache(folder, chosen.name, runtime)
        except (ValueError, OSError, toolchain.BuildError) as error:
            raise pytest.UsageError(f"kiln: {error}") from None
        threads = options.kiln_threads or (1 if "PYTEST_XDIST_WORKER" in os.environ else 0)
        device = target.Device(chosen, runtime, options.kiln_check, bool(options.kiln_count), threads)
        self.options, self.target, self.begin = options, chosen, time.monotonic()
        self.launcher = launches.Launcher(device, self.cache, options.kiln_bounds == "storage")
        launches.install(self.launcher)
        if options.kiln_configs:
            launches.limit_autotuner(options.kiln_configs)
        triton_driver.install(chosen)
        torch_device.install(chosen, marks_unwritten=True)

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
            if report.failed and self.launcher.findings:
                report.sections.append(("Kiln's findings", "\n".join(self.launcher.findings)))
        return report

    def pytest_terminal_summary(self, terminalreporter):
        cache, launcher = self.cache, self.launcher
        terminalreporter.section(f"kiln: {self.target.name}")
        terminalreporter.line(
            f"{cache.compiles} kernels compiled in {cache.seconds:.1f} s, "
            f"launches took {launcher.seconds:.1f} s of {time.monotonic() - self.begin:.1f} s"
        )
