import Foundation
import Sealing

/// A vault file whose boxes hold their plaintext, so that a fuzzer can change what is sealed.
///
/// The bytes are the first 128 of the header, the first 16 of the hint, and all behind the header's copy. A box is 16
/// zero bytes and the plaintext. What follows from other bytes (slots, MAC, hashes, checksums, the authenticators of
/// the record before and of the header) is left out or zero, and set anew; where it is not zero it stays as it is.
///
/// Written from Format.md: it shares no code with the parsers that it feeds.
struct OpenedVault {
    private enum Direction { case opening, sealing }

    private var file: [UInt8]
    private let keys: [Purpose: [UInt8]]
    private let direction: Direction
    private var done: Set<Int> = []

    enum Purpose: UInt64, CaseIterable {
        case record = 1
        case page, value, header, memory
    }

    private static let start = 8_192
    private static let headSize = 128 + 16

    /// Returns the opened form of a vault; nil if the key file is not a generated one, or opens no slot.
    static func opening(_ vault: [UInt8], keyFile: [UInt8]) -> [UInt8]? {
        guard vault.count > start, let dataKey = VaultKeys.dataKey(in: vault, keyFile: keyFile) else { return nil }
        var opened = OpenedVault(file: vault, keys: VaultKeys.subkeys(of: dataKey), direction: .opening)
        opened.walk()
        return Array(opened.file[..<128]) + opened.file[4_064..<4_080] + opened.file[start...]
    }

    /// Returns the vault of an opened form, under ``VaultKeys/keyFile``.
    static func sealing(_ opened: [UInt8]) -> [UInt8]? {
        guard opened.count >= headSize else { return nil }
        let fields = Array(opened[..<128])
        let slotCount = min(Int(fields.number(at: 12, size: 4)), 16)
        let slots = [[UInt8]](repeating: VaultKeys.slot, count: slotCount).flatMap { $0 }
        var header = fields + [UInt8](repeating: 0, count: 128) + slots
        header += [UInt8](repeating: 0, count: 4_032 - header.count)
        header += hash(header, key: VaultKeys.subkeys[.header] ?? [])
        let hint = Array(opened[128..<headSize]) + [UInt8](repeating: 0, count: 16)
        let copy = header + [UInt8](repeating: 0, count: 32)
        var sealed = OpenedVault(
            file: header + hint + copy + opened[headSize...], keys: VaultKeys.subkeys, direction: .sealing)
        sealed.walk()
        return sealed.file
    }

    private init(file: [UInt8], keys: [Purpose: [UInt8]], direction: Direction) {
        self.file = file
        self.keys = keys
        self.direction = direction
    }

    private mutating func walk() {
        let header = Array(file[4_032..<4_048])
        page(headerReference(at: 80), isTree: false)
        page(headerReference(at: 40))
        var offset = Int(clamping: file.number(at: 120))
        var last = header
        while offset >= OpenedVault.start, offset <= file.count - 48, file[offset...].starts(with: "vrec".utf8) {
            let index = Int(file.number(at: offset + 4, size: 4))
            let payload = Int(clamping: file.number(at: offset + 8))
            guard index >= 80, index <= file.count, payload <= file.count - offset - 48 - index else { return }
            overwrite(
                offset + 16, 8,
                to: OpenedVault.checksum(of: Array(file[offset..<offset + 16]), key: Array(file[16..<32])))
            let box = offset + 48
            let end = box + index + payload
            last = record(box..<box + index, payload: box + index..<end, previous: last, header: header)
            offset = end
        }
    }

