"""Creates the keyed archives in this folder with Python's plistlib; see README.md."""

import plistlib
from pathlib import Path

HERE = Path(__file__).parent
NULL = plistlib.UID(0)


class Archive:
    """The objects of an archive. Equal strings are archived once, as NSKeyedArchiver does."""

    def __init__(self):
        self.objects = ["$null"]
        self.known = {}

    def add(self, value):
        self.objects.append(value)
        return plistlib.UID(len(self.objects) - 1)

    def once(self, key, value):
        if key not in self.known:
            self.known[key] = self.add(value)
        return self.known[key]

    def plain(self, value):
        return self.once((type(value), value), value)

    def object(self, classes, **fields):
        kind = self.once(classes, {"$classname": classes[0], "$classes": [*classes, "NSObject"]})
        return self.add({"$class": kind, **fields})

    def foundation(self, classes, **fields):
        return self.object(classes, **{f"NS.{name}": value for name, value in fields.items()})

    def dictionary(self, entries):
        keys = [self.plain(key) for key in entries]
        return self.foundation(("NSMutableDictionary", "NSDictionary"), keys=keys, objects=list(entries.values()))

    def write(self, name, root):
        tree = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": self.objects}
        (HERE / f"{name}-binary.plist").write_bytes(plistlib.dumps(tree, fmt=plistlib.FMT_BINARY))
        (HERE / f"{name}-xml.plist").write_bytes(plistlib.dumps(as_xml(tree), fmt=plistlib.FMT_XML))


def as_xml(value):
    """Replaces each UID, which plistlib writes only to binary files, by the form that Apple's tools write to XML."""
    if isinstance(value, plistlib.UID):
        return {"CF$UID": value.data}
    if isinstance(value, list):
        return [as_xml(element) for element in value]
    if isinstance(value, dict):
        return {key: as_xml(element) for key, element in value.items()}
    return value


def object_of_a_class():
    archive = Archive()
    example = archive.foundation(("NSURL",), base=NULL, relative=archive.plain("https://example.org/ada/"))
    group = archive.object(("Club.Group",), name=archive.plain("g"), level=3, owner=NULL)
    root = archive.object(
        ("Club.Account",),
        id=archive.plain("id-ada"),
        username=archive.plain("ada"),
        token=archive.plain("canary-token"),
        refreshToken=archive.plain("canary-refresh"),
        nickname=archive.foundation(("NSMutableString", "NSString"), string="Ada"),
        points=10,
        verified=True,
        ratio=0.5,
        level=archive.plain(-7),
        score=archive.plain(2.5),
        registerTime=archive.foundation(("NSDate",), time=721692800.25),
        avatar=archive.foundation(("NSMutableData", "NSData"), data=bytes(range(20))),
        thumbnail=archive.plain(b"thumbnail"),
        home=example,
        blog=archive.foundation(("NSURL",), base=example, relative=archive.plain("blog?page=1")),
        device=archive.foundation(("NSUUID",), uuidbytes=bytes(range(16))),
        collectIds=archive.foundation(("NSArray",), objects=[archive.plain("c"), archive.plain("ada")]),
        tags=archive.foundation(("NSSet",), objects=[archive.plain("x"), archive.plain(1)]),
        settings=archive.dictionary({"dark": archive.plain(True), "none": archive.object(("NSNull",)), 7: group}),
        group=group,
        phone=NULL,
        nothing=archive.plain("$null"),
    )
    archive.write("object", root)


def dictionary():
    archive = Archive()
    entries = {"id": 7, "username": "ada", "token": "canary-token", "nickname": "Ada", "points": 10}
    archive.write("dictionary", archive.dictionary({key: archive.plain(value) for key, value in entries.items()}))


object_of_a_class()
dictionary()
(HERE / "no-archive.plist").write_bytes(plistlib.dumps({"a": plistlib.UID(5)}, fmt=plistlib.FMT_BINARY))
