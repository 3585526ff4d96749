"""Runs a command, and kills all its processes as one of them enters the n-th system call that changes its files.

strace counts the calls of each process apart, so a fault of strace's never reaches the later processes of a script.

Usage: killing.py N FOLDERS COMMAND...   FOLDERS are joined by colons. N of 0 kills nothing. Prints the number of calls.
"""

import ctypes
import os
import platform
import signal
import sys

TRACEME, SYSCALL, SET_OPTIONS, GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
# Good system call stops; follow fork, vfork, clone and exec; kill the traced if the tracer dies.
OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x100000
ENTRY = 1
ALL_CHILDREN = 0x40000000
AT_FDCWD = -100

# Which argument of a call is a path, and which is a descriptor.
PATHS = {
    "x86_64": {2: 0, 76: 0, 82: 1, 83: 0, 84: 0, 85: 0, 86: 1, 87: 0, 88: 1, 90: 0, 257: 1, 258: 1, 263: 1, 264: 3,
               265: 3, 268: 1, 316: 3},
    "aarch64": {34: 1, 35: 1, 36: 2, 37: 3, 38: 3, 45: 0, 53: 1, 56: 1, 276: 3},
}  # fmt: skip
DESCRIPTORS = {
    "x86_64": (1, 18, 20, 74, 75, 77, 91, 285, 296),
    "aarch64": (46, 47, 52, 64, 66, 68, 70, 82, 83),
}
# The calls that open a file, and where their flags are.
OPENING = {"x86_64": {2: 1, 257: 2}, "aarch64": {56: 2}}
FOLDER_DESCRIPTOR = {"x86_64": range(257, 400), "aarch64": range(0, 400)}


class SyscallInfo(ctypes.Structure):
    _fields_ = [("op", ctypes.c_uint8), ("pad", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32),
                ("pointers", ctypes.c_uint64 * 2), ("number", ctypes.c_uint64), ("arguments", ctypes.c_uint64 * 6),
                ("room", ctypes.c_uint64)]  # fmt: skip


libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> int:
    return libc.ptrace(request, pid, address, data)


def string(pid: int, address: int) -> str:
    """Reads a path from a process, to the end of the page at most."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(4096 - address % 4096).split(b"\0")[0].decode(errors="replace")


def touched(pid: int, info: SyscallInfo) -> str | None:
    """Returns the path that a call is about to change."""
    machine, number, arguments = platform.machine(), info.number, info.arguments
    try:
        if number in DESCRIPTORS[machine]:
            return os.readlink(f"/proc/{pid}/fd/{arguments[0]}")
        if number not in PATHS[machine]:
            return None
        opening = OPENING[machine].get(number)
        if opening is not None and not arguments[opening] & (os.O_CREAT | os.O_TRUNC):
            return None
        index = PATHS[machine][number]
        folder = "cwd"
        if number in FOLDER_DESCRIPTOR[machine] and index > 0:
            descriptor = ctypes.c_int32(arguments[index - 1] & 0xFFFFFFFF).value
            folder = "cwd" if descriptor == AT_FDCWD else f"fd/{descriptor}"
        return os.path.normpath(os.path.join(os.readlink(f"/proc/{pid}/{folder}"), string(pid, arguments[index])))
    except OSError:
        return None


def run(limit: int, folders: tuple[str, ...], words: list[str]) -> tuple[int, int]:
    """Returns the number of calls, and the exit code: that of a kill where the limit was reached."""
    first = os.fork()
    if first == 0:
        ptrace(TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execvp(words[0], words)
    os.waitpid(first, 0)
    ptrace(SET_OPTIONS, first, 0, OPTIONS)
    ptrace(SYSCALL, first)
    traced, count = {first}, 0
    while True:
        pid, status = os.waitpid(-1, ALL_CHILDREN)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            traced.discard(pid)
            if pid == first:
                return count, os.waitstatus_to_exitcode(status)
            continue
        stop, deliver = os.WSTOPSIG(status), 0
        if stop == signal.SIGTRAP | 0x80:
            info = SyscallInfo()
            ptrace(GET_SYSCALL_INFO, pid, ctypes.sizeof(info), ctypes.addressof(info))
            path = touched(pid, info) if info.op == ENTRY else None
            if path and path.startswith(folders):
                count += 1
                if count == limit:
                    for each in traced | {pid}:
                        os.kill(each, signal.SIGKILL)
                    return count, -signal.SIGKILL
        elif status >> 16 == 0 and (pid in traced or stop != signal.SIGSTOP):
            deliver = stop
        traced.add(pid)
        ptrace(SYSCALL, pid, 0, deliver)


if __name__ == "__main__":
    calls, code = run(int(sys.argv[1]), tuple(sys.argv[2].split(":")), sys.argv[3:])
    print(f"calls {calls}", file=sys.stderr)
    # What is still traced dies with this process: a daemon, say.
    sys.exit(code if code >= 0 else 128 - code)