    /// Returns the record's authenticator.
    private mutating func record(
        _ box: Range<Int>, payload: Range<Int>, previous: [UInt8], header: [UInt8]
    ) -> [UInt8] {
        let nonce = Array(file[box.lowerBound - 24..<box.lowerBound])
        let tag = Array(file[box.prefix(16)])
        let plain = box.lowerBound + 16
        let hash = OpenedVault.hash(Array(file[payload]))
        if direction == .opening { turn(box, .record, nonce) }
        var fields = Fields(file, plain + 57..<box.upperBound)
        try? totals(&fields)
        try? transactions(&fields)
        if file[plain + 56] & 1 != 0, fields.remaining >= 16 {
            overwrite(fields.offset, 16, to: header)
            try? fields.skip(16)
            page(try? fields.reference())
        }
        if direction == .opening {
            overwrite(plain + 24, 32, to: hash)
            overwrite(plain + 8, 16, to: previous)
            return tag
        }
        overwrite(plain + 8, 16, to: previous)
        overwrite(plain + 24, 32, to: OpenedVault.hash(Array(file[payload])))
        turn(box, .record, nonce)
        return Array(file[box.prefix(16)])
    }

    private mutating func page(_ reference: Reference?, isTree: Bool = true) {
        guard let reference, reference.length > 20, let box = box(reference.offset, reference.length) else { return }
        if direction == .opening { turn(box, .page, reference.nonce) }
        if isTree { cells(box.lowerBound + 16..<box.upperBound) }
        if direction == .sealing { turn(box, .page, reference.nonce) }
    }

    private mutating func cells(_ page: Range<Int>) {
        let count = Int(file.number(at: page.lowerBound + 2, size: 2))
        for index in 0..<count where page.lowerBound + 6 + index * 2 <= page.upperBound {
            let start = page.lowerBound + Int(file.number(at: page.lowerBound + 4 + index * 2, size: 2))
            guard start < page.upperBound else { continue }
            var cell = Fields(file, start..<page.upperBound)
            if file[page.lowerBound] == 0 {
                try? entry(&cell)
            } else {
                try? cell.skipText()
                self.page(try? cell.reference())
            }
        }
    }

    private mutating func transactions(_ fields: inout Fields) throws(Fields.Cut) {
        try fields.list { (fields) throws(Fields.Cut) in
            try fields.list { (fields) throws(Fields.Cut) in try entry(&fields) }
        }
    }

    private mutating func entry(_ fields: inout Fields) throws(Fields.Cut) {
        try fields.skipText()
        let flags = try fields.byte()
        _ = try fields.varint()
        _ = try fields.varint()
        if flags & 1 == 0 {
            _ = try fields.varint()
            try version(&fields)
            if flags & 4 != 0 { _ = try fields.varint() }
            if flags & 2 != 0 { try attributes(&fields) }
        }
        guard flags & 8 != 0 else { return }
        try fields.list { (fields) throws(Fields.Cut) in
            _ = try fields.varint()
            let flags = try fields.byte()
            try version(&fields)
            if flags & 2 != 0 { _ = try fields.varint() }
            if flags & 1 != 0 { try attributes(&fields) }
        }
    }

    private func attributes(_ fields: inout Fields) throws(Fields.Cut) {
        try fields.list { (fields) throws(Fields.Cut) in
            try fields.skipText()
            try fields.skipText()
        }
    }

    private mutating func version(_ fields: inout Fields) throws(Fields.Cut) {
        _ = try fields.byte()
        let nonce = try fields.bytes(24)
        let offset = try fields.varint()
        let length = try fields.varint()
        guard offset < 1 << 32, length < 1 << 24, let box = box(Int(offset) * 16, max(16, Int(length + 15) & ~15) + 16)
        else { return }
        turn(box, .value, nonce)
    }

    private func totals(_ fields: inout Fields) throws(Fields.Cut) { for _ in 0..<3 { _ = try fields.varint() } }

    // MARK: Bytes

    private func headerReference(at offset: Int) -> Reference {
        Reference(
            offset: Int(clamping: file.number(at: offset)), length: Int(clamping: file.number(at: offset + 8)),
            nonce: Array(file[offset + 16..<offset + 40]))
    }

