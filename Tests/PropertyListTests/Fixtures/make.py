"""Makes the fixtures beside it with Python's plistlib; see README.md."""

import datetime
import plistlib
from pathlib import Path

HERE = Path(__file__).parent
SHARED = ["one", "two"]
COMMON = {
    "empty": "",
    "text": " grüße\t\U0001f511 <&> ",
    "yes": True,
    "no": False,
    "one": 1,
    "one point zero": 1.0,
    "negative zero": -0.0,
    "tenth": 0.1,
    "smallest": 5e-324,
    "largest": 1.7976931348623157e308,
    "infinite": float("-inf"),
    "least": -(2**63),
    "greatest": 2**64 - 1,
    "byte": 255,
    "short": 65535,
    "long": 4294967295,
    "date": datetime.datetime(1969, 7, 20, 20, 17, 40),
    "data": bytes(range(100)),
    "nothing": [],
    "none": {},
    "first": SHARED,
    "second": SHARED,
    "deep": [[{"a": [{"b": [1, 2.5, "x"]}]}]],
    "many": list(range(20)),
}

(HERE / "plistlib-xml.plist").write_bytes(plistlib.dumps(COMMON, fmt=plistlib.FMT_XML))
(HERE / "plistlib-binary.plist").write_bytes(plistlib.dumps(COMMON, fmt=plistlib.FMT_BINARY))
