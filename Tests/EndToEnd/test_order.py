"""The list for the linker of what a start touches: how a linker's map is read."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tools/lib"))

from order import Section, sections

MAP = """\
             VMA              LMA     Size Align Out     In      Symbol
          200270           200270       60     4 .text
          200270           200270       20     4         /lib/crt1.o:(.text)
          200270           200270       20     1                 _start
          200280           200280       10     1                 start of the second half
          200290           200290       20     4         /lib/a folder/without a symbol.o:(.text)
          2002b0           2002b0       20     4         Vault.swift.o:(.text.$s5VaultAAC)
          2002b0           2002b0       20     1                 $s5VaultAAC
          2002d0           2002d0        0     1         empty.o:(.text)
          2002d0           2002d0        0     1                 nothing
               0                0       10     1 .comment
               0                0       10     1         <internal>:(.comment)
               0                0       10     1                 a comment
"""


def test_each_section_that_is_loaded_and_has_a_symbol_stands_under_its_first() -> None:
    first, last = Section(0x200270, 0x200290, "_start"), Section(0x2002B0, 0x2002D0, "$s5VaultAAC")
    assert sections(iter(MAP.splitlines(keepends=True))) == [first, last]
