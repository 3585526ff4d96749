import LinuxSystem
import Sealing

/// An entry of another copy, with this side's versions in place of those that are the same.
///
/// Under the same data key, a version has the same nonce on both sides, and its box stays as it is. Otherwise, it is
/// sealed anew.
struct ForeignEntry {
    private(set) var entry: Entry
    /// The boxes of the versions that are sealed anew.
    private var sealed: [Nonce: [UInt8]] = [:]

    init(_ entry: Entry, of copy: inout CopiedValues, knownAs old: Entry?, in ours: LogView) throws(LogError) {
        self.entry = entry
        let known = old?.states ?? []
        var (states, boxes) = (entry.states[...], [Nonce: [UInt8]]())
        try self.entry.forEachVersion { (version) throws(LogError) in
            guard let state = states.popFirst() else { return }
            for own in known where try copy.isSame(state, as: own, in: ours) {
                version = own.version
                return
            }
            guard let resealed = try copy.resealed(version) else { return }
            version = resealed.version
            boxes[version.nonce] = resealed.box
        }
        sealed = boxes
    }

    /// Returns the boxes of a merged entry's versions, the present one first; nil for those that are in this file.
    func newBoxes(
        in entry: Entry, replacing old: Entry?, from copy: inout CopiedValues
    ) throws(LogError) -> [[UInt8]?] {
        var boxes: [[UInt8]?] = []
        for version in entry.versions {
            if old?.has(version) ?? false {
                boxes.append(nil)
            } else if let box = sealed[version.nonce] {
                boxes.append(box)
            } else {
                boxes.append(try copy.box(of: version))
            }
        }
        return boxes
    }
}

/// The values of another copy of a vault. Nothing of it is taken over that does not open.
struct CopiedValues: ~Copyable {
    private let copy: LogView
    private var opener: ValueOpener
    /// nil if both copies are under the same data key.
    private var resealer: ValueResealer?

    /// - Parameter keys: those of the vault that takes the values, if the copy is under another data key.
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

    /// Returns a value's box, which opens. Throws `damaged`.
    mutating func box(of version: StoredVersion) throws(LogError) -> [UInt8] {
        try opener.open(version)
    }

    /// Returns a value sealed anew; nil if that is not needed. Throws `damaged`.
    mutating func resealed(_ version: StoredVersion) throws(LogError) -> (version: StoredVersion, box: [UInt8])? {
        try resealer?.reseal(version)
    }

    /// Returns whether a state of the copy is one of this side: under another data key, if one was sealed anew from the
    /// other, or if it was set at the same time to the same value.
    func isSame(_ state: EarlierVersion, as own: EarlierVersion, in ours: LogView) throws(LogError) -> Bool {
        guard resealer != nil else { return own.version.nonce == state.version.nonce }
        if try ours.keys.nonce(resealing: state.version.nonce) == own.version.nonce { return true }
        if try copy.keys.nonce(resealing: own.version.nonce) == state.version.nonce { return true }
        guard own.modified == state.modified, own.version.kind == state.version.kind,
            own.version.length == state.version.length
        else { return false }
        return try ours.opened(own.version).isEqual(to: copy.opened(state.version))
    }
}

extension LogView {
    fileprivate func opened(_ version: StoredVersion) throws(LogError) -> SecretBytes {
        try store.rereading { () throws(LogError) in
            let box = try store.bytes(at: version.offset, count: version.boxLength)
            return try SealedValue(version: version, box: box[...], keys: keys).opened()
        }
    }
}
