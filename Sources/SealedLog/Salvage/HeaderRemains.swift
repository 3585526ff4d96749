import Sealing

/// What header and copy still say: each makes up for what the other one has lost.
struct HeaderRemains {
    let keys: KeyRing
    /// The slot that the key opened.
    private let slot: KeySlot
    let header: Header
    let authenticator: Authenticator
    /// Whether its MAC holds. Otherwise it is a guess, which may lead to pages that are out of date.
    let isAuthentic: Bool
    /// What is wrong with them, in words.
    let damage: [String]

    /// - Throws: `keyWrong` if the key opens no slot that is left; `newerFormat`; `damaged` if nothing more than a slot
    ///   is left; `unavailable`, `outOfMemory`.
    static func find(in store: any RecordStore, key: borrowing KeyFile) throws(LogError) -> HeaderRemains {
        var image = try store.available(at: 0, upTo: 2 * Header.size)
        image.append(contentsOf: repeatElement(0, count: 2 * Header.size - image.count))
        let blocks = [Array(image[..<Header.size]), Array(image[Header.copyOffset...])]
        var opened: (KeyRing, KeySlot)?
        // All that are tried are to cost no more than those of a header may.
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
            if let guess = Candidate(Header.normalised(block, slotCount: Int(block[Header.slotCountPlace]))) {
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

    /// What the chain of records begins with. A header that is a guess is not to hide any of them.
    var origin: LogPosition { LogPosition(sequence: isAuthentic ? header.sequence : 0, authenticator: authenticator) }

    /// What a guess at the key file is to cost in a new vault.
    var limits: KeyDerivation.StretchLimits {
        slot.kind == KeyFile.Kind.other.rawValue ? slot.limits : .recommended
    }

    /// What the key slot is called; nil if that is lost.
    func label(in manifest: Manifest?) -> SlotLabel? {
        header.slots.firstIndex(of: slot).flatMap { manifest?.labels[$0] }
    }

    /// The vault as it is before its first record.
    func view(of store: any RecordStore) -> LogView {
        LogView(store: store, keys: keys, header: header, authenticator: authenticator)
    }

    /// The keys that a slot leads to; nil if it is of no use.
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

    /// The newest header whose MAC holds, of all that can be put together from both: byte by byte where few of them
    /// differ, otherwise in parts up to a sector.
    private static func authentic(_ blocks: [[UInt8]], _ keys: KeyRing) -> Candidate? {
        let counts = Set(blocks.map { $0[Header.slotCountPlace] })
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

/// A header's bytes, and what they say.
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
    /// Which of header and copy is not what it should be.
    fileprivate func damage(comparedTo sound: [UInt8]) -> [String] {
        let sound = sound[..<Header.hintOffset]
        return zip(self, ["the header at byte 0", "the header's copy at byte \(Header.copyOffset)"]).compactMap {
            $0[..<Header.hintOffset] == sound ? nil : $1
        }
    }

    /// The slots of both, each once, the cheap ones first: one that was made expensive is not to keep the others from
    /// being tried.
    fileprivate var slots: [KeySlot] {
        let all = flatMap(Header.slots).filter { Header.isBearable([$0]) }
        let different = all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
        func cost(_ slot: KeySlot) -> UInt64 { slot.kind == KeyFile.Kind.other.rawValue ? slot.limits.cost : 0 }
        return different.sorted { cost($0) < cost($1) }
    }
}
