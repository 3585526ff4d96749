import SealedFormat
import Sealing

// What one person hands on to another.

extension FuzzTarget {
    /// What is in a drop, behind the seal: whoever knows the recipient can write it.
    static let drop = FuzzTarget(name: "drop") {
        let attributes = [[], [Attribute(key: "host", value: "ci"), Attribute(key: "user", value: "")]]
        return try attributes.map { attributes in
            guard let name = EntryName("ci/token") else { return [] }
            let value = try SecretBytes(copyOf: Array("canary".utf8))
            return try DropContents(name: name, kind: 1, attributes: attributes, value: value, created: 1 << 40)
                .encoded().unsafeArray()
        }
    } feed: { input, _ in
        guard let drop = try? DropContents(parsing: SecretBytes(copyOf: input)) else { return }
        guard let written = try? drop.encoded().unsafeArray() else { return }
        check(written == input, "a drop is not written as it was read")
    }

    /// Texts with shares of a key file.
    static let share = FuzzTarget(name: "share") {
        let key = try KeyFile.parse(SecretBytes(copyOf: VaultKeys.keyFile), from: "the target's key")
        let shares = try key.shares(5, threshold: 3)
        let texts = try [1, 3, 5].map { try shares.text(at: $0).unsafeArray() }
        return [texts.flatMap(\.self), texts[0] + texts[1], texts[2]]
    } feed: { input, _ in
        guard let key = try? KeyFile.join(SecretBytes(copyOf: input)) else { return }
        // A fuzzer cannot make a share, so what is joined is the key of the seeds.
        let line = try key.text().unsafeArray().split(separator: UInt8(ascii: "\n")).last
        check(line.map { $0 + "\n".utf8 } == VaultKeys.keyFile[...], "other shares are joined to a key")
    }
}
