"""The ways in which a vault refuses to be read."""


class Damaged(Exception):
    """The file breaks a rule of the format or does not authenticate."""


class Foreign(Damaged):
    """A record whose index opens, but does not belong where it is or breaks a rule: no writer leaves one behind."""


class Newer(Exception):
    """The file is of a later version of the format."""


class Locked(Exception):
    """The key file is damaged, or it opens no slot of this vault."""
