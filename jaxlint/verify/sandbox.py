"""Fences around a child process that runs the user's code, as far as an unprivileged process can build them.

Everywhere: resource limits and a Python audit hook. On Linux, where the kernel has them: Landlock (no writing
outside one folder) and a seccomp filter (no sockets, no new processes, no signals to others). `enter` says what
is in force. What stays possible: reading files, and using up the time, memory and disk that the limits allow.
Without Landlock and seccomp, native code can get round the audit hook.

Sources: landlock(7), seccomp(2), `linux/landlock.h`, `linux/audit.h`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys
from typing import Any

from jaxlint.verify.jobs import Limits

_MB = 1 << 20


def enter(folder: str, limits: Limits, *, accelerator: bool = False) -> list[str]:
    """Close the fences around this process, for good. Returns the names of those that hold."""
    _set_limits(limits, accelerator)
    held = ["limits"]
    if sys.platform == "linux" and not accelerator:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which both need
        if _landlock(libc, folder):
            held.append("landlock")
        if _seccomp(libc):
            held.append("seccomp")
    sys.addaudithook(_Hook(os.path.realpath(folder)))
    return [*held, "audit"]


def _set_limits(limits: Limits, accelerator: bool) -> None:
    # No RLIMIT_CPU: under it Linux reads the process's own clock in ticks of milliseconds, which spoils the timing.
    # Processor time is bounded all the same, by the wall-clock limit times the number of processors.
    _limit(resource.RLIMIT_FSIZE, limits.file_mb * _MB)
    _limit(resource.RLIMIT_CORE, 0)
    if not accelerator:  # drivers map much more than they use
        # RLIMIT_DATA makes over-allocation a clean MemoryError; under RLIMIT_AS JAX aborts below 2 GB.
        _limit(resource.RLIMIT_DATA, limits.memory_mb * _MB)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


# ---- Landlock -------------------------------------------------------------------------------------------------

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))


def _landlock(libc: Any, folder: str) -> bool:
    abi = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if abi < 1:
        return False
    rights = _WRITE_FILE | _REMOVE_AND_MAKE
    rights |= 1 << 13 if abi >= 2 else 0  # moving between folders
    rights |= _TRUNCATE if abi >= 3 else 0
    network = 3 if abi >= 4 else 0  # TCP bind and connect
    attributes = struct.pack("QQ", rights, network)[: 16 if abi >= 4 else 8]
    ruleset = libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        allowed = [(folder, rights), ("/dev/null", rights & (_WRITE_FILE | _TRUNCATE))]
        return all(_allow(libc, ruleset, path, what) for path, what in allowed) and (
            libc.syscall(_RESTRICT, ruleset, ctypes.c_uint32(0)) == 0
        )
    finally:
        os.close(ruleset)


def _allow(libc: Any, ruleset: int, path: str, rights: int) -> bool:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, handle)
        return bool(libc.syscall(_ADD, ruleset, ctypes.c_int(1), rule, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(handle)


# ---- seccomp --------------------------------------------------------------------------------------------------

_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_CLONE_THREAD = 0x00010000

# Per architecture: the audit number, and system call numbers by what the filter does with them.
_TABLES: dict[str, tuple[int, dict[str, tuple[int, ...]]]] = {
    "x86_64": (
        0xC000003E,
        {
            # socket, fork, vfork, execve, execveat, tkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal,
            # ptrace, process_vm_writev, setsid, setpgid, io_uring_setup
            "deny": (41, 57, 58, 59, 322, 200, 129, 297, 424, 101, 311, 112, 109, 425),
            # chmod, fchmod, chown, fchown, lchown, fchownat, fchmodat, fchmodat2, utime, utimes, futimesat,
            # utimensat, setxattr and removexattr with their l and f forms
            "ignore": (90, 91, 92, 93, 94, 260, 268, 452, 132, 235, 261, 280, 188, 189, 190, 197, 198, 199),
            "clone": (56,),
            "clone3": (435,),
            "own": (62, 234),  # kill, tgkill
            "own_or_zero": (302,),  # prlimit64
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "deny": (198, 221, 281, 130, 138, 240, 424, 117, 271, 157, 154, 425),
            "ignore": (52, 53, 54, 55, 452, 88, 5, 6, 7, 14, 15, 16),
            "clone": (220,),
            "clone3": (435,),
            "own": (129, 131),
            "own_or_zero": (261,),
        },
    ),
}


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _program(arch: int, table: dict[str, tuple[int, ...]], pid: int) -> list[bytes]:
    """The filter in classic BPF. Each block tests one call and, when it is another, skips over its own answer."""
    number, first_argument = 0, 16  # offsets in struct seccomp_data; the low word of the argument
    denied = _ERRNO | errno.EPERM
    code = [
        _instruction(_LOAD, 4),
        _instruction(_JUMP_EQUAL, arch, 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, number),
        _instruction(_JUMP_GREATER, 0x40000000, 0, 1),  # the x32 calls
        _instruction(_RETURN, denied),
    ]
    answers = {"deny": denied, "ignore": _ERRNO, "clone3": _ERRNO | errno.ENOSYS}
    for kind, answer in answers.items():
        for call in table[kind]:
            code += [_instruction(_JUMP_EQUAL, call, 0, 1), _instruction(_RETURN, answer)]
    for call in table["clone"]:  # threads only; glibc falls back to clone when clone3 is not there
        code += [
            _instruction(_JUMP_EQUAL, call, 0, 4),
            _instruction(_LOAD, first_argument),
            _instruction(_JUMP_BITS, _CLONE_THREAD, 0, 1),
            _instruction(_RETURN, _ALLOW),
            _instruction(_RETURN, denied),
        ]
    for kind, extra in (("own", pid), ("own_or_zero", 0)):
        for call in table[kind]:
            code += [
                _instruction(_JUMP_EQUAL, call, 0, 5),
                _instruction(_LOAD, first_argument),
                _instruction(_JUMP_EQUAL, pid, 1, 0),
                _instruction(_JUMP_EQUAL, extra, 0, 1),
                _instruction(_RETURN, _ALLOW),
                _instruction(_RETURN, denied),
            ]
    return [*code, _instruction(_RETURN, _ALLOW)]


def _seccomp(libc: Any) -> bool:
    entry = _TABLES.get(platform.machine())
    if entry is None:
        return False
    code = _program(*entry, os.getpid())
    buffer = ctypes.create_string_buffer(b"".join(code))
    header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
    # PR_SET_SECCOMP, SECCOMP_MODE_FILTER. This thread is the only one yet.
    return bool(libc.prctl(22, 2, ctypes.create_string_buffer(header), 0, 0) == 0)


# ---- audit hook -----------------------------------------------------------------------------------------------

_PROCESSES = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn"}
_NETWORK = {
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.sendmsg",
    "socket.getaddrinfo",
    "socket.gethostbyname",
}
_CHANGES = {
    "os.remove",
    "os.rmdir",
    "os.mkdir",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.truncate",
    "shutil.rmtree",
    "shutil.move",
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Hook:
    """Refuses, with a clear message, what the kernel would refuse too; elsewhere it is the only fence."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITING and not self._inside(path):
                raise PermissionError(errno.EACCES, "the verifier forbids writing outside its own folder", str(path))
        elif event in _PROCESSES:
            raise PermissionError(errno.EPERM, "the verifier forbids starting other processes")
        elif event in _NETWORK:
            raise PermissionError(errno.EPERM, "the verifier forbids the network")
        elif event in _CHANGES and not all(self._inside(part) for part in args if isinstance(part, (str, bytes))):
            raise PermissionError(errno.EACCES, "the verifier forbids changes outside its own folder", str(args[0]))
        elif event in {"os.kill", "os.killpg"} and args[0] != os.getpid():
            raise PermissionError(errno.EPERM, "the verifier forbids signals to other processes")

    def _inside(self, path: Any) -> bool:
        if isinstance(path, int):
            return True
        try:
            real = os.path.realpath(os.fsdecode(path))
        except (TypeError, ValueError):
            return False
        return real == os.devnull or real == self.folder or real.startswith(self.folder + os.sep)
