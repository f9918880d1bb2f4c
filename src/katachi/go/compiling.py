"""How kernels are compiled: when they are first called, once for each content of their source, and not in silence.

*When*: ``@kernel`` compiles nothing. The form of a kernel that other kernels call has no wrappers for Python, and is
optimised as a part of its callers only: that saves a third of the time. A kernel that Python calls, too, has another
form for it.

*Kept*: on disk, in a folder per source. The folder is named by the digest of the source and of all sources of
the same package that it imports, so that a change anywhere is seen and a reinstallation is not a change. Wheels may
carry such folders, compiled for a common processor (``bundled_folder``); they are read before the user's own.

*Not in silence*: before something is compiled that takes seconds, one line on standard error says what and how
long. ``compiling`` and ``watch`` are for whoever would rather draw a bar.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import resolve_name
from pathlib import Path
from pickle import UnpicklingError
from threading import current_thread, main_thread
from types import FunctionType, ModuleType
from typing import Any, Final

import numba
from llvmlite import binding as llvm
from numba.core import caching, compiler, config, sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

# Where compiled kernels are kept

VERSIONS_KEPT: Final = 4  # of each source: those that were used last
BUNDLED: Final = Path(__file__).parents[1] / "compiled"  # in wheels
BASELINE: Final = "x86-64-v3"  # the processor for which wheels are compiled
_BASELINE_FEATURES: Final = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_MANIFEST: Final = "compiled-for.json"
_IMPORT: Final = re.compile(r"^from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_VERSION: Final = re.compile(r"[\w.]+-[0-9a-f]{20}")


def cache_folder() -> Path:
    """Where this user's compiled kernels are kept: ``NUMBA_CACHE_DIR``, or a folder of the user's cache."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    if sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "katachi" / "kernels"


def source_digest(module: str) -> str:
    """A digest of a module's source and of those that it imports from its own package and from katachi."""
    contents = sha256()
    for name in sorted(_sources(module)):
        contents.update(_read(name))
    return contents.hexdigest()[:20]


@cache
def _read(module: str) -> bytes:
    return Path(str(sys.modules[module].__file__)).read_bytes()


