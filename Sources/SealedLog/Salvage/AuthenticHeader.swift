import Sealing

/// A header with a right MAC under a data key that was found.
struct AuthenticHeader {
    let candidate: Header.Candidate
    let keys: KeyRing
    /// The slot that led to the data key.
    let slot: KeySlot
    /// The memory subkeys of the vault's former data keys; none if the manifest does not open.
    private let formerKeys: [[UInt8]]

    /// Whether there is a later one under the same data key.
    let isFormer: Bool

    /// Returns all under one data key, the latest first. At most 256 images are tried, which take 10 µs each.
    static func all(
        _ images: [[UInt8]], _ keys: KeyRing, _ slot: KeySlot, in store: any RecordStore
    ) throws(LogError) -> [AuthenticHeader] {
        var found = authentic(images, keys)
        // Nothing in a file depends on its name.
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
        (self.candidate, self.keys, self.slot, self.isFormer) = (candidate, keys, slot, isFormer)
        let view = candidate.view(of: store, keys)
        do throws(LogError) { formerKeys = try view.manifest().formerMemoryKeys } catch {
            guard error.code == .damaged else { throw error }
            formerKeys = []
        }
    }

    /// Whether its vault had all these data keys before its own, by their memory subkeys.
    func follows(_ memoryKeys: Set<[UInt8]>) -> Bool {
        memoryKeys.subtracting([keys.memoryKey]).isSubset(of: formerKeys)
    }

    func follows(_ other: AuthenticHeader) -> Bool { follows([other.keys.memoryKey]) }
}

extension [AuthenticHeader] {
    /// Those of the data key that came after the others; of all that may be it, if they do not say which one that is.
    ///
    /// Their numbers say nothing of it: somebody who was shut out can give any number to a header under a former data
    /// key. But the manifest of such a header cannot name the memory subkey of a later data key, and the vault's names
    /// those of its former ones.
    var newest: [AuthenticHeader] {
        filter { header in !contains { $0.follows(header) && !header.follows($0) } }
    }
}

extension Header {
    /// A header's bytes with an empty hint, and their fields.
    struct Candidate {
        let bytes: [UInt8]
        let header: Header

        init?(repairing image: [UInt8]) {
            guard let bytes = Header.repaired(image), let header = try? Header(parsing: bytes) else { return nil }
            (self.bytes, self.header) = (bytes, header)
        }

        /// Returns the vault before its first record.
        func view(of store: any RecordStore, _ keys: KeyRing) -> LogView {
            let authenticator = bytes[Header.macOffset...].withUnsafeBytes { Authenticator($0) }
            return LogView(store: store, keys: keys, header: header, authenticator: authenticator)
        }
    }
}
