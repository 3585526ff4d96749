private import Glibc
package import LinuxSystem
import SealedLog

/// A call on a file system, by kind.
package enum FileCall: Hashable, Sendable, CaseIterable {
    case open, read, write, synchronizeData, synchronize, lock, status, setMode, setOwner, rename, remove, makeFolder

    /// Those that change what is on the disk, or make it last.
    package static let changing: Set<FileCall> = [
        .write, .synchronizeData, .synchronize, .rename, .remove, .setMode, .setOwner, .makeFolder,
    ]
}

/// One call that was made.
package struct FileCallRecord: Hashable, Sendable {
    package let kind: FileCall
    /// The path; of an open file the one that it was opened by.
    package let path: String
    package var offset: UInt64 = 0
    package var count = 0
}

/// How a call fails.
package enum Fault: Hashable, Sendable {
    /// Nothing is done.
    case error(Int32)
    /// A write gets this many of its bytes to the file first.
    case short(Int, Int32)
    /// What changes the disk is done, and failure is reported all the same.
    case afterwards(Int32)
}

/// The files of this machine, with calls that fail on demand. It records all calls.
package final class FaultyFileSystem: FileSystem {
    private struct Plan {
        let kinds: Set<FileCall>
        var skipped: Int
        var remaining: Int
        let fault: Fault
    }

    private struct State {
        var plans: [Plan] = []
        var calls: [FileCallRecord] = []
        var paths: [Int32: String] = [:]
        var failures = 0
        var unreadable: Range<UInt64> = 0..<0
        var watchers: [FileCall: @Sendable (FileCallRecord) -> Void] = [:]
    }

    private let real = PosixFileSystem()
    private let state = Mutex(State())

    private let volume: Volume

    /// - Parameter volume: what it says of the file system that its files lie on; a local disk, unless this says
    ///   otherwise.
    package init(volume: Volume = Volume()) {
        self.volume = volume
    }

    package func volume(of file: borrowing FileDescriptor) -> Volume { volume }

    /// Lets calls of these kinds fail: `times` of them, after `skipped` more have gone well.
    package func fail(_ kinds: Set<FileCall>, after skipped: Int = 0, times: Int = 1, with fault: Fault) {
        state.withLock { $0.plans.append(Plan(kinds: kinds, skipped: skipped, remaining: times, fault: fault)) }
    }

    /// Lets every read fail that touches these bytes of a file, as a disk with a bad block does.
    package func failReads(of bytes: Range<UInt64>) {
        state.withLock { $0.unreadable = bytes }
    }

    /// No more failures are planned, and nobody watches.
    package func heal() {
        state.withLock {
            $0.plans = []
            $0.watchers = [:]
        }
    }

    /// Runs `body` before each call of this kind, whether it fails or not.
    package func watch(_ kind: FileCall, _ body: @escaping @Sendable (FileCallRecord) -> Void) {
        state.withLock { $0.watchers[kind] = body }
    }

    /// How many calls have failed on demand.
    package var failures: Int { state.withLock { $0.failures } }

    /// The calls made, oldest first.
    package var calls: [FileCallRecord] { state.withLock { $0.calls } }

    package func forgetCalls() {
        state.withLock { $0.calls = [] }
    }

    // MARK: For the calls

    func noteOpened(_ number: Int32, _ path: String) {
        state.withLock { $0.paths[number] = path }
    }

    func path(of number: Int32) -> String {
        state.withLock { $0.paths[number] ?? "" }
    }

    /// Records a call.
    ///
    /// - Returns: how it has to fail; nil if it should be made.
    func note(_ call: FileCallRecord) -> Fault? {
        let watcher = state.withLock { $0.watchers[call.kind] }
        watcher?(call)
        return state.withLock { state in
            state.calls.append(call)
            if call.kind == .read, state.unreadable.overlaps(call.offset..<call.offset + UInt64(call.count)) {
                state.failures += 1
                return .error(EIO)
            }
            for index in state.plans.indices where state.plans[index].kinds.contains(call.kind) {
                guard state.plans[index].remaining > 0 else { continue }
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

    /// Makes a call, or lets it fail.
    func make<Result: ~Copyable>(
        _ call: FileCallRecord, _ body: (PosixFileSystem) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        switch note(call) {
        case nil: return try body(real)
        case .error(let number), .short(_, let number): throw SystemError(number, "\(call.kind)")
        case .afterwards(let number):
            if FileCall.changing.contains(call.kind) { _ = try body(real) }
            throw SystemError(number, "\(call.kind)")
        }
    }

    func write(
        _ call: FileCallRecord, _ file: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) {
        switch note(call) {
        case nil: try real.write(file, bytes, at: call.offset)
        case .error(let number): throw SystemError(number, "write")
        case .short(let count, let number):
            try real.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: call.offset)
            throw SystemError(number, "write")
        case .afterwards(let number):
            try real.write(file, bytes, at: call.offset)
            throw SystemError(number, "write")
        }
    }
}