    /// Returns a box that is inside the file; nil for one that was there before.
    private mutating func box(_ offset: Int, _ length: Int) -> Range<Int>? {
        guard offset >= OpenedVault.start, length >= 16, length <= file.count, offset <= file.count - length,
            done.insert(offset).inserted
        else { return nil }
        return offset..<offset + length
    }

    /// Opens or seals a box in place. One that does not open stays as it is.
    private mutating func turn(_ box: Range<Int>, _ purpose: Purpose, _ nonce: [UInt8]) {
        let nonce = nonce.withUnsafeBytes { Nonce($0) }
        let key = keys[purpose] ?? []
        if direction == .opening {
            var plain = [UInt8](repeating: 0, count: box.count - 16)
            let isOpen: Void? = try? file[box].withUnsafeBytes { box in
                try key.withUnsafeBytes { key in
                    try plain.withUnsafeMutableBytes { try SecretBox.open(box, nonce: nonce, key: key, into: $0) }
                }
            }
            if isOpen != nil { file.replaceSubrange(box, with: [UInt8](repeating: 0, count: 16) + plain) }
        } else {
            file.replaceSubrange(box, with: VaultKeys.sealed(Array(file[box].dropFirst(16)), nonce: nonce, key: key))
        }
    }

    /// Opening: clears what is as it follows from other bytes. Sealing: sets it where it is clear.
    private mutating func overwrite(_ offset: Int, _ count: Int, to bytes: [UInt8]) {
        let zeros = [UInt8](repeating: 0, count: count)
        let (from, to) = direction == .opening ? (bytes, zeros) : (zeros, bytes)
        if file[offset..<offset + count].elementsEqual(from) { file.replaceSubrange(offset..<offset + count, with: to) }
    }

    static func hash(_ bytes: [UInt8], key: [UInt8] = [], size: Int = 32) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: size)
        try? bytes.withUnsafeBytes { bytes in
            try key.withUnsafeBytes { key in
                try hash.withUnsafeMutableBytes { try KeyedHash.hash(bytes, key: key, into: $0) }
            }
        }
        return hash
    }

    static func checksum(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        let sum = try? bytes.withUnsafeBytes { bytes in try key.withUnsafeBytes { try ShortHash.hash(bytes, key: $0) } }
        return withUnsafeBytes(of: (sum ?? 0).littleEndian) { Array($0) }
    }
}

/// Where a page is.
struct Reference {
    let offset: Int
    let length: Int
    let nonce: [UInt8]
}

/// Reads fields, whatever they hold.
struct Fields {
    struct Cut: Error {}

    private let all: [UInt8]
    private(set) var offset: Int
    private let end: Int
    var remaining: Int { end - offset }

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        all = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    mutating func skip(_ count: Int) throws(Cut) {
        guard count >= 0, count <= remaining else { throw Cut() }
        offset += count
    }

    mutating func byte() throws(Cut) -> UInt8 {
        try skip(1)
        return all[offset - 1]
    }

    mutating func bytes(_ count: Int) throws(Cut) -> [UInt8] {
        try skip(count)
        return Array(all[offset - count..<offset])
    }

    mutating func varint() throws(Cut) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            let byte = try byte()
            value |= UInt64(byte & 0x7f) &<< shift
            if byte < 0x80 { return value }
        }
        throw Cut()
    }

    mutating func skipText() throws(Cut) { try skip(Int(clamping: varint())) }

    mutating func reference() throws(Cut) -> Reference {
        let offset = try varint()
        let length = try varint()
        guard offset < 1 << 32, length < 1 << 32 else { throw Cut() }
        return Reference(offset: Int(offset) * 16, length: Int(length) * 16, nonce: try bytes(24))
    }

    mutating func list(_ read: (inout Fields) throws(Cut) -> Void) throws(Cut) {
        for _ in 0..<min(try varint(), UInt64(max(remaining, 0))) { try read(&self) }
    }
}
