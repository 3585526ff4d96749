"""The vault of this project."""

import os
import sys
from pathlib import Path

from peer import Command, Finished, Peer

sys.path.append(str(Path(__file__).parents[2] / "Tests/EndToEnd"))
from layout import records  # noqa: E402

EXIT_NOT_FOUND = 3


class Vault(Peer):
    title = "vault"

    def __init__(self, home: Path) -> None:
        super().__init__(home, home / ".local/share/vault")
        self.file = self.store / "default.vault"

    @property
    def state(self) -> list[Path]:
        return [self.store, self.home / ".local/state/vault"]

    def command(self, *words: str, stdin: bytes = b"") -> Command:
        return Command((os.environ["VAULT_BINARY"], *words), stdin)

    def version(self) -> str:
        return self.output(*self.command("version").words).split()[-1]

    def create(self) -> None:
        self.output(*self.command("init").words)

    def setting(self, name: str, value: bytes) -> Command:
        return self.command("set", name, stdin=value)

    def getting(self, name: str) -> Command:
        return self.command("get", name)

    def listing(self) -> Command:
        return self.command("ls")

    def verifying(self) -> Command | None:
        return self.command("verify")

    def says_absent(self, finished: Finished) -> bool:
        return finished.code == EXIT_NOT_FOUND

    def counted(self) -> int | None:
        return len(records(self.file))
