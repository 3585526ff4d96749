import LinuxSystem
import Sealing

extension SealedLog {
    /// Lists the present entries whose names begin with a prefix, as they are now.
    ///
    /// - Throws: as ``entry(_:)``.
    package func listing(prefix: [UInt8] = []) throws(LogError) -> EntryListing {
        // What a view shows stays in its file, whatever becomes of the log.
        let view = try read(isSure: true) { (view) throws(LogError) in view }
        return EntryListing(try view.entries(from: prefix), prefix: prefix)
    }

    /// The values of all present names that begin with a prefix, as they were at one moment, in the order of their
    /// names.
    ///
    /// - Parameter convert: called without any lock held.
    /// - Throws: `outOfMemory`; as ``entry(_:)``.
    package func openTagged<Result>(
        prefix: [UInt8], _ convert: (EntryName, borrowing OpenedValue) -> Result
    ) throws(LogError) -> [Result] {
        try certain { () throws(LogError) in
            // What a view shows stays in its file, whatever becomes of the log.
            var snapshot = try read { (view) throws(LogError) in view }
            var results: [Result] = []
            var listing = EntryListing(try snapshot.entries(from: prefix), prefix: prefix)
            while let entry = try listing.next() {
                guard let version = entry.content?.current else { continue }
                let value = try open(snapshot.reading(version))
                results.append(convert(entry.name, OpenedValue(kind: version.kind, nonce: version.nonce, bytes: value)))
            }
            return results
        }
    }

    /// Lets the next reading see whether another file lies at the path, which it else does only now and then.
    package func lookAtPath() {
        view.withLock { $0.lookedAtPath = 0 }
    }
}

extension LogView {
    /// A value, still sealed.
    mutating func reading(_ version: StoredVersion) throws(LogError) -> SealedReading {
        var box = [UInt8](repeating: 0, count: version.boxLength)
        try box.withMutableRawBytes { (box) throws(LogError) in try copy(version, into: box) }
        return SealedReading(version: version, box: box)
    }
}
