"""A home with one value that nothing but `get` may show."""

from pathlib import Path

from homes import Home

CANARY = b"canary-77d2"


def prepared(binary: str, folder: Path) -> Home:
    home = Home(binary, folder)
    home.set("u.token", CANARY)
    return home
