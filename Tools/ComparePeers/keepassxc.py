"""keepassxc-cli: one encrypted file, opened with a password."""

from pathlib import Path

from peer import Command, Finished, Peer

PASSWORD = b"correct horse battery staple\n"
ADD_OR_EDIT = """
read -r password
read -r value
verb=add
! echo "$password" | keepassxc-cli show -q "$1" "$2" >/dev/null 2>&1 || verb=edit
printf '%s\\n%s\\n' "$password" "$value" | keepassxc-cli "$verb" -q -p "$1" "$2"
"""


class KeePassXC(Peer):
    title = "keepassxc-cli"

    def __init__(self, home: Path) -> None:
        super().__init__(home, home / "store")
        self.file = self.store / "passwords.kdbx"

    @property
    def variables(self) -> dict[str, str]:
        return {"QT_QPA_PLATFORM": "offscreen"}

    def command(self, *words: str, stdin: bytes = b"") -> Command:
        return Command(("keepassxc-cli", *words), PASSWORD + stdin)

    def version(self) -> str:
        return self.output("keepassxc-cli", "--version").strip()

    def create(self) -> None:
        self.store.mkdir()
        self.output("keepassxc-cli", "db-create", "-q", "-p", str(self.file), stdin=PASSWORD * 2)

    def setting(self, name: str, value: bytes) -> Command:
        """Adds the entry, or edits it: there is no command that does both."""
        return Command(("sh", "-c", ADD_OR_EDIT, "sh", str(self.file), name), PASSWORD + value + b"\n")

    def getting(self, name: str) -> Command:
        return self.command("show", "-q", "-s", "-a", "password", str(self.file), name)

    def listing(self) -> Command:
        return self.command("ls", "-q", "-f", str(self.file))

    def says_absent(self, finished: Finished) -> bool:
        return b"Could not find entry" in finished.errors

    def sealed_files(self) -> list[Path]:
        return [self.file]
