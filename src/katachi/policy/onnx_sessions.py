"""Networks in ONNX files, run by onnxruntime: threads bounded, none of them idling on a core that others could
use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from numpy.typing import NDArray

from katachi.core.cards import ModelError
from katachi.core.contracts import Floats

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions

Shape = tuple[int | None, ...]  # None is any length

_PROVIDERS: Final = ["CPUExecutionProvider"]
_FATAL: Final = 4  # what onnxruntime prints; the rest comes as an exception
_REASON_LENGTH: Final = 200


class OnnxNetwork:
    """A network with named arrays in and out. May be asked from several threads at once."""

    def __init__(self, content: bytes, threads: int = 1) -> None:
        """Load an ONNX file; raises ModelError if it is damaged."""
        from onnxruntime import InferenceSession  # takes a moment: only where a network is wanted

        with _blaming_network():
            self._session: InferenceSession = InferenceSession(content, _options(threads), providers=_PROVIDERS)

    def check(self, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> None:
        """Raise ModelError if the network does not take and give arrays of these names and shapes."""
        found = {node.name: tuple(node.shape) for node in self._session.get_inputs()}
        if found.keys() != inputs.keys():
            raise ModelError(f"its network takes {_list(found)}, but {_list(inputs)} is needed")
        found |= {node.name: tuple(node.shape) for node in self._session.get_outputs()}
        for name, shape in {**inputs, **outputs}.items():
            if name not in found:
                raise ModelError(f"its network gives no {name}")
            if not _fits(found[name], shape):
                raise ModelError(f"the {name} of its network has the shape {list(found[name])}, not {list(shape)}")

    def run(self, inputs: Mapping[str, NDArray[Any]], outputs: Sequence[str]) -> list[Floats]:
        """What the network gives under these names; raises ModelError if it fails."""
        with _blaming_network():
            arrays: list[Floats] = self._session.run(list(outputs), dict(inputs))
        return arrays


@contextmanager
def _blaming_network() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (what onnxruntime raises has no common class)
        reason = " ".join(str(error).split())
        raise ModelError(f"its network is damaged: {reason[:_REASON_LENGTH]}") from None


def _options(threads: int) -> SessionOptions:
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _fits(found: tuple[int | str | None, ...], wanted: Shape) -> bool:
    """Whether lengths agree where both are known; those of a file that vary have names or none."""
    return len(found) == len(wanted) and all(
        length == needed or not isinstance(length, int) or needed is None
        for length, needed in zip(found, wanted, strict=True)
    )


def _list(names: Mapping[str, object]) -> str:
    return " and ".join(sorted(names)) or "nothing"
