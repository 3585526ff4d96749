"""secret-tool with gnome-keyring: a daemon that is unlocked with the login's password, on a session bus of its own."""

from pathlib import Path

from peer import Command, Finished, Peer

# Waits until the daemon answers: before, the bus would start another one, which is locked.
UNLOCK = """
printf 'correct horse' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
for turn in 1 2 3 4 5 6 7 8 9 10; do
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner \
        string:org.freedesktop.secrets >/dev/null 2>&1 && break
    sleep 0.1
done
"""
ATTRIBUTES = "application compare-peers"


class GnomeKeyring(Peer):
    """Each command is a login of its own: a daemon that runs on would answer from its memory."""

    title = "secret-tool, gnome-keyring"

    def __init__(self, home: Path) -> None:
        super().__init__(home, home / ".local/share/keyrings")
        self.file = self.store / "login.keyring"
        self.runtime = home / "run"
        self.runtime.mkdir(mode=0o700)

    @property
    def variables(self) -> dict[str, str]:
        return {"XDG_RUNTIME_DIR": str(self.runtime)}

    def session(self, script: str, stdin: bytes = b"") -> Command:
        # In a process namespace of its own, since the daemon does not always end with its bus.
        alone = ("unshare", "--pid", "--fork", "--kill-child")
        return Command((*alone, "dbus-run-session", "--", "sh", "-c", f"{UNLOCK}{script}"), stdin)

    def version(self) -> str:
        return self.output("gnome-keyring-daemon", "--version").split()[1]

    def create(self) -> None:
        self.output(*self.session("true").words)

    def setting(self, name: str, value: bytes) -> Command:
        return self.session(self.storing(name), value)

    def getting(self, name: str) -> Command:
        return self.session(f"secret-tool lookup {ATTRIBUTES} name {name}")

    def listing(self) -> Command:
        return self.session(f"secret-tool search --all {ATTRIBUTES} 2>&1")

    def names(self, finished: Finished) -> set[str]:
        lines = finished.output.decode(errors="replace").splitlines()
        return {line.partition(" = ")[2] for line in lines if line.startswith("attribute.name")}

    def says_absent(self, finished: Finished) -> bool:
        return finished.code == 1 and b"secret-tool:" not in finished.errors

    def sealed_files(self) -> list[Path]:
        return [self.file]

    def counted(self) -> int | None:
        """Reads the number of items in the part of the file that is not encrypted."""
        data = self.file.read_bytes()
        label = int.from_bytes(data[20:24])
        position = 24 + label + 8 + 8 + 4 + 4 + 4 + 8 + 16
        return int.from_bytes(data[position : position + 4])

    def set_at_once(self, values: dict[str, bytes]) -> list[int]:
        """In one login: the same daemon serves them all."""
        lines = [f"(printf {value.decode()} | {self.storing(name)}; echo $?) &" for name, value in values.items()]
        return [int(code) for code in self.output(*self.session("\n".join([*lines, "wait"])).words).split()]

    def storing(self, name: str) -> str:
        return f"secret-tool store --label={name} {ATTRIBUTES} name {name}"
