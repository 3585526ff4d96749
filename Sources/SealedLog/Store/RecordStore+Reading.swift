import LinuxSystem
import Sealing

// The default implementations for a store that writes records atomically and returns only durable records.

extension RecordStore {
    package var vaultName: [UInt8]? { nil }
    package var target: (any StoreLocation)? { nil }
    package var machineCopy: (any MachineCopy)? { nil }
    package var server: (any StoreServer)? { nil }
    package var deadBytesFloor: UInt64 { Limits.deadBytesFloor }
    package func forReader() throws(LogError) -> (any RecordStore)? { self }
    package func synchronizeLocation() throws(LogError) {}
    package func locationState() -> [UInt8]? { identity.bytes }
    package func prepareAppend(behind end: LogEnd) throws(LogError) {}

    package func nextData(from offset: UInt64) throws(LogError) -> UInt64? { try offset < size() ? offset : nil }

    package func examine(_ tail: LogTail) throws(LogError) -> TailState {
        switch tail.remains {
        case .failing(let reason), .foreign(let reason): throw LogError.damaged("\(reason),", at: tail.end)
        case .nothing: break
        }
        guard try size() <= tail.end else { throw LogError.damaged("the log's end", at: tail.end) }
        return TailState(needsClearing: false, isDurable: true)
    }

    /// The time used to decide which history is old enough to be dropped. It is never later than the server's time, so
    /// that a fast local clock drops nothing too early. A malicious server can only make the vault keep more history.
    var retentionTime: UInt64 { min(Clock.milliseconds, server?.time ?? .max) }

    /// Throws `unreachable`, with the reason, if this store is not the vault but only holds pending changes for it.
    func checkIsVault(_ reason: @autoclosure () -> String) throws(LogError) {
        guard target == nil else { throw LogError(.unreachable, reason()) }
    }

    /// Checks that the vault is bound to the name under which the store was opened. Throws `otherName` if it is not.
    func checkName(of header: Header) throws(LogError) {
        if let vaultName, header.name?.hash != vaultName { throw LogError(.otherName, path) }
    }

    /// Returns whether another store has replaced this one; false if unknown. Throws `gone` if this one was removed.
    package func isReplaced() throws(LogError) -> Bool {
        do throws(LogError) { return try reopened().identity != identity } catch {
            guard error.code == .gone else { return false }
            throw error
        }
    }

    /// Returns the error for a replacement whose directory entry could not be flushed.
    func unknownName(_ error: LogError) -> LogError {
        let cause = error.systemError.map { " (\(SystemError.message(for: $0)))" } ?? ""
        return LogError(
            .outcomeUnknown,
            "A power loss may undo the change, because the directory entry of \(path) could not be flushed\(cause). "
                + "Keep both the former and the new key files. Check the disk, then verify the vault with a key that "
                + "opens it.")
    }

    /// Runs `body`. On a rollback error (``LogError/Code/alarms``), tries the other servers, which may have newer data.
    func onNewestHost<Result>(_ body: () throws(LogError) -> Result) throws(LogError) -> Result {
        for _ in 1..<max(1, server?.hostCount ?? 1) {
            do throws(LogError) { return try body() } catch {
                guard LogError.Code.alarms.contains(error.code) else { throw error }
                server?.turnToNextHost()
            }
        }
        return try body()
    }

    /// Calls `read`, which reads sealed bytes and opens them. If the bytes do not authenticate, calls `read` again
    /// without cached bytes. This machine's copy of a database may be wrong, because it is never flushed, and because
    /// the server may have sent wrong bytes.
    ///
    /// - Parameter stays: whether later reads also bypass the machine's copy. The copy may contain another history,
    ///   whose records would authenticate too.
    func rereading<Result: ~Copyable>(
        stayingInDoubt stays: Bool = false, _ read: () throws(LogError) -> Result
    ) throws(LogError) -> Result {
        do { return try read() } catch {
            guard error.code == .damaged, try machineCopy?.distrust() == true else { throw error }
        }
        let result: Result
        do { result = try read() } catch {
            machineCopy?.endDoubt()
            throw error
        }
        if !stays { machineCopy?.endDoubt() }
        return result
    }

    /// Reads exactly `count` bytes. Throws `damaged` if the store ends earlier.
    func bytes(at offset: UInt64, count: Int) throws(LogError) -> [UInt8] {
        let bytes = try available(at: offset, upTo: count)
        guard bytes.count == count else { throw .cut(at: offset) }
        return bytes
    }

    /// Reads `count` bytes, or fewer if the store ends earlier.
    func available(at offset: UInt64, upTo count: Int) throws(LogError) -> [UInt8] {
        var failure: LogError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            do throws(LogError) { initialized = try read(into: buffer, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    package func write(_ bytes: [UInt8], at offset: UInt64) throws(LogError) {
        try bytes.withRawBytes { (bytes) throws(LogError) in try write(bytes, at: offset) }
    }
}

extension Range<UInt64> {
    /// The range divided into pieces of at most a mebibyte.
    package var pieces: some Sequence<Range<UInt64>> {
        stride(from: lowerBound, to: upperBound, by: 1 << 20).lazy.map { $0..<Swift.min($0 + 1 << 20, upperBound) }
    }
}
