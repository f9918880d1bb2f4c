"""Kernels: compiled when they are called, kept by content, and announced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from numba import types

from katachi.go import compiling
from katachi.go.compiling import Kernel, kernel, source_digest

HELPER = "from katachi.go.compiling import kernel\n\n@kernel\ndef twice(x):\n    return {factor} * x\n"
CALLER = """
from katachi.go.compiling import kernel
from toy.helper import twice

@kernel
def more(x):
    return twice(x) + 1
"""
COUNTED = """
from katachi.go import compiling
made = []
make = compiling.Kernel._make
compiling.Kernel._make = lambda self, *rest: made.append(self.title) or make(self, *rest)
"""


@pytest.fixture
def toy(tmp_path):
    """A package of two modules with a kernel each; returns how to run code in a process that can import it."""
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "helper.py").write_text(HELPER.format(factor=2))
    (package / "caller.py").write_text(CALLER)

    def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        places = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        places["PYTHONDONTWRITEBYTECODE"] = "1"  # it is known by second and size, which two sources may share
        ran = subprocess.run(
            [sys.executable, "-c", COUNTED + code],
            env=os.environ | places | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran

    run.package = package
    run.cache = tmp_path / "cache"
    return run


CALL = "from toy.caller import more\nprint(more(20), made)"


def test_importing_compiles_nothing():
    code = """
import pkgutil, importlib, katachi
from katachi.go import compiling
def refuse(self, *_):
    raise SystemExit(f"{self.title} was compiled by an import")
compiling.Kernel._make = compiling.Kernel._load = refuse
for module in pkgutil.walk_packages(katachi.__path__, "katachi."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_compiled_once(toy):
    assert toy(CALL).stdout == "41 ['toy.caller.more', 'toy.helper.twice']\n"
    assert toy(CALL).stdout == "41 []\n"


def test_a_helper_has_another_form_for_python(toy):
    toy(CALL)
    call_helper = "from toy.helper import twice\nprint(twice(4), made)"
    assert toy(call_helper).stdout == "8 ['toy.helper.twice']\n"
    assert toy(call_helper).stdout == "8 []\n"
    assert toy(CALL).stdout == "41 []\n"


def test_a_changed_source_is_compiled_again_with_its_callers(toy):
    toy(CALL)
    (toy.package / "helper.py").write_text(HELPER.format(factor=3))
    assert toy(CALL).stdout == "61 ['toy.caller.more', 'toy.helper.twice']\n"


def test_a_younger_file_of_the_same_content_is_not_a_change(toy):
    toy(CALL)
    for source in toy.package.glob("*.py"):
        os.utime(source, (4e9, 4e9))
    assert toy(CALL).stdout == "41 []\n"


def test_former_contents_are_pruned(toy):
    for factor in range(compiling.VERSIONS_KEPT + 2):
        (toy.package / "helper.py").write_text(HELPER.format(factor=factor))
        toy(CALL)
    assert len(list(toy.cache.glob("toy.helper-*"))) == compiling.VERSIONS_KEPT
    assert toy(CALL).stdout.endswith("[]\n")


def test_what_cannot_be_read_is_compiled_again(toy):
    toy(CALL)
    for file in toy.cache.glob("*/*.nb?"):
        file.write_bytes(b"garbage")
    assert toy(CALL).stdout.startswith("41 ['toy.caller.more'")


def test_where_nothing_can_be_kept_kernels_run_all_the_same(toy):
    toy.cache.write_text("a file where the folder should be")
    ran = toy(CALL)
    assert ran.stdout.startswith("41 ")
    assert ran.stderr.count("\n") == 1
    assert "cannot be kept" in ran.stderr
    assert "NUMBA_CACHE_DIR" in ran.stderr


def test_digests_follow_imports():
    import_module("katachi.search.kernels.mcts")
    digests = {source_digest(f"katachi.go.kernels.{name}") for name in ("board", "playouts", "scoring")}
    assert len(digests) == 3
    assert "katachi.go.points" in compiling._sources("katachi.go.kernels.playouts")
    assert "katachi.go.kernels.board" in compiling._sources("katachi.search.kernels.mcts")


def test_what_is_typed_in_is_compiled_but_not_kept(toy):
    code = "\nfrom katachi.go.compiling import kernel\n@kernel\ndef f(x):\n    return x + 1\nprint(f(1), made)"
    assert toy(code).stdout == "2 ['__main__.f']\n"
    assert not toy.cache.exists()


# Kernels that an installation carries

BUNDLE = {"NUMBA_CPU_NAME": compiling.BASELINE, "NUMBA_CPU_FEATURES": ""}
WITH_BUNDLE = "from pathlib import Path\ncompiling.BUNDLED = Path({place!r})\n"


@pytest.fixture
def bundle(toy, tmp_path):
    """What a wheel carries: kernels for a common processor, and what they fit. Returns code that sees them."""
    if sys.platform != "linux" or not all(map(compiling.llvm.get_host_cpu_features().get, ("avx2", "fma"))):
        pytest.skip("kernels of wheels are for x86-64-v3")
    toy(CALL, NUMBA_CACHE_DIR=str(tmp_path / "wheel"), **BUNDLE)
    compiling.write_manifest(tmp_path / "wheel")
    return WITH_BUNDLE.format(place=str(tmp_path / "wheel"))


def test_bundled_kernels_are_used(toy, bundle):
    ran = toy(bundle + CALL)
    assert (ran.stdout, ran.stderr) == ("41 []\n", "")
    assert not toy.cache.exists()


def test_bundled_kernels_that_do_not_fit_are_ignored_with_one_line(toy, bundle, tmp_path):
    manifest = tmp_path / "wheel" / "compiled-for.json"
    manifest.write_text(manifest.read_text().replace('"numba": "', '"numba": "9.'))
    ran = toy(bundle + CALL)
    assert ran.stdout == "41 ['toy.caller.more', 'toy.helper.twice']\n"
    assert ran.stderr.startswith("katachi: the compiled kernels of this installation do not fit (")
    assert ran.stderr.count("\n") == 1


def test_bundled_kernels_of_another_source_are_not_used(toy, bundle):
    (toy.package / "helper.py").write_text(HELPER.format(factor=5))
    assert toy(bundle + CALL).stdout == "101 ['toy.caller.more', 'toy.helper.twice']\n"


# Kernels that are made by a function


def make_adder(number: int):
    @kernel
    def add(x):
        return x + number

    return add


def test_what_a_kernel_encloses_is_part_of_it():
    """Both have one name, line and signature; the second may not be given what was kept of the first."""
    assert [make_adder(number)(1) for number in (1, 10, 1)] == [2, 11, 2]


def make_caller(module):
    @kernel
    def call(x):
        return module.logistic(x)

    return call


def test_kernels_of_an_enclosed_module_are_counted():
    values = import_module("katachi.go.kernels.values")
    assert make_caller(values).reachable() >= {values.logistic}


# One form, and functions as arguments

UNARY = types.FunctionType(types.float64(types.float64))


@kernel
def negate(x):
    return -x


@kernel
def halve(x):
    return x / 2


@kernel(signature=types.float64(UNARY, types.float64))
def apply(function, x):
    return function(x) + 1


def test_one_form_takes_all_functions():
    assert [apply(function, 4.0) for function in (negate, halve)] == [-3.0, 3.0]
    assert apply(halve, np.float32(2)) == 2.0
    if isinstance(apply, Kernel):  # not where the compiler is switched off
        assert len(apply.overloads) == 1
        with pytest.raises(TypeError):
            apply("text", "text")


# Announcements


@kernel
def add_one(x):
    return x + 1


@kernel
def add_two(x):
    return add_one(add_one(x))


@pytest.fixture
def announced(monkeypatch, tmp_path):
    if not isinstance(add_one, Kernel):
        pytest.skip("the compiler is switched off")
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling._compiler, "_silent_seconds", 0.0)
    yield
    compiling.watch(compiling._announce)


