import LinuxSystem
import Sealing

/// An entry from another copy. Each version that this vault also has is replaced with this vault's version.
///
/// Other versions are resealed if the copies' data keys differ. Otherwise, a value in both usually has the same nonce.
struct ForeignEntry {
    private(set) var entry: Entry
    private var sealed: [Nonce: [UInt8]] = [:]

    init(_ entry: Entry, of copy: inout CopiedValues, knownAs old: Entry?, in ours: LogView) throws(LogError) {
        self.entry = entry
        let known = old?.states ?? []
        var states = entry.states[...]
        var boxes: [Nonce: [UInt8]] = [:]
        try self.entry.forEachVersion { (version) throws(LogError) in
            guard let state = states.popFirst() else { return }
            if let own = try copy.ownVersion(of: state, among: known, in: ours) {
                version = own
                return
            }
            guard let resealed = try copy.resealed(version) else { return }
            version = resealed.version
            boxes[version.nonce] = resealed.box
        }
        sealed = boxes
    }

    /// Reduces the entry to the part that `gate` admits. Leaves the entry unchanged if the gate admits nothing.
    ///
    /// - Parameter copied: the entry as stored in the copy.
    mutating func pass(
        _ gate: MergeGate, _ copied: Entry, knownAs own: Entry?, _ values: inout CopiedValues
    ) throws(LogError) -> MergeGate.Admission {
        let admitted = try gate.admitted(copied, as: entry, knownAs: own, &values)
        if let admitted = admitted.entry { entry = admitted }
        return admitted
    }

    /// Returns the boxes of a merged entry's versions, the current one first; nil for versions already in this vault's
    /// file. Throws `damaged` if a value from the copy, or an earlier value that becomes current, cannot be opened.
    func newBoxes(
        in entry: Entry, replacing old: Entry?, in ours: LogView, from copy: inout CopiedValues
    ) throws(LogError) -> [[UInt8]?] {
        var boxes: [[UInt8]?] = []
        let restored = entry.content.map(\.current).flatMap { $0.nonce == old?.content?.current.nonce ? nil : $0 }
        for version in entry.versions {
            // A resealed box replaces this vault's version with the same nonce, because that version may be damaged.
            if let box = sealed[version.nonce] {
                boxes.append(box)
            } else if let old, old.has(version) {
                if version.nonce == restored?.nonce { _ = try ours.valueHash(of: version) }
                boxes.append(nil)
            } else {
                boxes.append(try copy.box(of: version))
            }
        }
        return boxes
    }
}

/// The values of another copy of a vault. Only values that can be opened are merged.
struct CopiedValues: ~Copyable {
    private let copy: LogView
    private var opener: ValueOpener
    /// The resealer of the copy's values; nil if the vault has the same data key.
    private var resealer: ValueResealer?

    /// - Parameter keys: the keys of the vault into which the values are merged; nil if the copy has the same data key.
    init(of copy: LogView, resealing keys: KeyRing?) throws(LogError) {
        let resealer = try CopiedValues.resealer(of: copy, keys)
        opener = try ValueOpener(of: copy.store, keys: copy.keys)
        self.copy = copy
        self.resealer = resealer
    }

    private static func resealer(of copy: LogView, _ keys: KeyRing?) throws(LogError) -> ValueResealer? {
        guard let keys else { return nil }
        return try ValueResealer(of: copy.store, from: copy.keys, to: keys)
    }

    /// Returns a value's box. Throws `damaged` if the box cannot be opened.
    mutating func box(of version: StoredVersion) throws(LogError) -> [UInt8] { try opener.open(version) }

    /// Returns the statement that a state's signature covers. Throws `damaged` if the state's value cannot be opened.
    func statement(of state: SignedState) throws(LogError) -> Statement {
        let hash = try state.content.map { (content) throws(LogError) in try copy.valueHash(of: content.current) } ?? []
        return state.statement(valueHash: hash, in: copy.header.vaultID)
    }

    mutating func resealed(_ version: StoredVersion) throws(LogError) -> (version: StoredVersion, box: [UInt8])? {
        try resealer?.reseal(version)
    }

    /// Returns the version in this vault that equals the version in `state`. Versions are equal if they have the same
    /// box, or the same value and time. If the data keys differ, a version also equals its resealed form.
    func ownVersion(
        of state: EarlierVersion, among known: [EarlierVersion], in ours: LogView
    ) throws(LogError) -> StoredVersion? {
        let version = state.version
        let isResealed = resealer != nil
        if !isResealed, let same = known.first(where: { $0.version.nonce == version.nonce }) { return same.version }
        // Values are compared even if both copies have the same data key: a value that was resealed twice in one copy,
        // but only once in the other, has a different nonce in each.
        let candidates = known.filter { own in
            own.version.kind == version.kind && own.version.length == version.length
                && (isResealed || own.modified == state.modified)
        }
        guard !candidates.isEmpty else { return nil }
        let hash = try copy.valueHash(of: version)
        // A damaged value in this vault counts as different from all values in the copy.
        for own in candidates where try ours.hasValue(own.version, ofHash: hash) {
            if own.modified == state.modified { return own.version }
            if try ours.keys.reseals(version, hash, as: own.version) { return own.version }
            if try copy.keys.reseals(own.version, hash, as: version) { return own.version }
        }
        return nil
    }
}

extension LogView {
    fileprivate func valueHash(of version: StoredVersion) throws(LogError) -> [UInt8] {
        try store.rereading { () throws(LogError) in
            let box = try store.bytes(at: version.offset, count: version.boxLength)
            return try SealedValue(version: version, box: box[...], keys: keys, store: store).hash()
        }
    }

    fileprivate func hasValue(_ version: StoredVersion, ofHash hash: [UInt8]) throws(LogError) -> Bool {
        try unless(.damaged, valueHash(of: version)) == hash
    }
}

extension KeyRing {
    fileprivate func reseals(
        _ former: StoredVersion, _ hash: [UInt8], as version: StoredVersion
    ) throws(LogError) -> Bool { try translated(nonce(resealing: former.nonce, ofValue: hash)) == version.nonce }
}
