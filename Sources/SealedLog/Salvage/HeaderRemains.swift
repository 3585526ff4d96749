import LinuxSystem
import Sealing

/// What is left of the header and its copy: each can replace what the other has lost.
struct HeaderRemains {
    /// The vault before its first record.
    let view: LogView
    /// The slot that the key opened.
    let slot: KeySlot
    /// Whether the header's MAC is right. Otherwise the header is a guess, which may lead to outdated pages.
    let isAuthentic: Bool
    /// In words.
    let damage: [String]

    /// Tries the unlocker's credentials, one after the other.
    static func open(
        _ store: any RecordStore, with unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> HeaderRemains {
        let bytes = try store.available(at: 0, upTo: Header.size)
        let header = try? Header(parsing: bytes)
        let image = bytes + [UInt8](repeating: 0, count: Header.size - bytes.count)
        let locked = LockedVault(
            vaultID: header?.vaultID ?? [], slots: header?.slots ?? Header.readableSlots(in: image))
        while let credential = try unlocker.next(for: locked) {
            do throws(LogError) {
                let remains = try HeaderRemains(in: store, key: credential)
                try unlocker.check(remains.view.unlocked)
                return remains
            } catch {
                guard error.code == .keyWrong else { throw error }
            }
        }
        throw unlocker.failure
    }

    /// - Throws: `keyWrong` if the key opens no slot that is left; `newerFormat`; `damaged` if no more than a slot is
    ///   left; `unavailable`, `outOfMemory`.
    init(in store: any RecordStore, key: borrowing Credential) throws(LogError) {
        var image = try store.available(at: 0, upTo: 2 * Header.size)
        image.append(contentsOf: repeatElement(0, count: 2 * Header.size - image.count))
        let blocks = [Array(image[..<Header.size]), Array(image[Header.copyOffset...])]
        var opened: (keys: KeyRing, slot: KeySlot)?
        var found: Candidate?
        // All slots that are tried may cost no more than those of one header.
        var tried: [KeySlot] = []
        for slot in blocks.slots(for: key) where found == nil && (tried + [slot]).isBearable(for: key) {
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
    private static func keys(of slot: KeySlot, _ key: borrowing Credential) throws(LogError) -> KeyRing? {
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
    fileprivate func slots(for key: borrowing Credential) -> [KeySlot] {
        var different: [KeySlot] = []
        for slot in flatMap(Header.readableSlots) where !different.contains(slot) && key.mayOpen(slot) {
            if [slot].isBearable(for: key) { different.append(slot) }
        }
        return different.sorted { $0.limits.cost < $1.limits.cost }
    }
}

extension Header {
    static let slotCountOffset = 12
    private static let historyOffset = 128

    /// Returns the 4,096 bytes of a header with every field corrected that has only one right value: magic, version,
    /// reserved bytes, unused slots. The hint is cleared.
    static func normalised(_ bytes: [UInt8], slotCount: UInt8) -> [UInt8] {
        var header = Array(bytes[..<hintOffset]) + [UInt8](repeating: 0, count: size - hintOffset)
        var start = ByteWriter(reserving: 16)
        start.append(magic)
        start.integer(version)
        start.integer(UInt32(slotCount))
        header.replaceSubrange(..<start.count, with: start.bytes)
        header.clear(136..<slotsOffset)
        let versions: UInt32 = header.withUnsafeBytes { $0.integer(at: historyOffset) }
        if versions > Limits.earlierVersionCount {
            // As most vaults have it.
            var usual = ByteWriter(reserving: 8)
            usual.integer(KeptHistory.standard.versions)
            usual.integer(KeptHistory.standard.days)
            header.replaceSubrange(historyOffset..<historyOffset + usual.count, with: usual.bytes)
        }
        let used = min(Int(slotCount), Limits.slotCount)
        for index in 0..<used { header.normaliseSlot(at: slotOffset(index)) }
        header.clear(slotOffset(used)..<parametersOffset)
        let parameters = (0..<used).reduce(0) { size, index in
            size + header.withUnsafeBytes { Int($0.integer(at: slotOffset(index) + 4) as UInt16) }
        }
        header.clear(min(parametersOffset + parameters, macOffset)..<macOffset)
        return header
    }

    /// Returns the valid slots in a header's bytes, whatever the other bytes are.
    static func readableSlots(in bytes: [UInt8]) -> [KeySlot] {
        var header = bytes
        return (0..<Limits.slotCount).compactMap { index in
            let offset = slotOffset(index)
            header.normaliseSlot(at: offset)
            var reader = ByteReader(header, in: offset..<offset + KeySlot.size)
            return try? reader.keySlot(in: header, after: nil)
        }
    }

    private static func slotOffset(_ index: Int) -> Int { slotsOffset + index * KeySlot.size }
}

extension [UInt8] {
    fileprivate mutating func clear(_ range: Range<Int>) {
        replaceSubrange(range, with: repeatElement(0, count: range.count))
    }

    fileprivate mutating func normaliseSlot(at offset: Int) {
        clear(offset + 1..<offset + 2)
        clear(offset + 6..<offset + 8)
    }
}
