import Sealing

/// What is left of the header and its copy: each can replace what the other has lost.
struct HeaderRemains {
    let keys: KeyRing
    /// The slot that the key opened.
    private let slot: KeySlot
    let header: Header
    let authenticator: Authenticator
    /// Whether its MAC is right. Otherwise the header is a guess, which may lead to outdated pages.
    let isAuthentic: Bool
    /// What is damaged, in words.
    let damage: [String]

    /// - Throws: `keyWrong` if the key opens no slot that is left; `newerFormat`; `damaged` if no more than a slot is
    ///   left; `unavailable`, `outOfMemory`.
    static func find(in store: any RecordStore, key: borrowing KeyFile) throws(LogError) -> HeaderRemains {
        var image = try store.available(at: 0, upTo: 2 * Header.size)
        image.append(contentsOf: repeatElement(0, count: 2 * Header.size - image.count))
        let blocks = [Array(image[..<Header.size]), Array(image[Header.copyOffset...])]
        var opened: (KeyRing, KeySlot)?
        // All slots that are tried may cost no more than those of one header.
        var tried: [KeySlot] = []
        for slot in blocks.slots where Header.isBearable(tried + [slot]) {
            tried.append(slot)
            guard let keys = try keys(of: slot, key) else { continue }
            opened = opened ?? (keys, slot)
            if let found = authentic(blocks, keys) {
                let damage = blocks.damage(comparedTo: found.bytes)
                return HeaderRemains(found, keys, slot, isAuthentic: true, damage: damage)
            }
        }
        guard let (keys, slot) = opened else {
            for block in blocks { try checkVersion(block) }
            guard blocks.contains(where: { $0.starts(with: Header.magic) }) else {
                throw LogError.damaged("it does not begin as a vault does")
            }
            throw LogError(.keyWrong)
        }
        for block in blocks {
            try checkVersion(block)
            if let guess = Candidate(Header.normalised(block, slotCount: Int(block[Header.slotCountOffset]))) {
                let damage = ["the header and its copy, at byte 0"]
                return HeaderRemains(guess, keys, slot, isAuthentic: false, damage: damage)
            }
        }
        throw LogError.damaged("of the header nothing but a key slot is left")
    }

    private init(_ found: Candidate, _ keys: KeyRing, _ slot: KeySlot, isAuthentic: Bool, damage: [String]) {
        self.keys = keys
        self.slot = slot
        header = found.header
        authenticator = found.bytes[Header.macOffset...].withUnsafeBytes { Authenticator($0) }
        self.isAuthentic = isAuthentic
        self.damage = damage
    }

    /// What the chain of records begins with. A guess must not hide any of them.
    var origin: LogPosition { LogPosition(sequence: isAuthentic ? header.sequence : 0, authenticator: authenticator) }

    /// The cost of a guess at the key file in a new vault.
    var limits: KeyDerivation.StretchLimits {
        slot.kind == KeyFile.Kind.other.rawValue ? slot.limits : .recommended
    }

    /// The label of the key slot; nil if it is lost.
    func label(in manifest: Manifest?) -> SlotLabel? {
        header.slots.firstIndex(of: slot).flatMap { manifest?.labels[$0] }
    }

    /// The vault before its first record.
    func view(of store: any RecordStore) -> LogView {
        LogView(store: store, keys: keys, header: header, authenticator: authenticator)
    }

    /// Derives the keys from a slot; nil if the key does not open it.
    private static func keys(of slot: KeySlot, _ key: borrowing KeyFile) throws(LogError) -> KeyRing? {
        do throws(LogError) {
            return try KeyRing { (dataKey, scratch) throws(LogError) in
                guard try slot.unwrap(with: key, into: dataKey, scratch: scratch) else { throw LogError(.keyWrong) }
            }
        } catch {
            guard error.code == .keyWrong else { throw error }
            return nil
        }
    }

    /// Returns the newest header with a right MAC, of all that can be combined from both: byte by byte if few bytes
    /// differ, otherwise in parts of up to a sector.
    private static func authentic(_ blocks: [[UInt8]], _ keys: KeyRing) -> Candidate? {
        let counts = Set(blocks.map { $0[Header.slotCountOffset] })
        let candidates = counts.compactMap { count in
            authentic(
                Header.normalised(blocks[0], slotCount: Int(count)),
                Header.normalised(blocks[1], slotCount: Int(count)), keys)
        }
        return candidates.max { $0.header.sequence < $1.header.sequence }
    }

