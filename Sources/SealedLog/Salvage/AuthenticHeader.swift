import Sealing

/// The newest header with a right MAC under one data key.
struct AuthenticHeader {
    let candidate: Header.Candidate
    let keys: KeyRing
    /// The slot that led to the data key.
    let slot: KeySlot
    /// The memory subkeys of the vault's former data keys; none if the manifest does not open.
    private let formerKeys: [[UInt8]]

    /// At most 256 images are tried, which take 10 µs each.
    init?(_ images: [[UInt8]], _ keys: KeyRing, _ slot: KeySlot, in store: any RecordStore) throws(LogError) {
        var found: Header.Candidate?
        for image in images {
            guard let candidate = Header.Candidate(repairing: image),
                (try? Header.authenticate(candidate.bytes, with: keys)) != nil,
                found.map({ $0.header.sequence < candidate.header.sequence }) ?? true
            else { continue }
            found = candidate
        }
        guard let found else { return nil }
        (candidate, self.keys, self.slot) = (found, keys, slot)
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
    /// The one that came after the others; all that may be it, if they do not say which one that is.
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
