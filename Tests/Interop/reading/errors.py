"""The ways in which a vault refuses to be read."""


class Damaged(Exception):
    """The file breaks a rule of the format or does not authenticate."""


class Newer(Exception):
    """The file is of a later version of the format."""


class Locked(Exception):
    """The key file is damaged, or it opens no slot of this vault."""
