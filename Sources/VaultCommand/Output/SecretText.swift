import Vault

/// Text of unknown length that is composed in guarded memory.
struct SecretText: ~Copyable {
    private var held: SecretBytes
    private var used = 0

    init() throws { held = try SecretBytes(zeroCount: 64 << 10) }
    mutating func append(_ text: String) throws { try append(Array(text.utf8)) }
    mutating func append(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try append($0) } }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        try reserve(bytes.count)
        let used = used
        held.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[used...]).copyMemory(from: bytes) }
        self.used += bytes.count
    }

    mutating func append(_ bytes: borrowing SecretBytes) throws { try bytes.withUnsafeBytes { try append($0) } }

    mutating func append(json text: String) throws { try append(Array("\"".utf8) + Escaping.json(text) + "\"".utf8) }

    private mutating func reserve(_ count: Int) throws {
        guard held.count - used < count else { return }
        var larger = try SecretBytes(zeroCount: max(held.count * 2, used + count))
        larger.withUnsafeMutableBytes { larger in held.withUnsafeBytes { larger.copyMemory(from: $0) } }
        held = larger
    }

    consuming func finish() -> SecretBytes {
        held.truncate(to: used)
        return held
    }
}
