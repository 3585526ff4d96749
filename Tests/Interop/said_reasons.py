"""How the command's message names what a vector's reason is about. It says less: which part of the file, or the key."""

import re

# The fields of the reasons in writing/reasons.py, and what the command's message has to match.
HEADER = r"the header|the key slots|the magic of a vault|it is empty|the file ends"
RECORD = r"a record |no valid frame|a record's length|a payload "
ENTRY = r"a record breaks the format|a page of the index \("
SAID = {
    r"header|header sequence number|copy|key slots?|slot parameters|Argon2id limits|history": HEADER,
    r"vault name": r"the name in the header",
    r"root (offset|length)|manifest (offset|length)|checkpoint end": HEADER,
    r"key file": r"The key file \S+ is",
    r"manifest|chain|labels|settings|former memory keys|removed keys|merged|known to the key": r"the manifest",
    r"members": r"the manifest|member change",
    r"signature": r"a change whose signature is invalid|a record breaks the format",
    r"checkpoint": r"the checkpoint's parts",
    r"page|page length": r"a page of the index|a tree lacks an entry",
    r"frame|index|previous|record .*|transactions|totals|payload|tree root .*|tail": rf"{RECORD}|after the log's end",
    r"tree": r"a tree|a minor checkpoint|a record breaks the format|a value outside its range",
    r"name|entry.*|modified|age|attributes|earlier versions|version flags|value length|value nonce": ENTRY,
    r"value": r"a value at byte|the checkpoint's parts",
    r"value offset": rf"a value outside its range|an offset out of bounds|{RECORD}",
}
WHOLE = {
    "key slots: none opens": r"does not open|needs its passphrase",
    "header: version": r"a later format|the header \(its version\)",
}


def is_said(reason: str, message: str) -> bool:
    """Whether the command's message is about what the reason names."""
    field = reason.split(":")[0]
    words = WHOLE.get(reason) or next(words for fields, words in SAID.items() if re.fullmatch(fields, field))
    return re.search(words, message) is not None
