"""The programs that are tested, named by environment variables."""

import os

import pytest


def executable(variable: str, what: str) -> str:
    path = os.environ.get(variable, "")
    if not os.path.isabs(path) or not os.path.isfile(path) or not os.access(path, os.X_OK):
        pytest.fail(f"{variable} has to be the absolute path of {what}; it is {path!r}", pytrace=False)
    return path
