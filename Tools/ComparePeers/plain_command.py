"""Sets, gets and lists the lines of a plain file, without care: no lock, no flush, no second file.

Usage: plain_command.py FILE set NAME VALUE | get NAME | ls
"""

import sys

NOT_FOUND = 3


def entries(path: str) -> dict[bytes, bytes]:
    with open(path, "rb") as file:
        pairs = (line.partition(b"=") for line in file.read().splitlines())
        return {name: value for name, _, value in pairs}


def main(path: str, command: str, *words: str) -> None:
    found = entries(path)
    if command == "set":
        name, value = words
        found[name.encode()] = value.encode()
        with open(path, "wb", buffering=0) as file:
            for pair in found.items():
                file.write(b"=".join(pair) + b"\n")
    elif command == "get":
        if words[0].encode() not in found:
            sys.exit(NOT_FOUND)
        sys.stdout.buffer.write(found[words[0].encode()])
    else:
        sys.stdout.buffer.writelines(name + b"\n" for name in found)


if __name__ == "__main__":
    main(*sys.argv[1:])
