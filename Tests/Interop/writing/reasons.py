"""Why each bad vector is refused: the one rule of Format.md that does not hold, as the reader in ../reading names it.

A reason is `field: fault`. Where it is about the order in which rules are checked, the vector's note says more.
"""

REFUSED = {
    "Argon2id limits: bounds": (
        "argon2id-without-passes argon2id-with-11-passes argon2id-with-too-little-memory "
        "argon2id-with-too-much-memory argon2id-with-most-memory argon2id-limits-behind-a-sound-slot "
        "passphrase-with-11-passes"
    ),
    "Argon2id limits: not zero": "generated-slot-with-limits recipient-slot-with-limits",
    "Argon2id limits: sum": "argon2id-too-much-in-all",
    "attributes: UTF-8": "attribute-not-utf8",
    "attributes: bounds": "attributes-none attributes-65",
    "age: bounds": "age-beyond-1970",
    "attributes: order": "attributes-unordered attributes-doubled version-attributes-unordered",
    "chain: bounds": "manifest-chain-too-long manifest-chain-endless",
    "checkpoint end: bounds": (
        "file-cut-behind-the-headers-copy file-cut-in-the-checkpoint checkpoint-end-behind-the-file "
        "checkpoint-end-at-the-largest-offset checkpoint-end-in-the-header checkpoint-end-in-the-headers-copy "
        "checkpoint-end-out-of-step"
    ),
    "checkpoint: gaps": "root-missing checkpoint-with-a-gap checkpoint-with-a-gap-at-its-end",
    "copy: differs": "copy-zeroed copy-flipped copy-with-a-hint",
    "earlier versions: bounds": "earlier-none removed-with-no-versions",
    "entry flags: removed and others": "removed-and-more removed-with-an-expiry removed-with-attributes-and-versions",
    "entry flags: reserved": "entry-flag-128",
    "entry: size": "entry-of-8001-bytes",
    "fingerprint: another": "recipient-of-a-vault-of-anyone",
    "former memory keys: bounds": "former-memory-keys-4097",
    "removed keys: bounds": "removed-keys-257",
    "frame: checksum": "record-of-another-vault frame-checksum tail-with-failing-frame-and-zero-sector",
    "frame: lengths": (
        "record-index-empty frame-index-out-of-step frame-payload-out-of-step frame-index-of-0-bytes "
        "frame-index-too-long frame-payload-too-long frame-payload-of-most-bytes tail-with-too-long-an-index "
        "tail-with-too-long-a-payload tail-with-the-largest-payload index-too-large"
    ),
    "frame: magic": "tail-with-almost-no-frame tail-of-24-bytes garbage-at-the-end",
    "header sequence number: bounds": "header-sequence-of-2-to-62",
    "header: MAC": (
        "header-mac-first-half header-mac-second-half header-mac-without-key header-sequence-flipped "
        "header-other-slot-flipped"
    ),
    "header: cut": (
        "file-empty file-of-the-magic-alone file-cut-in-the-slots file-cut-behind-the-header "
        "file-cut-in-the-headers-copy"
    ),
    "header: its copy holds": (
        "header-zeroed header-sector-zeroed header-slot-flipped header-version-in-the-copy header-mac-in-the-copy"
    ),
    "header: magic": "file-of-zeros file-of-text header-magic",
    "header: reserved": (
        "header-reserved-flag header-reserved-first header-slot-past-the-number header-reserved-last header-reserved-and-another-key"
    ),
    "header: version": "header-version-0 header-version-2 header-version-65537",
    "history: bounds": "history-of-256-versions",
    "index: padding": "record-index-with-more record-with-fewer-entries",
    "key file: a vault": "key-file-that-is-a-vault",
    "key file: blank": "key-file-empty key-file-of-a-line-end key-file-of-white-space key-file-of-zeros",
    "key file: checksum": "key-mistyped key-checksum-mistyped",
    "key file: form": (
        "key-too-short key-line-missing key-line-twice key-file-with-another-line key-file-of-a-later-version "
        "key-file-with-capital-prefix-beside key-file-with-capital-comment key-file-behind-a-space "
        "key-file-behind-a-mark key-file-in-utf16 key-file-in-utf16-be key-file-in-quotes key-file-as-a-variable"
    ),
    "key slot: reserved": (
        "slot-reserved-first slot-reserved-last slot-of-unknown-kind-reserved recipient-slot-reserved"
    ),
    "key slots: none opens": (
        "key-of-another-vault key-file-too-large other-file-for-a-generated-slot "
        "generated-file-for-an-argon2id-slot other-file-without-its-last-byte key-of-another-vault-and-mac "
        "wrapped-key-flipped only-an-unknown-slot passphrase-with-a-line-end passphrase-with-another-key-file "
        "key-file-without-its-passphrase recipient-with-another-identity"
    ),
    "key slots: same salt": "slots-of-one-salt",
    "key slots: number": "header-without-slots header-with-17-slots",
    "known to the key: bounds": "members-known-to-the-key-1025",
    "known to the key: not there": "members-known-to-the-key-and-gone",
    "labels: bounds": "recipient-of-4097-bytes",
    "labels: cut": "manifest-cut",
    "labels: recipient of another kind": "recipient-of-a-key-file",
    "manifest length: bounds": "manifest-too-long manifest-of-the-largest-length manifest-empty manifest-too-large",
    "manifest offset: bounds": "manifest-at-no-offset manifest-at-the-largest-offset manifest-behind-the-checkpoint",
    "manifest: box": "manifest-flipped",
    "manifest: padding": "manifest-with-more members-without-their-flag",
    "members: bounds": (
        "members-flag-without-members member-of-257-bytes member-with-a-recipient-of-4097-bytes members-1025"
    ),
    "members: order": (
        "members-out-of-order member-added-by-an-old-change member-change-that-follows-nothing "
        "member-change-that-follows-another-vaults first-member-that-follows"
    ),
    "members: reserved": "member-flag-2",
    "members: signature": "member-signature member-signature-without-effect member-signature-flipped",
    "members: unknown author": (
        "member-added-by-a-stranger member-removed-by-a-stranger first-member-added-by-another "
        "first-member-removed"
    ),
    "merged: bounds": "merged-4097",
    "merged: not before the header": "merged-at-the-header",
    "merged: order": "merged-out-of-order",
    "modified: varint": "modified-varint modified-of-11-bytes modified-of-2-to-64",
    "name: UTF-8": "name-not-utf8 name-overlong-utf8 name-with-surrogate",
    "name: bounds": "name-empty name-of-1025-bytes name-longer-than-its-box",
    "name: control character": (
        "name-with-escape name-with-escape-in-a-checkpoint name-with-zero-byte name-with-delete "
        "name-with-c1-control inner-name-with-control"
    ),
    "name: cut": "record-with-most-entries",
    "name: varint": "name-length-varint",
    "page length: bounds": "page-too-large",
    "page: box": "root-nonce leaves-swapped tree-root-nonce",
    "page: level": "tree-of-ten-levels",
    "page: level of a child": "child-two-levels-below child-two-levels-below-in-a-record",
    "page: names of a child": "name-before-its-page name-before-its-page-in-a-record name-behind-its-page",
    "page: number of cells": "page-without-cells",
    "page: offset of a cell": (
        "page-with-more-cells page-with-fewer-cells page-offset-low page-offset-high page-offset-beyond page-gap "
        "leaf-as-inner-page"
    ),
    "page: order of names": (
        "names-out-of-order-in-the-only-leaf names-out-of-order-in-a-checkpoint names-out-of-order-in-a-record "
        "leaves-out-of-order-in-a-checkpoint leaves-out-of-order-in-a-record name-twice"
    ),
    "page: padding": "page-padding",
    "page: reserved": "page-reserved",
    "payload: end": (
        "record-with-payload-behind record-with-payload-behind-in-the-middle record-with-payload-for-nothing "
        "record-with-payload-behind-its-tree record-with-a-longer-frame"
    ),
    "payload: hash": (
        "record-payload-hash record-payload-hash-in-the-middle payloads-swapped tail-with-another-payload "
        "tail-with-zeros-across-sectors"
    ),
    "payload: of a notice": "notice-with-a-payload",
    "previous: chain": (
        "record-previous record-previous-in-the-middle record-of-a-diverged-copy record-before-compaction"
    ),
    "previous: cut": "record-index-of-16-bytes",
    "record name: another": (
        "record-of-another-name record-of-another-name-in-the-middle record-without-a-name "
        "record-with-a-name-in-a-file record-of-another-name-where-the-hint-leads"
    ),
    "record name: cut": "record-name-cut",
    "record flags: both": "notice-with-a-tree",
    "record flags: reserved": "record-flag-8 record-flag-8-in-the-middle",
    "record sequence number: chain": (
        "record-sequence-again record-sequence-skips record-sequence-skips-in-the-middle record-sequence-largest "
        "record-sequence-0 record-sequence-0-in-the-middle record-sequence-largest-where-the-hint-leads "
        "record-dropped first-record-dropped record-doubled last-record-doubled records-swapped "
        "last-records-swapped"
    ),
    "root length: bounds": "root-of-17408-bytes root-of-16-bytes root-of-0-bytes",
    "root offset: bounds": (
        "root-behind-the-end root-at-the-largest-offset root-in-the-header root-in-the-headers-copy "
        "root-at-no-offset root-behind-the-checkpoint"
    ),
    "root offset: multiple of 16": "root-out-of-step header-offset-and-another-key",
    "settings: varint": "manifest-varint",
    "signature: cut": "signature-missing",
    "signature: does not hold": (
        "signature-of-another-value signature-of-another-kind signature-of-another-name signature-of-another-time "
        "signature-of-another-expiry signature-of-other-attributes signature-of-no-removal "
        "signature-of-another-member signature-of-another-position signature-flipped signature-of-another-vault "
        "signature-of-an-earlier-version signature-of-a-removed-name signature-of-a-replaced-state signature-in-a-tree"
    ),
    "signature: unknown author": (
        "signature-of-a-stranger signature-of-an-earlier-version-by-a-stranger signature-without-members"
    ),
    "slot parameters: UTF-8": "slot-command-not-utf8",
    "slot parameters: bounds": "slot-parameters-beyond-their-area",
    "slot parameters: of a passphrase": "passphrase-with-parameters",
    "slot parameters: offset": (
        "slot-parameters-behind-a-gap slot-parameters-overlapping slot-parameters-out-of-order "
        "slot-parameters-of-no-bytes"
    ),
    "slot parameters: zeros behind": "slot-parameters-with-bytes-behind slot-parameters-last-byte",
    "tail: frame behind": (
        "zeroed-record-in-the-middle zeroed-sector-in-the-middle torn-record-before-a-cut-one "
        "zeroed-record-before-a-faulty-one gap-between-records old-record-behind-the-end "
        "frame-behind-that-does-not-open"
    ),
    "tail: magics": "magics-behind-the-end",
    "totals: varint": "record-totals-varint record-totals-of-2-to-64",
    "transactions: beside a tree or a notice": "record-notice-with-entries tree-beside-transactions",
    "transactions: cut": "record-with-most-transactions",
    "tree root length: bounds": "tree-root-too-long",
    "tree root offset: bounds": "tree-outside-of-its-record tree-root-at-the-largest-offset",
    "tree: cut": "record-tree-missing",
    "tree: lacks an entry": "tree-without-an-entry",
    "tree: number of entries": "tree-count-too-high",
    "tree: of another header": "tree-of-another-header",
    "tree: older entry": "tree-with-a-stale-entry",
    "vault name: MAC": (
        "name-of-another-vault name-copied-flipped name-code-flipped name-of-a-former-header name-of-zeros"
    ),
    "version flags: for nothing": "version-attributes-for-nothing",
    "version flags: reserved": "version-flag-8",
    "value length: bounds": "value-of-too-many-bytes value-of-most-bytes",
    "value nonce: cut": "record-index-cut",
    "value offset: bounds": (
        "value-offset-0 value-in-the-header value-behind-the-end value-behind-the-end-in-a-checkpoint "
        "value-at-the-largest-offset value-at-2-to-61 checkpoint-with-a-later-value record-with-a-later-value "
        "tree-with-an-earlier-version-at-no-offset"
    ),
    "value: box": (
        "value-longer-than-its-box value-shorter-than-its-box value-flipped values-swapped "
        "earlier-version-flipped removed-version-flipped"
    ),
    "value: box of another name": "checkpoint-with-a-shared-box",
    "value: padding": "value-padding",
}

REASONS = {name: reason for reason, names in REFUSED.items() for name in names.split()}
