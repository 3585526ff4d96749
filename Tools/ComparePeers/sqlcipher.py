"""SQLCipher's command line: a database of which each page is encrypted."""

from pathlib import Path

from peer import Command, Finished, Peer


class SQLCipher(Peer):
    title = "sqlcipher"
    # The size of its pages.
    block = 1024

    def __init__(self, home: Path) -> None:
        super().__init__(home, home / "store")
        self.file = self.store / "secrets.db"

    def statement(self, text: str) -> Command:
        return Command(("sqlcipher", "-bail", str(self.file)), f"PRAGMA key='correct horse';\n{text}\n".encode())

    def version(self) -> str:
        return self.output("sqlcipher", ":memory:", "PRAGMA cipher_version").strip()

    def create(self) -> None:
        self.store.mkdir()
        command = self.statement("CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL);")
        self.output(*command.words, stdin=command.stdin)

    def setting(self, name: str, value: bytes) -> Command:
        return self.statement(f"INSERT OR REPLACE INTO secrets VALUES ('{name}', '{value.decode()}');")

    def getting(self, name: str) -> Command:
        return self.statement(f"SELECT value FROM secrets WHERE name = '{name}';")

    def listing(self) -> Command:
        return self.statement("SELECT name FROM secrets;")

    def verifying(self) -> Command | None:
        return self.statement("PRAGMA integrity_check;")

    def is_sound(self, finished: Finished) -> bool:
        return finished.output.strip() == b"ok"

    def says_absent(self, finished: Finished) -> bool:
        return finished.code == 0 and finished.output == b""

    def sealed_files(self) -> list[Path]:
        return [self.file]
