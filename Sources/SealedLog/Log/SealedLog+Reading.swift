import LinuxSystem
package import Sealing

/// A value as it lies in the file, still sealed.
struct SealedReading: Sendable {
    let version: StoredVersion
    let box: [UInt8]
}

/// An opened value, with what its entry says of it.
package struct OpenedValue: ~Copyable {
    package let kind: UInt8
    /// No two values share one.
    package let nonce: Nonce
    package let bytes: SecretBytes
}

extension SealedLog {
    /// What the log knows of a name: present or not.
    ///
    /// - Throws: `damaged`, `busy`, `unavailable`, and what a replaced file may bring.
    package func entry(_ name: EntryName) throws(LogError) -> Entry? {
        let entry = try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
        return entry?.content == nil ? nil : entry
    }

    /// The value of a name, in guarded memory; nil if it is absent.
    ///
    /// - Throws: `outOfMemory`; as ``entry(_:)``.
    package func open(_ name: String) throws(LogError) -> SecretBytes? {
        try certain { () throws(LogError) in
            guard let reading = try value(name) else { return nil }
            return try open(reading)
        }
    }

    /// The value of a name with what the entry says of it; nil if it is absent.
    ///
    /// - Throws: as ``open(_:)``.
    package func openTagged(_ name: String) throws(LogError) -> OpenedValue? {
        try certain { () throws(LogError) in
            guard let reading = try value(name) else { return nil }
            return OpenedValue(
                kind: reading.version.kind, nonce: reading.version.nonce, bytes: try open(reading))
        }
    }

    func open(_ reading: SealedReading) throws(LogError) -> SecretBytes {
        try keys.open(reading.box, reading.version)
    }

    /// The sealed value of a name; nil if it is absent.
    func value(_ name: String) throws(LogError) -> SealedReading? {
        try withValue(name) { (view, version) throws(LogError) in try view.reading(version) }
    }

    /// Opens a value that lies nowhere yet.
    package func open(_ value: SealedValue) throws(LogError) -> SecretBytes {
        try keys.open(
            value.box, StoredVersion(kind: value.kind, nonce: value.nonce, offset: 0, length: value.length))
    }

    // Inlined, these three need no contexts for their closures, which would retain and release all that they use.

    /// Looks up where the value of a name lies, and lets `body` take it from there; nil if it is absent.
    @inline(__always)
    func withValue<Result: Sendable>(
        _ name: String, _ body: (inout LogView, StoredVersion) throws(LogError) -> Result
    ) throws(LogError) -> Result? {
        // `withUTF8` forgets the type of the error that its closure throws.
        try name.utf8.span.bytes.withUnsafeBytes { (name) throws(LogError) in
            try read { (view) throws(LogError) in
                guard let version = try view.findVersion(name) else { return nil }
                return try body(&view, version)
            }
        }
    }

    /// Runs `body` on a view that has followed the file to its end.
    ///
    /// - Parameter isSure: whether to look first that the newest record was not taken back by its writer, with another
    ///   one of its length in its place now. Where a value is opened, that shows by itself.
    @inline(__always)
    func read<Result: Sendable>(
        isSure: Bool = false, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        while true {
            let (result, isKnown) =
                needsLockToRead ? try readUnderLock(body) : try readFreely(isSure: isSure, body)
            if isKnown { return result }
            if try confirmNewestRecord() { return result }
            try settle()
        }
    }

    /// Without a lock; tells with the result whether the newest record was written here or is remembered here.
    @inline(__always)
    private func readFreely<Result: Sendable>(
        isSure: Bool, _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> (Result, isKnown: Bool) {
        let fresh: (Result, isKnown: Bool)? = try certain { () throws(LogError) in
            try view.withLock { (view) throws(LogError) in
                guard try refresh(&view) else { return nil }
                if isSure {
                    guard try view.headIsThere() else { return nil }
                }
                return (try body(&view), isKnown: view.isKnown)
            }
        }
        if let fresh { return fresh }
        try settle()
        return try view.withLock { (view) throws(LogError) in (try body(&view), isKnown: view.isKnown) }
    }

    /// Reads, and once more from the file read anew if that seems damaged: a record that was taken back by its writer
    /// after it had been seen here looks just so.
    @inline(__always)
    func certain<Result: ~Copyable>(_ read: () throws(LogError) -> Result) throws(LogError) -> Result {
        do { return try read() } catch {
            guard error.code == .damaged else { throw error }
        }
        try settle()
        return try read()
    }

    /// The same where the system does not show others' writes to a reader without the lock.
    private func readUnderLock<Result: Sendable>(
        _ body: (inout LogView) throws(LogError) -> Result
    ) throws(LogError) -> (Result, isKnown: Bool) {
        try writer.withLock { (_) throws(LogError) in
            let deadline = Deadline(after: lockTimeout)
            // In a child the lock would be its parent's, and given back with it.
            if view.withLock({ $0.store.isInherited }) { try replaceView(until: deadline) }
            let lock = try view.withLock { $0.store }.lock(.shared, until: deadline)
            let isFresh = try view.withLock { (view) throws(LogError) in try refresh(&view) }
            lock.release()
            if !isFresh { try replaceView(until: deadline) }
            return try view.withLock { (view) throws(LogError) in (try body(&view), isKnown: view.isKnown) }
        }
    }
}

extension KeyRing {
    /// Opens a value's box into guarded memory.
    func open(_ box: [UInt8], _ version: StoredVersion) throws(LogError) -> SecretBytes {
        do throws(SealingError) {
            var value = try SecretBytes(zeroCount: version.length)
            try value.withUnsafeMutablePaddedBytes { (value) throws(SealingError) in
                try box.withRawBytes { (box) throws(SealingError) in
                    try open(box, for: .value, nonce: version.nonce, into: value)
                }
            }
            return value
        } catch { throw LogError(opening: version, error) }
    }
}

extension LogError {
    /// A value that does not open.
    init(opening version: StoredVersion, _ error: SealingError) {
        self = error.code == .forged ? .damaged("a value", at: version.offset) : LogError(error)
    }
}