@cache
def _sources(module: str) -> frozenset[str]:
    """A module and all that it imports of its own package and of katachi, as far as they have been imported."""
    found, waiting = {module}, [module]
    while waiting:
        for name in _imports(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return frozenset(found)


@cache
def _imports(module: str) -> frozenset[str]:
    home = module.partition(".")[0]
    package = sys.modules[module].__package__ or home
    names = set()
    for origin, imported in _IMPORT.findall(_read(module).decode("utf-8", "replace")):
        origin = resolve_name(origin, package)
        if origin.partition(".")[0] in (home, "katachi"):
            names |= {origin, *(f"{origin}.{name}" for name in re.findall(r"\w+", imported))}
    return frozenset(name for name in names if getattr(sys.modules.get(name), "__file__", None))


def _enclosed(function: Any) -> list[Any]:
    """The values that a function has from the function in which it was made."""
    return [cell.cell_contents for cell in function.__closure__ or ()]


class _Files:
    """The compiled forms of one function, with or without wrappers for Python, below one root."""

    def __init__(self, function: FunctionType, root: Path, processor: tuple[str, ...] | None = None) -> None:
        digest = source_digest(function.__module__)
        title = re.sub(r"[<>]", "", function.__qualname__)  # which not all systems have in names of files
        name = f"{title}-{function.__code__.co_firstlineno}.{sys.implementation.cache_tag}"
        self._folder = root / f"{function.__module__}-{digest}"
        self._index = self._folder / f"{name}.nbi"
        self._file = caching.IndexDataCacheFile(str(self._folder), name, digest)
        self._processor = processor
        self._enclosed = sha256(dumps(_enclosed(function))).hexdigest()

    @property
    def exist(self) -> bool:
        return self._index.exists()

    def _key(self, signature: Any, wrapped: bool, codegen: Any) -> tuple[Any, ...]:
        processor = self._processor or codegen.magic_tuple()
        return (signature, wrapped, processor, self._enclosed)

    def load(self, signature: Any, wrapped: bool, context: Any) -> Any:
        """What was compiled for a signature; None if there is none, or none that can be read."""
        context.refresh()
        try:
            reduced = self._file.load(self._key(signature, wrapped, context.codegen()))
        except (OSError, EOFError, ValueError, ImportError, AttributeError, UnpicklingError):
            with suppress(OSError):
                self._index.unlink()  # what cannot be read is compiled again
            return None
        if reduced is None:
            return None
        _mark_as_used(self._folder)
        return compiler.CompileResult._rebuild(context, *reduced)

    def save(self, signature: Any, wrapped: bool, compiled: Any) -> None:
        try:
            if not self._folder.exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                _prune_versions(self._folder)
            self._file.save(self._key(signature, wrapped, compiled.codegen), compiled._reduce())
        except OSError as error:
            _say_unkept(str(error.strerror))


def _say(message: str) -> None:
    print(f"katachi: {message}", file=sys.stderr, flush=True)  # noqa: T201


@cache
def _say_unkept(reason: str) -> None:
    folder = cache_folder()
    _say(f"compiled kernels cannot be kept in {folder} ({reason}); NUMBA_CACHE_DIR names another folder")


@cache
def _mark_as_used(folder: Path) -> None:
    with suppress(OSError):  # it may not be ours
        os.utime(folder)


def _prune_versions(newest: Path) -> None:
    """Delete what was compiled of former contents of a source, all but what was used last."""
    module = newest.name.rpartition("-")[0]
    versions = [path for path in newest.parent.glob(f"{module}-*") if _VERSION.fullmatch(path.name)]
    with suppress(OSError):  # another process may prune, too
        versions.sort(key=lambda path: path.stat().st_mtime)
        for path in versions[:-VERSIONS_KEPT]:
            shutil.rmtree(path, ignore_errors=True)


# What a wheel carries


def describe_target() -> dict[str, str]:
    """What compiled kernels fit, besides their source: written beside them when a wheel is made."""
    return {
        "numba": numba.__version__,
        "python": str(sys.implementation.cache_tag),
        "system": llvm.get_process_triple(),
        "processor": BASELINE,
    }


@cache
def bundled_folder() -> Path | None:
    """The compiled kernels that this installation carries, if they fit this machine; says so if they do not."""
    try:
        target = json.loads((BUNDLED / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    features = llvm.get_host_cpu_features()
    here = describe_target()
    reasons = [f"{here[key]} is not {target.get(key)}" for key in here if here[key] != target.get(key)]
    reasons += [f"the processor lacks {name}" for name in _BASELINE_FEATURES if not features.get(name)]
    if reasons:
        _say(f"the compiled kernels of this installation do not fit ({reasons[0]}); compiling our own")
        return None
    return BUNDLED


def write_manifest(folder: Path) -> None:
    """Say beside compiled kernels what they fit."""
    (folder / _MANIFEST).write_text(json.dumps(describe_target(), indent=1) + "\n", encoding="utf-8")


# What is being compiled, and how long that takes


@dataclass(frozen=True, slots=True)
class Compilation:
    """What is compiled now: for the kernel that was called, with all that it calls."""

    kernel: str  # as ``search.mcts.run_simulations``
    seconds: float  # about so many in all, on a processor of 2023
    done: float  # of them


_SECONDS_PER_KERNEL: Final = 0.025  # by least squares over 647 compilations on one core of a small server
_SECONDS_PER_BYTE: Final = 0.00035  # of bytecode
_ANNOUNCED: Final = 2.0  # seconds of silence

Watcher = Callable[[Compilation], object]


def _announce(started: Compilation) -> None:
    what = f"{started.kernel}, about {started.seconds:.0f} s" if started.seconds >= _ANNOUNCED else "what is called"
    _say(f"compiling {what}, once (kept in {cache_folder()})")


class _Compiler:
    """Whoever holds numba's compiler lock: how deep in calls it is, and who wants to know."""

    def __init__(self) -> None:
        self.depth = 0
        self.watcher: Watcher = _announce
        self._interrupted = False
        self._now: Compilation | None = None
        self._silent_seconds = 0.0
        self._collects = True  # garbage, where nothing is compiled

    @property
    def now(self) -> Compilation | None:
        return self._now

    @contextmanager
    def compile(self, kernel: Kernel) -> Iterator[None]:
        """Compile one kernel, for Python or within another."""
        if self._interrupted:
            raise KeyboardInterrupt
        if self.depth == 0:
            self._begin(kernel)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self._advance(kernel)

    def _begin(self, kernel: Kernel) -> None:
        self._collects = gc.isenabled()
        gc.disable()  # compiling makes millions of objects that live until its end
        seconds = sum(each.estimated_seconds for each in kernel.reachable() if not each.is_kept)
        self._now = Compilation(kernel.title, seconds, 0.0)
        self._silent_seconds += seconds
        if self._silent_seconds >= _ANNOUNCED:  # one that takes long, or many that do not
            self._silent_seconds = 0.0
            self.watcher(self._now)

    def _advance(self, kernel: Kernel) -> None:
        now = self._now
        if self.depth == 0:
            self._now = None
            if self._collects:
                gc.enable()
        elif now is not None:
            done = min(now.done + kernel.estimated_seconds, now.seconds)
            self._now = Compilation(now.kernel, now.seconds, done)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let Ctrl-C wait for the next kernel or the end; in a destructor of the compiler's it would be lost."""
        before = signal.getsignal(signal.SIGINT)
        if self.depth or current_thread() is not main_thread() or not callable(before):
            yield
            return

        def note(number: int, frame: Any) -> None:
            if self._interrupted:
                before(number, frame)  # asked twice
            self._interrupted = True

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            interrupted, self._interrupted = self._interrupted, False
        if interrupted:
            raise KeyboardInterrupt


_compiler: Final = _Compiler()


def compiling() -> Compilation | None:
    """What some thread is compiling now."""
    return _compiler.now


def watch(watcher: Watcher | None) -> None:
    """Have what takes seconds announced to a function instead of on standard error; to nobody if None."""
    _compiler.watcher = watcher or (lambda _: None)


# Kernels


class _InnerPipeline(compiler.Compiler):  # type: ignore[misc]
    """Numba's pipeline, for what is optimised with its callers."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = target.codegen().create_library("katachi.inner")
            library.enable_object_caching()
            library._optimize_final_module = lambda: None
        super().__init__(typing, target, library, *rest)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled when it is first called, for each combination of types of its arguments."""

    def __init__(self, function: FunctionType, options: dict[str, Any], signature: Any = None) -> None:
        """With a signature there is one form only, and arguments are converted to it."""
        super().__init__(function, targetoptions=options)
        bare = options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self._inner_compiler = _FunctionCompiler(function, self.targetdescr, bare, {}, _InnerPipeline)
        self._signature = signature
        self._wrapped: dict[tuple[Any, ...], Any] = {}  # the forms that Python can call, by types
        self._given: Any = None  # the last of them that a kernel was given
        self._own_files: _Files | None = None

    @property
    def title(self) -> str:
        """Its name for users: ``search.mcts.run_simulations``."""
        home = self.py_func.__module__.removeprefix("katachi.").replace(".kernels", "")
        return f"{home}.{self.py_func.__name__}"

    @property
    def estimated_seconds(self) -> float:
        """About how long compiling it takes, by itself."""
        return _SECONDS_PER_KERNEL + _SECONDS_PER_BYTE * len(self.py_func.__code__.co_code)

    @property
    def is_kept(self) -> bool:
        """Whether some form of it is on disk."""
        return any(files.exist for files in self._files())

    def reachable(self) -> set[Kernel]:
        """The kernel and all kernels that it calls."""
        found, waiting = {self}, [self]
        while waiting:
            for called in waiting.pop()._named() - found:
                found.add(called)
                waiting.append(called)
        return found

    def _named(self) -> set[Kernel]:
        """The kernels that its code names: by themselves, or as part of a module."""
        names = self.py_func.__code__.co_names
        values = [self.py_func.__globals__.get(name) for name in names] + _enclosed(self.py_func)
        values += [getattr(value, name, None) for value in values if isinstance(value, ModuleType) for name in names]
        return {value for value in values if isinstance(value, Kernel)}

    def _files(self) -> Iterator[_Files]:
        if not getattr(sys.modules.get(self.py_func.__module__), "__file__", None):
            return  # typed in somewhere: there is no source to keep it by
        bundled = bundled_folder()
        if bundled is not None:
            yield _Files(self.py_func, bundled, (llvm.get_process_triple(), BASELINE, ""))
        if self._own_files is None:
            self._own_files = _Files(self.py_func, cache_folder())
        yield self._own_files

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or take what is kept; returns what Python can call, if Python asked for it."""
        with global_compiler_lock, _compiler.interruptible():
            return self._form(self._signature or sig, wrapped=_compiler.depth == 0).entry_point

    def get_compile_result(self, sig: Any) -> Any:
        """The form for a signature, as a value that kernels can be given: it has wrappers.

        Asked at every call of a kernel that is given it, mostly for the same.
        """
        if self._given is None or self._given.signature.args != sig.args:
            with global_compiler_lock, _compiler.interruptible():
                self._given = self._form(self._signature or sig, wrapped=True)
            library = self._given.library
            library.get_pointer_to_function = cache(library.get_pointer_to_function)  # asked for at every call, too
        return self._given

    @property
    def _numba_type_(self) -> Any:
        """Its type, which numba would make anew at every call of a kernel that is given it."""
        return self._type

    def _form(self, signature: Any, wrapped: bool) -> Any:
        arguments, result = sigutils.normalize_signature(signature)
        types = tuple(arguments)
        known = self._wrapped.get(types) if wrapped else self.overloads.get(types)
        if known is None:
            known = self._load(signature, wrapped) or self._make(signature, types, result, wrapped)
        return known

    def _load(self, signature: Any, wrapped: bool) -> Any:
        for files in self._files():
            loaded = files.load(signature, wrapped, self.targetctx)
            if loaded is not None:
                self.targetctx.insert_user_function(loaded.entry_point, loaded.fndesc, [loaded.library])
                self._take(loaded, wrapped)
                return loaded
        return None

    def _make(self, signature: Any, arguments: tuple[Any, ...], result: Any, wrapped: bool) -> Any:
        function_compiler = self._compiler if wrapped else self._inner_compiler
        with _compiler.compile(self):
            made = function_compiler.compile(arguments, result)
        self._take(made, wrapped)
        if self._own_files is not None:
            self._own_files.save(signature, wrapped, made)
        return made

    def _take(self, form: Any, wrapped: bool) -> None:
        if wrapped:
            self.add_overload(form)
            self._wrapped[tuple(form.signature.args)] = form
        else:
            self.overloads[tuple(form.signature.args)] = form

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        if self._signature is None:
            return super()._compile_for_args(*args, **kws)
        self._compilation_chain_init_hook()
        self.compile(self._signature)
        self.disable_compile()
        return self  # to be called again, with arguments that fit or do not

    def get_call_template(self, args: Any, kws: Any) -> Any:
        if self._signature is not None:
            self.compile(self._signature)
        return super().get_call_template(args, kws)


def kernel(function: Any = None, *, signature: Any = None, **options: Any) -> Any:
    """Make a function a kernel: compiled, kept on disk, and without the global interpreter lock.

    ``@kernel``, or ``@kernel(fastmath=True)`` with options of numba. With ``signature`` there is one form only, so that
    functions can be handed in as arguments without another compilation for each of them.
    """
    if function is None:
        return lambda decorated: kernel(decorated, signature=signature, **options)
    if config.DISABLE_JIT:
        return function
    return Kernel(function, {"nopython": True, "nogil": True, "boundscheck": None, **options}, signature)