def test_what_takes_long_is_announced_before_it_begins(announced, monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_SECONDS_PER_KERNEL", 10.0)
    monkeypatch.setattr(compiling, "_SECONDS_PER_BYTE", 0.0)
    fresh = kernel(add_two.py_func)
    make = fresh._compiler.compile
    seen = []
    monkeypatch.setattr(fresh._compiler, "compile", lambda *all_: seen.append(capsys.readouterr().err) or make(*all_))
    assert fresh(1) == 3
    (line,) = seen
    assert line.startswith(f"katachi: compiling {fresh.title}, about ")
    assert "0 s, once" in line
    assert compiling.compiling() is None


def test_what_is_quick_is_not_announced_until_it_adds_up(announced, monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "_SECONDS_PER_KERNEL", 0.8)
    monkeypatch.setattr(compiling, "_SECONDS_PER_BYTE", 0.0)
    started = []
    compiling.watch(started.append)
    for count in (0, 0, 1):
        monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path / str(len(list(tmp_path.iterdir())))))
        kernel(add_one.py_func)(1)
        assert len(started) == count


def test_ctrl_c_waits_for_a_safe_moment(announced):
    """It is raised not where it comes, perhaps in a destructor, but when the next kernel would be compiled."""
    came_to = []

    def compile_two() -> None:
        with compiling._compiler.interruptible(), compiling._compiler.compile(add_two):
            signal.raise_signal(signal.SIGINT)
            came_to.append("the second")
            with compiling._compiler.compile(add_one):
                came_to.append("its code")

    def compile_one() -> None:
        with compiling._compiler.interruptible(), compiling._compiler.compile(add_one):
            signal.raise_signal(signal.SIGINT)
            came_to.append("the end")

    for compile_some in (compile_two, compile_one):
        with pytest.raises(KeyboardInterrupt):
            compile_some()
    assert came_to == ["the second", "the end"]
    assert compiling._compiler.depth == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_progress_counts_what_is_called(announced, monkeypatch):
    monkeypatch.setattr(compiling, "_SECONDS_PER_BYTE", 0.0)
    inner, outer = kernel(add_one.py_func), kernel(lambda x: x)
    assert outer.reachable() == {outer}
    assert add_two.reachable() == {add_two, add_one}
    with compiling._compiler.compile(outer):
        assert compiling.compiling().done == 0
        with compiling._compiler.compile(inner):
            pass
        assert compiling.compiling().done == pytest.approx(min(inner.estimated_seconds, compiling.compiling().seconds))
