"""The ways in which a vault refuses to be read."""


class Refusal(Exception):
    """`reason` names the rule of Format.md that does not hold, as `field: fault`; `what` says where."""

    def __init__(self, reason: str, what: str = "the vault") -> None:
        super().__init__(f"{what}: {reason}")
        self.reason = reason
        self.what = what


class Damaged(Refusal):
    """The file breaks a rule of the format or does not authenticate."""


class Foreign(Damaged):
    """A record whose index opens, but does not belong where it is or breaks a rule: no writer leaves one behind."""


class Newer(Refusal):
    """The file is of a later version of the format."""


class Locked(Refusal):
    """The key file is damaged, or it opens no slot of this vault."""
