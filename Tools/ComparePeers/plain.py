"""The control: a plain file of lines. Every attack has to do it harm."""

import sys
from pathlib import Path

from peer import Command, Finished, Peer
from plain_command import NOT_FOUND

COMMAND = str(Path(__file__).with_name("plain_command.py"))


class PlainFile(Peer):
    title = "plain file"
    # Its first two lines.
    block = 88

    def __init__(self, home: Path) -> None:
        super().__init__(home, home / "store")
        self.file = self.store / "secrets.txt"

    def command(self, *words: str) -> Command:
        return Command((sys.executable, "-IS", COMMAND, str(self.file), *words))

    def version(self) -> str:
        return "the control"

    def create(self) -> None:
        self.store.mkdir()
        self.file.touch()

    def setting(self, name: str, value: bytes) -> Command:
        return self.command("set", name, value.decode())

    def getting(self, name: str) -> Command:
        return self.command("get", name)

    def listing(self) -> Command:
        return self.command("ls")

    def says_absent(self, finished: Finished) -> bool:
        return finished.code == NOT_FOUND

    def counted(self) -> int | None:
        return len(self.file.read_bytes().splitlines())
