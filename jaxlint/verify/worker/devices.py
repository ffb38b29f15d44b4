"""Is there such a device, and if not, what is to be done? Asked in a process of its own.

JAX itself does not always tell: with `JAX_PLATFORMS=cuda,cpu` and no support for CUDA it runs on the CPU in silence.
"""

from __future__ import annotations

import os
import re
import select
import signal
from importlib import metadata

import jax
import msgspec
from msgspec import Struct

_WAIT_S = 120.0  # drivers may take long to start
_PLUGINS = {"gpu": r"jax-cuda", "tpu": r"libtpu"}


class Found(Struct, frozen=True):
    """The kind of hardware, or why there is none and what to do."""

    hardware: str = ""
    problem: str = ""


def probe(device: str) -> Found:
    """Look for a device, gpu or tpu. This process starts no backend, since it could not fork afterwards."""
    source, sink = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(source)
        _answer(sink, device)
    os.close(sink)
    try:
        ready, _, _ = select.select([source], [], [], _WAIT_S)
        data = _read(source) if ready else b""
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(source)
    if data:
        return msgspec.json.decode(data, type=Found)
    return Found(problem=_none(device, "its driver did not answer" if ready else f"no answer within {_WAIT_S:g} s"))


def _answer(sink: int, device: str) -> None:
    """In the child: writes what it finds, and ends."""
    try:
        found = Found(hardware=jax.local_devices(backend=device)[0].device_kind)
    except Exception as error:
        found = Found(problem=_none(device, f"{error}".strip().partition("\n")[0]))
    os.write(sink, msgspec.json.encode(found))
    os._exit(0)


def _read(source: int) -> bytes:
    data = b""
    while chunk := os.read(source, 1 << 16):
        data += chunk
    return data


def _none(device: str, why: str) -> str:
    """What is said where there is none."""
    names = [dist.metadata["Name"] or "" for dist in metadata.distributions()]
    if any(re.match(_PLUGINS[device], name, re.IGNORECASE) for name in names):
        see = "; see whether `nvidia-smi` shows one" if device == "gpu" else ""
        return f"no {device.upper()} can be used, although JAX's support for it is installed{see} ({why})"
    extra = _newest_cuda() if device == "gpu" else device
    which = " (NVIDIA)" if device == "gpu" else ""
    return (
        f"no {device.upper()} can be used: JAX {jax.__version__} is installed here without support for it; "
        f"install that{which} with: pip install -U 'jax[{extra}]'"
    )


def _newest_cuda() -> str:
    """The extra of the installed JAX for NVIDIA."""
    extras = metadata.metadata("jax").get_all("Provides-Extra") or []
    return max((extra for extra in extras if re.fullmatch(r"cuda\d+", extra)), default="cuda12")
