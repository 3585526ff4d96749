package import LinuxSystem

package enum FileCall: Hashable, Sendable, CaseIterable {
    case open, read, write, synchronizeData, synchronize, lock, status, setMode, setOwner, rename, remove, makeFolder

    /// The calls that change the disk or make changes durable.
    package static let changing: Set<FileCall> = [
        .write, .synchronizeData, .synchronize, .rename, .remove, .setMode, .setOwner, .makeFolder,
    ]
}

package struct FileCallRecord: Hashable, Sendable {
    package let kind: FileCall
    /// The file's path. For an open file, this is the path with which the file was opened.
    package let path: String
    package var offset: UInt64 = 0
    package var count = 0
    /// The file's descriptor if ``kind`` is ``FileCall/synchronizeData``; otherwise nil.
    package var descriptor: Int32?
}

package enum Fault: Hashable, Sendable {
    /// The call fails without any effect.
    case error(Int32)
    /// The call writes only this many bytes, and then fails.
    case short(Int, Int32)
    /// The call takes effect, but is reported as failed. A call not in ``FileCall/changing`` just fails.
    case afterwards(Int32)
}

/// The real file system, with calls that fail on demand. It records every call that can fail.
package final class FaultyFileSystem: FileSystem {
    private struct Plan {
        let kinds: Set<FileCall>
        let bytes: Range<UInt64>?
        var skipped: Int
        var remaining: Int
        let fault: Fault

        func concerns(_ call: FileCallRecord) -> Bool {
            remaining > 0 && kinds.contains(call.kind)
                && bytes?.overlaps(call.offset..<call.offset + UInt64(call.count)) != false
        }
    }

    private struct State {
        var plans: [Plan] = []
        var calls: [FileCallRecord] = []
        var paths: [Int32: String] = [:]
        var failures = 0
        var watchers: [FileCall: @Sendable (FileCallRecord) -> Void] = [:]
    }

    private let real = PosixFileSystem()
    private let state = Mutex(State())
    private let volume: Volume

    package init(volume: Volume = Volume()) { self.volume = volume }

    /// Makes `times` calls of `kinds` fail, after `skipped` such calls have succeeded. If `bytes` is not nil, only
    /// calls that access this range of a file are counted.
    package func fail(
        _ kinds: Set<FileCall>, on bytes: Range<UInt64>? = nil, after skipped: Int = 0, times: Int = 1,
        with fault: Fault
    ) {
        let plan = Plan(kinds: kinds, bytes: bytes, skipped: skipped, remaining: times, fault: fault)
        state.withLock { $0.plans.append(plan) }
    }

    package func heal() {
        state.withLock { state in
            state.plans = []
            state.watchers = [:]
        }
    }

    /// Runs `body` before each call of this kind, even if the call is going to fail.
    package func watch(_ kind: FileCall, _ body: @escaping @Sendable (FileCallRecord) -> Void) {
        state.withLock { $0.watchers[kind] = body }
    }

    package var failures: Int { state.withLock { $0.failures } }
    /// The recorded calls, oldest first.
    package var calls: [FileCallRecord] { state.withLock { $0.calls } }
    package func forgetCalls() { state.withLock { $0.calls = [] } }

    /// Records a call. Returns the fault that is planned for it; nil if there is none.
    private func note(_ call: FileCallRecord) -> Fault? {
        let watcher = state.withLock { $0.watchers[call.kind] }
        if let watcher { LockRank.separately { watcher(call) } }
        return state.withLock { state in
            state.calls.append(call)
            for index in state.plans.indices where state.plans[index].concerns(call) {
                guard state.plans[index].skipped == 0 else {
                    state.plans[index].skipped -= 1
                    continue
                }
                state.plans[index].remaining -= 1
                state.failures += 1
                return state.plans[index].fault
            }
            return nil
        }
    }

    /// Performs a call, or makes it fail as planned. For ``Fault/short(_:_:)``, `short` performs part of the call.
    private func make<Result: ~Copyable>(
        _ kind: FileCall, _ path: String, at offset: UInt64 = 0, count: Int = 0, descriptor: Int32? = nil,
        _ body: @autoclosure () throws(SystemError) -> Result, short: (Int) throws(SystemError) -> Void = { _ in }
    ) throws(SystemError) -> Result {
        switch note(FileCallRecord(kind: kind, path: path, offset: offset, count: count, descriptor: descriptor)) {
        case nil: return try body()
        case .error(let number): throw SystemError(number, "\(kind)")
        case .short(let count, let number):
            try short(count)
            throw SystemError(number, "\(kind)")
        case .afterwards(let number):
            if FileCall.changing.contains(kind) { _ = try body() }
            throw SystemError(number, "\(kind)")
        }
    }

    private func path(of file: borrowing FileDescriptor) -> String {
        let number = file.number
        return state.withLock { $0.paths[number] ?? "" }
    }

    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        let file = try make(.open, path, real.open(path, access))
        let number = file.number
        state.withLock { $0.paths[number] = path }
        return file
    }

    package func read(
        _ file: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        try make(.read, path(of: file), at: offset, count: buffer.count, real.read(file, into: buffer, at: offset))
    }

    package func write(
        _ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        try make(.write, path(of: file), at: offset, count: bytes.count, real.write(file, bytes, at: offset)) {
            (count) throws(SystemError) in
            try real.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
        }
    }

    package func nextData(_ file: borrowing FileDescriptor, from offset: UInt64) throws(SystemError) -> UInt64? {
        try make(.read, path(of: file), at: offset, real.nextData(file, from: offset))
    }

    package func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.number
        return try make(.synchronizeData, path(of: file), descriptor: number, real.synchronizeData(file))
    }

    package func synchronizeVolume(of file: borrowing FileDescriptor) throws(SystemError) {
        try make(.synchronize, path(of: file), real.synchronizeVolume(of: file))
    }

    package func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) {
        try make(.synchronize, path(of: file), real.synchronize(file))
    }

    package func tryLock(_ file: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool {
        try make(.lock, path(of: file), real.tryLock(file, kind))
    }

    package func unlock(_ file: borrowing FileDescriptor) { real.unlock(file) }
    package func volume(of file: borrowing FileDescriptor) -> Volume { volume }

    package func status(of file: borrowing FileDescriptor, withTimes: Bool) throws(SystemError) -> FileStatus {
        try make(.status, path(of: file), real.status(of: file, withTimes: withTimes))
    }

    package func status(at path: String, withTimes: Bool) throws(SystemError) -> FileStatus {
        try make(.status, path, real.status(at: path, withTimes: withTimes))
    }

    package func setMode(_ file: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError) {
        try make(.setMode, path(of: file), real.setMode(file, mode))
    }

    package func setOwner(_ file: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError) {
        try make(.setOwner, path(of: file), real.setOwner(file, owner: owner, group: group))
    }

    package func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError) {
        try make(.rename, newPath, real.rename(path, to: newPath, replacing: replacing))
    }

    package func remove(_ path: String) throws(SystemError) { try make(.remove, path, real.remove(path)) }

    package func makeFolder(_ path: String) throws(SystemError) { try make(.makeFolder, path, real.makeFolder(path)) }
}
