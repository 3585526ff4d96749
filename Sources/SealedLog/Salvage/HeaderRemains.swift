import LinuxSystem
import Sealing

/// The remains of a header and its copy. Each of the two may contain parts that the other has lost.
struct HeaderRemains {
    let view: LogView
    let slot: KeySlot
    /// Whether the header's MAC is valid. If not, the header is only a guess and may point to outdated pages.
    let isAuthentic: Bool
    /// The damaged parts, as sentence fragments.
    let damage: [String]
    /// The reason why all entries are doubtful even though the header is authentic; nil if there is no such reason.
    let doubt: String?

    /// Opens the remains of the header. Tries the unlocker's credentials one after the other.
    ///
    /// - Returns: the candidates for the newest header. There are several if the newest one cannot be determined. Among
    ///   headers under the same data key, the newest comes first, and the others are doubtful.
    static func open(
        _ store: any RecordStore, with unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> [HeaderRemains] {
        let images = try images(of: store)
        let header = images.lazy.compactMap { try? Header(parsing: $0) }.first
        let locked = LockedVault(vaultID: header?.vaultID ?? [], slots: images.slots)
        while let credential = try unlocker.next(for: locked) {
            do throws(LogError) {
                return try trusted(found(in: store, images, key: credential), by: &unlocker)
            } catch {
                guard error.code == .keyWrong else { throw error }
            }
        }
        throw unlocker.failure
    }

    /// Removes the headers that the unlocker does not trust. If none remains, throws the first error.
    private static func trusted(
        _ found: [HeaderRemains], by unlocker: inout some Unlocker & ~Copyable
    ) throws(LogError) -> [HeaderRemains] {
        var trusted: [HeaderRemains] = []
        var failure: LogError?
        for remains in found {
            do throws(LogError) {
                try unlocker.check(remains.view.unlocked)
                if remains.isAuthentic { try remains.view.store.checkName(of: remains.view.header) }
                trusted.append(remains)
            } catch { failure = failure ?? error }
        }
        if trusted.isEmpty, let failure { throw failure }
        return trusted
    }

    /// Opens the slots with a key, and returns the candidates for the newest header.
    ///
    /// - Parameter images: the possible combinations of the header and its copy, from ``images(of:)``.
    /// - Throws: `keyWrong` if the key opens no slot; `damaged` if the file does not begin like a vault, or if its
    ///   header is lost except for a key slot; `newerFormat`, `unavailable` or `outOfMemory`.
    private static func found(
        in store: any RecordStore, _ images: [[UInt8]], key: borrowing Credential
    ) throws(LogError) -> [HeaderRemains] {
        let blocks = [images[0], images[images.count - 1]]
        var opened: (keys: KeyRing, slot: KeySlot)?
        var headers: [AuthenticHeader] = []
        var memoryKeys: Set<[UInt8]> = []
        var budget = SlotBudget([[blocks[0]].slots, [blocks[1]].slots, images.slots])
        for slot in images.slots(for: key) where budget.bears(slot, for: key) {
            guard let keys = try unless(.keyWrong, [slot].unlock(with: key)) else { continue }
            if opened == nil { opened = (keys, slot) }
            guard memoryKeys.insert(keys.memoryKey).inserted else { continue }
            headers += try AuthenticHeader.all(images, keys, slot, in: store)
        }
        guard let opened else {
            for block in blocks { try checkVersion(block) }
            let isVault = blocks.contains { $0.starts(with: Header.magic) }
            throw isVault ? LogError(.keyWrong) : .damaged("it does not begin with the magic of a vault")
        }
        let newest = headers.newest
        if newest.isEmpty { return [try HeaderRemains(guessing: blocks, opened.keys, opened.slot, in: store)] }
        return newest.map { header in
            let isSure = header.follows(memoryKeys)
            return HeaderRemains(header, blocks, isSure: isSure, in: store)
        }
    }

    private init(_ found: AuthenticHeader, _ blocks: [[UInt8]], isSure: Bool, in store: any RecordStore) {
        isAuthentic = true
        if found.isFormer {
            doubt = "everything that only a newer header refers to"
        } else {
            doubt = isSure ? nil : "a key slot whose data key is neither this header's current nor a former one"
        }
        let names = ["the header at byte 0", "the header's copy at byte \(Header.copyOffset)"]
        damage = zip(blocks, names).filter { $0.0 != found.candidate.bytes }.map(\.1)
        slot = found.slot
        view = found.candidate.view(of: store, found.keys)
    }

    private init(
        guessing blocks: [[UInt8]], _ keys: KeyRing, _ slot: KeySlot, in store: any RecordStore
    ) throws(LogError) {
        var found: Header.Candidate?
        for block in blocks where found == nil {
            try HeaderRemains.checkVersion(block)
            found = Header.Candidate(repairing: block)
        }
        guard let found else { throw LogError.damaged("the header is lost except for a key slot") }
        isAuthentic = false
        doubt = nil
        damage = ["the header and its copy, at byte 0"]
        self.slot = slot
        view = found.view(of: store, keys)
    }

    /// The log position before the first record. Its number is 0 without an authentic header, so no record is skipped.
    var origin: LogPosition {
        isAuthentic ? view.origin : LogPosition(sequence: 0, authenticator: view.origin.authenticator)
    }

    /// Reads the manifest. If it is damaged, returns a description of the damage instead.
    func manifest() throws(LogError) -> (Manifest?, fault: String?) {
        do throws(LogError) { return (try view.manifest(), nil) } catch {
            guard error.code == .damaged else { throw error }
            return (nil, error.detail)
        }
    }

    /// Returns the manifest for a new vault with one slot. The slot keeps its label if the old manifest can be read.
    func newManifest(after old: Manifest?) -> Manifest {
        let now = Clock.milliseconds
        let index = view.header.slots.firstIndex(of: slot)
        let label = index.flatMap { old?.labels[$0] } ?? SlotLabel(created: now, text: "")
        return Manifest(created: old?.created ?? now, labels: [label], settings: old?.settings ?? [])
    }

    /// Returns the parts of the old vault that a salvage cannot copy to the new vault, which has only one key slot.
    func leftBehind(_ old: Manifest?) -> [SalvageReport.Part] {
        let header = view.header
        let parts: [(part: SalvageReport.Part, isLeft: Bool)] = [
            (.header, !isAuthentic), (.manifest, old == nil), (.members, header.hasMembers),
            (.keys, header.slots.count > 1), (.accesses, header.isAccessLogged),
        ]
        return parts.filter(\.isLeft).map(\.part)
    }

    /// Returns all combinations of the header and its copy; the first is the header, the last its copy. Combines single
    /// bytes if few differ, otherwise blocks of up to a sector. The hint is always zero, as the copy has none.
    private static func images(of store: any RecordStore) throws(LogError) -> [[UInt8]] {
        let found = try store.available(at: 0, upTo: 2 * Header.size)
        let image = found + [UInt8](repeating: 0, count: 2 * Header.size - found.count)
        let blocks = [0, Header.copyOffset].map { start in
            Array(image[start..<start + Header.hintOffset])
                + [UInt8](repeating: 0, count: Header.size - Header.hintOffset)
        }
        var size = 1
        while differences(of: blocks, by: size).count > 8 { size *= 8 }
        let differing = differences(of: blocks, by: size)
        return (0..<1 << differing.count).map { [size] choice in
            var bytes = blocks[0]
            for (index, offset) in differing.enumerated() where choice >> index & 1 == 1 {
                bytes.replaceSubrange(offset..<offset + size, with: blocks[1][offset..<offset + size])
            }
            return bytes
        }
    }

    private static func differences(of blocks: [[UInt8]], by size: Int) -> [Int] {
        stride(from: 0, to: Header.size, by: size).filter { offset in
            blocks[0][offset..<offset + size] != blocks[1][offset..<offset + size]
        }
    }

    private static func checkVersion(_ block: [UInt8]) throws(LogError) {
        do throws(LogError) { _ = try Header(parsing: block) } catch { if error.code == .newerFormat { throw error } }
    }
}

extension [[UInt8]] {
    /// The distinct key slots in these header images, even if other parts are damaged. The first image's come first.
    fileprivate var slots: [KeySlot] {
        var different: [KeySlot] = []
        for slot in flatMap(Header.slots) where !different.contains(slot) { different.append(slot) }
        return different
    }

