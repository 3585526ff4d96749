package import Sealing

/// Where the sealed bytes of a value lie, how long the value is, and the nonce that it opens under.
package struct StoredVersion: Hashable, Sendable {
    package var kind: UInt8
    package var nonce: Nonce
    var offset: UInt64
    /// The value's length in bytes, without padding and tag.
    package var length: Int

    /// The length of the box in the file.
    package var boxLength: Int { StoredVersion.boxLength(of: length) }

    /// The length of the box of a value: padded to 16, at least 16, and the tag.
    static func boxLength(of length: Int) -> Int {
        SecretBytes.paddedSize(length) + SecretBox.tagSize
    }
}

/// A version that a newer one took the place of.
struct EarlierVersion: Hashable, Sendable {
    let modified: UInt64
    var version: StoredVersion
}

/// One attribute of an entry; sealed with its name.
package struct Attribute: Hashable, Sendable {
    package let key: String
    package let value: String

    package init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

/// What the vault knows of one name.
package struct Entry: Hashable, Sendable {
    /// What a present entry has and a removed one lacks.
    package struct Content: Hashable, Sendable {
        package var created: UInt64
        package var current: StoredVersion
        var expiry: UInt64?
        var earlier: [EarlierVersion] = []
        /// Their keys ascend.
        package var attributes: [Attribute]
    }

    package let name: EntryName
    /// Milliseconds since 1970.
    package let modified: UInt64
    /// nil for a tombstone: the name was removed.
    package var content: Content?

    package var isRemoved: Bool { content == nil }

    /// The present version and the earlier ones; none of a tombstone.
    var versions: [StoredVersion] {
        guard let content else { return [] }
        return [content.current] + content.earlier.map(\.version)
    }

    /// What the entry takes in a compacted file: its encoding, with every offset counted as one byte, and the boxes of
    /// its values. Offsets change their length as values move; this must not.
    var footprint: UInt64 {
        guard let content else { return 0 }
        var placeless = self
        placeless.content?.current.offset = 0
        for index in content.earlier.indices { placeless.content?.earlier[index].version.offset = 0 }
        var writer = ByteWriter(reserving: 128)
        writer.entry(placeless)
        let boxes = content.earlier.reduce(content.current.boxLength) { $0 + $1.version.boxLength }
        return UInt64(writer.count + boxes)
    }
}
