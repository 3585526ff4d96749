"""A vault without the zeros behind its log, and with more of them. Tools/sweep cuts it to every length; see Tests/Sweeps."""

import os

from histories import History
from layout import log_end


def test_writing_goes_on_after_the_zeros_were_cut(twenty: History) -> None:
    os.truncate(twenty.home.vault, log_end(twenty.home.vault))
    twenty.home.set("entry-20", b"new")
    assert twenty.home.values() == twenty.values | {"entry-20": b"new"}
    twenty.home.output("verify")


def test_a_vault_that_grew_by_zeros_is_as_it_was(twenty: History) -> None:
    os.truncate(twenty.home.vault, 1 << 20)
    assert twenty.home.values() == twenty.values
    twenty.home.set("entry-20", b"new")
    twenty.home.output("verify")