    private static func authentic(_ first: [UInt8], _ second: [UInt8], _ keys: KeyRing) -> Candidate? {
        var (size, differing) = (1, differences(of: first, second, by: 1))
        // At most 256 choices, 5 µs each.
        while differing.count > 8 {
            size *= 8
            differing = differences(of: first, second, by: size)
        }
        var newest: Candidate?
        for choice in 0..<1 << differing.count {
            var bytes = first
            for (index, offset) in differing.enumerated() where choice >> index & 1 == 1 {
                bytes.replaceSubrange(offset..<offset + size, with: second[offset..<offset + size])
            }
            guard (try? Header.authenticate(bytes, with: keys)) != nil, let found = Candidate(bytes) else { continue }
            if newest.map({ $0.header.sequence < found.header.sequence }) ?? true { newest = found }
        }
        return newest
    }

    private static func differences(of first: [UInt8], _ second: [UInt8], by size: Int) -> [Int] {
        stride(from: 0, to: Header.size, by: size).filter { first[$0..<$0 + size] != second[$0..<$0 + size] }
    }

    private static func checkVersion(_ block: [UInt8]) throws(LogError) {
        do throws(LogError) { _ = try Header(parsing: block) } catch {
            if error.code == .newerFormat { throw error }
        }
    }
}

/// A header's bytes, and their fields.
private struct Candidate {
    let bytes: [UInt8]
    let header: Header

    init?(_ bytes: [UInt8]) {
        guard let header = try? Header(parsing: bytes) else { return nil }
        self.bytes = bytes
        self.header = header
    }
}

extension [[UInt8]] {
    /// Says which of header and copy differ from the sound one.
    fileprivate func damage(comparedTo sound: [UInt8]) -> [String] {
        let sound = sound[..<Header.hintOffset]
        return zip(self, ["the header at byte 0", "the header's copy at byte \(Header.copyOffset)"]).compactMap {
            $0[..<Header.hintOffset] == sound ? nil : $1
        }
    }

    /// The slots of both, each once, the cheap ones first: one that an attacker made expensive must not keep the others
    /// from being tried.
    fileprivate var slots: [KeySlot] {
        let all = flatMap(Header.slots).filter { Header.isBearable([$0]) }
        let different = all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
        func cost(_ slot: KeySlot) -> UInt64 { slot.kind == KeyFile.Kind.other.rawValue ? slot.limits.cost : 0 }
        return different.sorted { cost($0) < cost($1) }
    }
}

extension Header {
    static let slotCountOffset = 12
    private static let reservedRanges = [128..<256, 2_816..<4_032]

    /// Returns the 4,096 bytes of a header with every field corrected that has only one right value: magic, version,
    /// reserved bytes, unused slots. The hint is cleared.
    static func normalised(_ bytes: [UInt8], slotCount: Int) -> [UInt8] {
        var header = Array(bytes[..<hintOffset]) + [UInt8](repeating: 0, count: Hint.size)
        var start = ByteWriter(reserving: 12)
        start.append(magic)
        start.integer(version)
        header.replaceSubrange(..<start.count, with: start.bytes)
        for range in reservedRanges { header.clear(range) }
        header[slotCountOffset] = UInt8(truncatingIfNeeded: slotCount)
        header.clear(slotCountOffset + 1..<slotCountOffset + 4)
        for index in 0..<Limits.slotCount {
            let offset = slotOffset(index)
            if index < slotCount {
                header.normaliseSlot(at: offset)
            } else {
                header.clear(offset..<offset + Limits.slotSize)
            }
        }
        return header
    }

    /// Returns the valid slots in a header's bytes, whatever the other bytes are.
    static func slots(in bytes: [UInt8]) -> [KeySlot] {
        var header = bytes
        return (0..<Limits.slotCount).compactMap { index in
            let offset = slotOffset(index)
            header.normaliseSlot(at: offset)
            var reader = ByteReader(header, in: offset..<offset + Limits.slotSize)
            return try? reader.keySlot()
        }
    }

    private static func slotOffset(_ index: Int) -> Int { slotsOffset + index * Limits.slotSize }
}

extension [UInt8] {
    fileprivate mutating func clear(_ range: Range<Int>) {
        replaceSubrange(range, with: repeatElement(0, count: range.count))
    }

    fileprivate mutating func normaliseSlot(at offset: Int) {
        clear(offset + 1..<offset + 8)
        clear(offset + 144..<offset + Limits.slotSize)
        if (1...4).contains(self[offset]) { clear(offset + 112..<offset + 144) }
    }
}
