import LinuxSystem
import Sealing

/// What is left of the header and its copy: each can replace what the other has lost.
struct HeaderRemains {
    /// The vault before its first record.
    let view: LogView
    /// The slot that the key opened.
    private let slot: KeySlot
    /// Whether the header's MAC is right. Otherwise the header is a guess, which may lead to outdated pages.
    let isAuthentic: Bool
    /// In words.
    let damage: [String]

    /// - Throws: `keyWrong` if the key opens no slot that is left; `newerFormat`; `damaged` if no more than a slot is
    ///   left; `unavailable`, `outOfMemory`.
    init(in store: any RecordStore, key: borrowing KeyFile) throws(LogError) {
        var image = try store.available(at: 0, upTo: 2 * Header.size)
        image.append(contentsOf: repeatElement(0, count: 2 * Header.size - image.count))
        let blocks = [Array(image[..<Header.size]), Array(image[Header.copyOffset...])]
        var opened: (keys: KeyRing, slot: KeySlot)?
        var found: Candidate?
        // All slots that are tried may cost no more than those of one header.
        var tried: [KeySlot] = []
        for slot in blocks.slots where found == nil && (tried + [slot]).isBearable {
            tried.append(slot)
            guard let keys = try HeaderRemains.keys(of: slot, key) else { continue }
            found = HeaderRemains.authentic(blocks, keys)
            if found != nil || opened == nil { opened = (keys, slot) }
        }
        guard let opened else {
            for block in blocks { try HeaderRemains.checkVersion(block) }
            let isVault = blocks.contains { $0.starts(with: Header.magic) }
            throw isVault ? LogError(.keyWrong) : .damaged("it does not begin as a vault does")
        }
        isAuthentic = found != nil
        let names = ["the header at byte 0", "the header's copy at byte \(Header.copyOffset)"]
        let damaged = found.map { found in
            zip(blocks, names).filter { $0.0[..<Header.hintOffset] != found.bytes[..<Header.hintOffset] }.map(\.1)
        }
        damage = damaged ?? ["the header and its copy, at byte 0"]
        for block in blocks where found == nil {
            try HeaderRemains.checkVersion(block)
            found = HeaderRemains.candidate(Header.normalised(block, slotCount: block[Header.slotCountOffset]))
        }
        guard let found else { throw LogError.damaged("of the header nothing but a key slot is left") }
        slot = opened.slot
        let authenticator = found.bytes[Header.macOffset...].withUnsafeBytes { Authenticator($0) }
        view = LogView(store: store, keys: opened.keys, header: found.header, authenticator: authenticator)
    }

    /// What the chain of records begins with. A guess must not hide any of them.
    var origin: LogPosition {
        isAuthentic ? view.origin : LogPosition(sequence: 0, authenticator: view.origin.authenticator)
    }

    /// The cost of a guess at the key file in a new vault.
    var limits: KeyDerivation.StretchLimits { slot.kind == KeyFile.Kind.other.rawValue ? slot.limits : .recommended }

    /// Reads the manifest, or says what is wrong with it.
    func manifest() throws(LogError) -> (Manifest?, fault: String?) {
        do throws(LogError) { return (try view.manifest(), nil) } catch {
            guard error.code == .damaged else { throw error }
            return (nil, error.detail)
        }
    }

    /// Returns the manifest of a new vault with one slot, which keeps its label unless that is lost.
    func newManifest(after old: Manifest?) -> Manifest {
        let now = Clock.milliseconds
        let index = view.header.slots.firstIndex(of: slot)
        let label = index.flatMap { old?.labels[$0] } ?? SlotLabel(created: now, text: "")
        return Manifest(
            created: old?.created ?? now, totals: Totals(), chain: [], labels: [label], settings: old?.settings ?? [])
    }

    /// Derives the keys from a slot; nil if the key does not open it.
    private static func keys(of slot: KeySlot, _ key: borrowing KeyFile) throws(LogError) -> KeyRing? {
        do throws(LogError) { return try [slot].unlock(with: key) } catch {
            guard error.code == .keyWrong else { throw error }
            return nil
        }
    }

    /// A header's bytes, and their fields.
    private typealias Candidate = (bytes: [UInt8], header: Header)

    private static func candidate(_ bytes: [UInt8]) -> Candidate? { (try? Header(parsing: bytes)).map { (bytes, $0) } }

    /// Returns the newest header with a right MAC, of all that can be combined from both: byte by byte if few bytes
    /// differ, otherwise in parts of up to a sector.
    private static func authentic(_ blocks: [[UInt8]], _ keys: KeyRing) -> Candidate? {
        let counts = Set(blocks.map { $0[Header.slotCountOffset] })
        let candidates = counts.flatMap { count in
            combinations(
                of: Header.normalised(blocks[0], slotCount: count), Header.normalised(blocks[1], slotCount: count)
            ).compactMap { (try? Header.authenticate($0, with: keys)) == nil ? nil : candidate($0) }
        }
        return candidates.max { $0.header.sequence < $1.header.sequence }
    }

    /// At most 256, which take 5 µs each to authenticate.
    private static func combinations(of first: [UInt8], _ second: [UInt8]) -> some Sequence<[UInt8]> {
        var size = 1
        while differences(of: first, second, by: size).count > 8 { size *= 8 }
        let differing = differences(of: first, second, by: size)
        return (0..<1 << differing.count).lazy.map { [size] choice in
            var bytes = first
            for (index, offset) in differing.enumerated() where choice >> index & 1 == 1 {
                bytes.replaceSubrange(offset..<offset + size, with: second[offset..<offset + size])
            }
            return bytes
        }
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

extension [[UInt8]] {
    /// The slots of both, each once, the cheap ones first: one that an attacker made expensive must not keep the others
    /// from being tried.
    fileprivate var slots: [KeySlot] {
        let all = flatMap(Header.slots).filter { [$0].isBearable }
        let different = all.indices.filter { !all[..<$0].contains(all[$0]) }.map { all[$0] }
        func cost(_ slot: KeySlot) -> UInt64 { slot.kind == KeyFile.Kind.other.rawValue ? slot.limits.cost : 0 }
        return different.sorted { cost($0) < cost($1) }
    }
}

extension Header {
    static let slotCountOffset = 12

    /// Returns the 4,096 bytes of a header with every field corrected that has only one right value: magic, version,
    /// reserved bytes, unused slots. The hint is cleared.
    static func normalised(_ bytes: [UInt8], slotCount: UInt8) -> [UInt8] {
        var header = Array(bytes[..<hintOffset]) + [UInt8](repeating: 0, count: Hint.size)
        var start = ByteWriter(reserving: 16)
        start.append(magic)
        start.integer(version)
        start.integer(UInt32(slotCount))
        header.replaceSubrange(..<start.count, with: start.bytes)
        header.clear(128..<slotsOffset)
        let used = min(Int(slotCount), Limits.slotCount)
        for index in 0..<used { header.normaliseSlot(at: slotOffset(index)) }
        header.clear(slotOffset(used)..<macOffset)
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