    /// Returns the slots that a key may open, cheapest first. In any other order, a slot that an attacker made
    /// expensive could use up the budget for the others.
    fileprivate func slots(for key: borrowing Credential) -> [KeySlot] {
        var possible: [KeySlot] = []
        for slot in slots where key.mayOpen(slot) && [slot].isBearable(for: key) { possible.append(slot) }
        return possible.sorted { $0.limits.cost < $1.limits.cost }
    }
}

/// A limit on the cost of trying slots. The header, its copy and their combinations may each cost at most as much as
/// one header's slots. Without this limit, a person whose access was removed could fill a header under a former data
/// key with expensive slots, which would prevent the vault's own slots from being tried.
private struct SlotBudget {
    private let sources: [[KeySlot]]
    private var tried: [[KeySlot]]

    init(_ sources: [[KeySlot]]) {
        self.sources = sources
        tried = sources.map { _ in [] }
    }

    mutating func bears(_ slot: KeySlot, for key: borrowing Credential) -> Bool {
        for source in sources.indices where sources[source].contains(slot) {
            guard (tried[source] + [slot]).isBearable(for: key) else { continue }
            tried[source].append(slot)
            return true
        }
        return false
    }
}

extension Header {
    fileprivate static func slots(in bytes: [UInt8]) -> [KeySlot] {
        stride(from: slotsOffset, to: parametersOffset, by: KeySlot.size).compactMap { offset in
            let range = offset..<offset + KeySlot.size
            guard bytes[range].contains(where: { $0 != 0 }) else { return nil }
            var reader = ByteReader(bytes, in: range)
            return try? reader.keySlot(in: bytes, after: nil)
        }
    }
}
