import Sealing

/// A header whose MAC is valid under a data key that was found.
struct AuthenticHeader {
    let candidate: Header.Candidate
    let keys: KeyRing
    let slot: KeySlot
    /// The memory subkeys of the vault's former data keys; none if the manifest does not open.
    private let formerKeys: [[UInt8]]

    /// Whether there is a later header under the same data key.
    let isFormer: Bool

    /// Returns all headers under one data key, the latest first. At most 256 images are tried, at 10 µs each.
    static func all(
        _ images: [[UInt8]], _ keys: KeyRing, _ slot: KeySlot, in store: any RecordStore
    ) throws(LogError) -> [AuthenticHeader] {
        var found = authentic(images, keys)
        // A damaged name must not prevent reading: nothing else in a file depends on it.
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

    /// Returns whether the header's vault had all these data keys before its own, by their memory subkeys.
    func follows(_ memoryKeys: Set<[UInt8]>) -> Bool {
        memoryKeys.subtracting([keys.memoryKey]).isSubset(of: formerKeys)
    }

    func follows(_ other: AuthenticHeader) -> Bool { follows([other.keys.memoryKey]) }
}

extension [AuthenticHeader] {
    /// The headers of the newest data key. If the headers do not show which key that is, all candidates.
    ///
    /// Sequence numbers decide nothing here. A person whose access was removed can give any number to a header under a
    /// former data key. But the manifest of such a header cannot contain the memory subkey of a later data key, while
    /// the vault's own manifest contains those of its former ones.
    var newest: [AuthenticHeader] { filter { header in !contains { $0.follows(header) && !header.follows($0) } } }
}

extension Header {
    /// The bytes of a header with an empty hint, and its fields.
    struct Candidate {
        let bytes: [UInt8]
        let header: Header

        init?(repairing image: [UInt8]) {
            guard let bytes = Header.repaired(image), let header = try? Header(parsing: bytes) else { return nil }
            self.bytes = bytes
            self.header = header
        }

        /// Returns the vault before its first record.
        func view(of store: any RecordStore, _ keys: KeyRing) -> LogView {
            let authenticator = bytes[Header.macOffset...].withUnsafeBytes { Authenticator($0) }
            return LogView(store: store, keys: keys, header: header, authenticator: authenticator)
        }
    }
}
