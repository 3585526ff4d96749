"""Every changed byte, every length and every splice of a file, by their texts."""

from collections.abc import Iterator
from itertools import product
from random import Random

from cases import Case, sample
from layout import FRAME_SIZE, HINT, MAGIC, checkpoint_end, number
from specimens import Specimen

PATTERNS = ("01", "80", "FF", "00")
BLOCKS = (512, 4_096)


def cases_of(specimen: Specimen, kinds: set[str], chance: Random | None) -> Iterator[Case]:
    """All cases, or with `chance` those of the quick form."""
    size = len(specimen.content)
    if "byte" in kinds:
        yield from bytes_of(specimen, size, chance)
    if "truncate" in kinds:
        for what in sample([f"cut:{length}" for length in range(size)], chance, 300):
            yield Case(specimen.name, what, "truncate")
    if "splice" in kinds and specimen.sources:
        whats = list(splices_of(specimen))
        # Those at the borders of records are few, and the nearest to a history that could be.
        borders = ("drop:", "double:", "swap:", *(f"tail:{end}=" for end in specimen.ends))
        always = [what for what in whats if what.startswith(borders)]
        others = [what for what in whats if not what.startswith(borders)]
        yield from (Case(specimen.name, what, "splice") for what in always + sample(others, chance, 300))


def bytes_of(specimen: Specimen, size: int, chance: Random | None) -> Iterator[Case]:
    """In the quick form each byte that means something once; of zeros behind the log, and of many records, some."""
    for offset in range(size):
        means_nothing = specimen.changed == specimen.home.vault and offset >= specimen.log_end + FRAME_SIZE
        patterns = PATTERNS if specimen.content[offset] else PATTERNS[: 1 if means_nothing else 3]
        if chance is not None:
            if (means_nothing or specimen.name == "minor") and chance.random() >= 0.03:
                continue
            patterns = [chance.choice(patterns)]
        yield from (Case(specimen.name, f"byte:{offset}:{pattern}", "byte") for pattern in patterns)


def splices_of(specimen: Specimen) -> Iterator[str]:
    """Blocks of each source at each place, records in another order or of a source, and files of two halves."""
    sources = ["self", *specimen.sources]
    for size in BLOCKS:
        for source in sources:
            there = range(-(-len(log_of(content_of(specimen, source))) // size))
            for here, other in product(range(-(-specimen.log_end // size)), there):
                if source != "self" or here != other:
                    yield f"block:{size}:{here}={source}:{other}"
    # Of many records that are alike the newest will do.
    count = len(specimen.ends) - 1
    mine = range(max(0, count - 6), count)
    for index in mine:
        yield f"drop:{index}"
        yield from (f"double:{index}:{after}" for after in mine)
        yield from (f"swap:{index}:{other}" for other in mine if other > index)
        for source in specimen.sources:
            theirs = len(parts(specimen.sources[source])[1])
            for other in range(max(0, theirs - 6), theirs):
                yield f"put:{index}={source}:{other}"
                yield f"insert:{index}={source}:{other}"
    for source in specimen.sources:
        for offset in {*range(512, specimen.log_end, 512), *specimen.ends[-7:-1]}:
            yield f"tail:{offset}={source}"


def content_of(specimen: Specimen, source: str) -> bytes:
    return specimen.content if source == "self" else specimen.sources[source]


def parts(data: bytes) -> tuple[bytes, list[bytes]]:
    """What is before the first record, and the records."""
    offset = checkpoint_end(data)
    head, found = data[:offset], []
    while data[offset : offset + 4] == MAGIC:
        end = offset + 48 + number(data, offset + 4, 4) + number(data, offset + 8, 8)
        found.append(data[offset:end])
        offset = end
    return head, found


def log_of(data: bytes) -> bytes:
    head, found = parts(data)
    return head + b"".join(found)


def changed(specimen: Specimen, what: str) -> bytes:
    """The file's content after the change."""
    data = specimen.content
    operation, _, rest = what.partition(":")
    here, _, there = rest.partition("=")
    numbers = [int(part, 16) if index == 1 and operation == "byte" else int(part)
               for index, part in enumerate(here.split(":"))]  # fmt: skip
    if operation == "byte":
        offset, pattern = numbers
        byte = data[offset] ^ pattern if pattern else 0
        return data[:offset] + bytes([byte]) + data[offset + 1 :]
    if operation == "cut":
        return data[: numbers[0]]
    source, _, index = there.partition(":")
    if operation == "block":
        size, offset = numbers
        other = content_of(specimen, source)[int(index) * size : (int(index) + 1) * size]
        return data[: offset * size] + other + data[offset * size + len(other) :]
    if operation == "tail":
        return data[: numbers[0]] + specimen.sources[source][numbers[0] :]
    head, mine = parts(data)
    first, *more = numbers
    if operation == "drop":
        del mine[first]
    elif operation == "double":
        mine.insert(more[0] + 1, mine[first])
    elif operation == "swap":
        mine[first], mine[more[0]] = mine[more[0]], mine[first]
    else:
        other = parts(specimen.sources[source])[1][int(index)]
        mine[first : first + (operation == "put")] = [other]
    return (head + b"".join(mine)).ljust(len(data), b"\0")


def means_the_same(specimen: Specimen, data: bytes) -> bool:
    """Whether only the hint, or nothing of the log, was changed."""
    end = specimen.log_end
    return len(data) >= end and all(
        data[part] == specimen.content[part] for part in (slice(0, HINT.start), slice(HINT.stop, end))
    )
