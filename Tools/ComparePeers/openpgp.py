"""pass and gopass: a folder with a file for each entry, encrypted by gpg."""

import sys
from pathlib import Path

from peer import Command, Finished, Peer

OWNER = "peers@example.org"


class OpenPGPStore(Peer):
    program: str

    def __init__(self, home: Path) -> None:
        super().__init__(home, home / ".password-store")
        self.keys = home / ".gnupg"

    @property
    def variables(self) -> dict[str, str]:
        return {"GNUPGHOME": str(self.keys), "PASSWORD_STORE_DIR": str(self.store)}

    def create(self) -> None:
        self.keys.mkdir(mode=0o700)
        generate = ("--passphrase", "", "--quick-generate-key", OWNER, "default", "default", "never")
        self.output("gpg", "--batch", "--quiet", *generate)
        self.output(self.program, "init", OWNER)

    def getting(self, name: str) -> Command:
        return Command((self.program, "show", name))

    def listing(self) -> Command:
        return Command((self.program, "ls"))

    def names(self, finished: Finished) -> set[str]:
        words = finished.output.decode(errors="replace").replace("\x1b[00m", " ").replace("\x1b[0m", " ").split()
        return {word.removesuffix(".gpg") for word in words}

    def sealed_files(self) -> list[Path]:
        return sorted(self.store.glob("*.gpg"))

    def entry_file(self, name: str) -> Path | None:
        return self.store / f"{name}.gpg"

    def counted(self) -> int | None:
        return len(self.sealed_files())

    def stop(self) -> None:
        self.run(Command(("gpgconf", "--kill", "gpg-agent")))


class Pass(OpenPGPStore):
    title = "pass"
    program = "pass"

    def version(self) -> str:
        return next(word for word in self.output("pass", "version").split() if word.startswith("v"))[1:]

    def setting(self, name: str, value: bytes) -> Command:
        return Command(("pass", "insert", "--multiline", "--force", name), value)

    def says_absent(self, finished: Finished) -> bool:
        return b"is not in the password store" in finished.errors


class Gopass(OpenPGPStore):
    # The package of Debian 12 is github.com/aviau/gopass, not github.com/gopasspw/gopass.
    title = "gopass (aviau's)"
    program = "gopass"
    # A terminal takes 4,095 bytes a line.
    large = 4_000

    def version(self) -> str:
        return self.output("gopass", "version").split()[-1].removeprefix("v")

    def create(self) -> None:
        (self.home / ".gitconfig").write_text(f"[user]\n\tname = Peers\n\temail = {OWNER}\n")
        super().create()

    def setting(self, name: str, value: bytes) -> Command:
        # It takes a value from a terminal alone.
        typed = str(Path(__file__).with_name("typed.py"))
        return Command((sys.executable, "-IS", typed, "gopass", "insert", "-f", name), value + b"\n" + value + b"\n")

    def says_absent(self, finished: Finished) -> bool:
        return b"could not find password" in finished.errors
