import Sealing

/// A header with a valid MAC under one of the data keys that the salvage has found.
struct AuthenticHeader {
    let candidate: Header.Candidate
    let keys: KeyRing
    let slot: KeySlot
    /// The memory subkeys of the vault's former data keys; empty if the manifest cannot be opened.
    private let formerKeys: [[UInt8]]

    /// Whether the salvage has found a later header under the same data key.
    let isFormer: Bool

    /// Returns all authentic headers under one data key, latest first. At most 256 images are checked, at 10 µs each.
    static func all(
        _ images: [[UInt8]], _ keys: KeyRing, _ slot: KeySlot, in store: any RecordStore
    ) throws(LogError) -> [AuthenticHeader] {
        var found = authentic(images, keys)
        // A damaged name must not prevent the salvage, since nothing else in the file depends on the name.
        if found.isEmpty { found = authentic(images.map(BoundName.removed(from:)), keys) }
        found.sort { $0.header.sequence > $1.header.sequence }
        return try found.enumerated().map { (index, candidate) throws(LogError) in
            try AuthenticHeader(candidate, keys, slot, isFormer: index > 0, in: store)
        }
    }

    private static func authentic(_ images: [[UInt8]], _ keys: KeyRing) -> [Header.Candidate] {
        var found: [Header.Candidate] = []
        for image in images {
            guard let candidate = Header.Candidate(repairing: image),
                (try? Header.authenticate(candidate.bytes, with: keys)) != nil,
                !found.contains(where: { $0.bytes == candidate.bytes })
            else { continue }
            found.append(candidate)
        }
        return found
    }

    private init(
        _ candidate: Header.Candidate, _ keys: KeyRing, _ slot: KeySlot, isFormer: Bool, in store: any RecordStore
    ) throws(LogError) {
        self.candidate = candidate
        self.keys = keys
        self.slot = slot
        self.isFormer = isFormer
        let view = candidate.view(of: store, keys)
        formerKeys = try unless(.damaged, view.manifest())?.formerMemoryKeys ?? []
    }

    /// Returns whether all these memory subkeys belong to this header's data key or to its vault's former data keys.
    func follows(_ memoryKeys: Set<[UInt8]>) -> Bool {
        memoryKeys.subtracting([keys.memoryKey]).isSubset(of: formerKeys)
    }

    func follows(_ other: AuthenticHeader) -> Bool { follows([other.keys.memoryKey]) }
}

extension [AuthenticHeader] {
    /// The headers under the newest data key; all headers if the newest data key cannot be determined.
    ///
    /// Sequence numbers are not compared here, because a person whose access was removed can forge a header with any
    /// number under a former data key. The manifests decide instead. The vault's own manifest contains the memory
    /// subkeys of its former data keys, but a forged header's manifest cannot contain the subkey of a later data key.
    var newest: [AuthenticHeader] { filter { header in !contains { $0.follows(header) && !header.follows($0) } } }
}

extension Header {
    /// A header, and its repaired bytes: constants are restored, undefined flags are cleared, and the hint is zero.
    struct Candidate {
        let bytes: [UInt8]
        let header: Header

        init?(repairing image: [UInt8]) {
            guard let bytes = Header.repaired(image), let header = try? Header(parsing: bytes) else { return nil }
            self.bytes = bytes
            self.header = header
        }

        /// Returns a view of the log that contains no records yet.
        func view(of store: any RecordStore, _ keys: KeyRing) -> LogView {
            let authenticator = bytes[Header.macOffset...].withUnsafeBytes { Authenticator($0) }
            return LogView(store: store, keys: keys, header: header, authenticator: authenticator)
        }
    }
}
