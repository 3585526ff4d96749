"""Makes a raw trace of the output of `strace -f -xx -s 120`."""

import os
import re
from pathlib import Path

CALL = re.compile(r"^(\d+) +(?:[\d:.]+ +)?(\w+)\((.*)\) += (-?\d+|\?)(?: (\w+))?")
OPEN = ("openat", "open")


def joined(lines: list[str]) -> list[str]:
    """Joins what strace has split because another process ran meanwhile; a call counts when it returns."""
    begun: dict[str, str] = {}
    whole = []
    for line in lines:
        process = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif found := re.search(r"<\.\.\. \w+ resumed>(.*)", line):
            whole.append(begun.pop(process, "") + found[1])
        else:
            whole.append(line)
    return whole


def text(argument: str) -> str:
    found = re.search(r'"((?:\\x[0-9a-f]{2})*)"', argument)
    return bytes.fromhex(found[1].replace("\\x", "")).decode(errors="replace") if found else ""


def raw_of_strace(log: Path, vault: str) -> list[str]:
    """The vault is named by its path. File numbers are counted from 1 on, at each new file under its names."""
    folder, unpublished = os.path.dirname(vault), f"{os.path.dirname(vault)}/.{os.path.basename(vault)}.vault-new"
    names: dict[str, int] = {}
    count = 0
    open_files: dict[tuple[str, int], str] = {}
    parents: dict[str, str] = {}
    out: list[str] = []
    started: set[str] = set()

    def number(path: str, is_new: bool) -> str:
        nonlocal count
        if is_new or path not in names:
            count += 1
            names[path] = count
        return f"vault:{names[path]}"

    for line in joined(log.read_text().splitlines()):
        if killed := re.match(r"^(\d+) .*\+\+\+ (killed by|exited)", line):
            if killed[2] == "killed by" and killed[1] in started:
                out.append(f"{killed[1]} killed")
            for key in [k for k in open_files if k[0] == killed[1]]:
                out.append(f"{killed[1]} close {open_files.pop(key)}")
            continue
        found = CALL.match(line)
        if not found or found[4] == "?":
            continue
        thread, call, arguments, result = found[1], found[2], found[3], int(found[4])
        if call in ("clone", "clone3") and "CLONE_THREAD" in arguments and result > 0:
            parents[str(result)] = parents.get(thread, thread)
            continue
        process = parents.get(thread, thread)
        if process not in started:
            started.add(process)
            out.append(f"{process} start 0")
        outcome = "ok" if result >= 0 else "error"
        descriptor = int(number_[1]) if (number_ := re.match(r"^(\d+)(,|$)", arguments)) else -1
        file = open_files.get((process, descriptor), "")
        match call:
            case "openat" | "open" if result >= 0:
                path = text(arguments)
                if path in (vault, unpublished):
                    name = number(path, path == unpublished and "O_CREAT" in arguments)
                elif path.endswith((".seen", ".path")):
                    name = f"{path[-4:]}:0"
                else:
                    name = "folder" if path == folder else "other"
                open_files[process, result] = name
                if name.startswith("vault:"):
                    out.append(f"{process} open {name}")
            case "close" if file:
                del open_files[process, descriptor]
                if file.startswith("vault:"):
                    out.append(f"{process} close {file}")
            case "flock" if file.startswith("vault:"):
                kind = "shared" if "LOCK_SH" in arguments else "exclusive"
                out.append(f"{process} unlock {file}" if "LOCK_UN" in arguments else
                           f"{process} lock {file} {kind} {'ok' if result == 0 else 'busy'}")
            case "pread64" if file.startswith("vault:") and result >= 0:
                count_, offset = arguments.rsplit(",", 2)[1:]
                out.append(f"{process} read {file} {int(offset)} {int(count_)}")
            case "pwrite64" if file.startswith(("vault:", "seen:")):
                count_, offset = arguments.rsplit(",", 2)[1:]
                content = re.search(r'"((?:\\x[0-9a-f]{2})*)"', arguments)[1].replace("\\x", "")[:192]
                content = content if content.strip("0") else "zeros"
                ending = "ok" if result == int(count_) else f"error:{max(result, 0)}"
                out.append(f"{process} write {file} {int(offset)} {int(count_)} {content} {ending}")
            case "fdatasync" | "fsync" if file.startswith("vault:"):
                out.append(f"{process} flush {file} {outcome}")
            case "fsync" if file == "folder":
                out.append(f"{process} flushfolder {outcome}")
            case "rename" | "renameat" | "renameat2" | "link" | "linkat" if unpublished in paths(arguments):
                out.append(f"{process} rename {number(unpublished, False)} {outcome}")
                if result == 0:
                    names[vault] = names.pop(unpublished)
            case "unlink" | "unlinkat" if result == 0 and unpublished in paths(arguments):
                if unpublished in names:
                    out.append(f"{process} remove vault:{names.pop(unpublished)}")
    return out


def paths(arguments: str) -> list[str]:
    return [bytes.fromhex(p.replace("\\x", "")).decode(errors="replace") for p in re.findall(r'"((?:\\x[0-9a-f]{2})+)"', arguments)]
