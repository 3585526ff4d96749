"""Finds the independent reader and writer, which share no code with the command, in Tests/Interop."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "Interop"))
