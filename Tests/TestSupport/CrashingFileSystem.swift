import Foundation
import LinuxSystem
import Sealing

/// The files of a folder on a machine that loses power.
///
/// It makes each call, and models what survives a power loss: all that was flushed, and any subset of the 512-byte
/// sectors that were written since. ``materialize(into:seed:)`` writes one of the possible states of the disk.
package final class CrashingFileSystem: FileSystem {
    private struct State {
        var disk: Disk
        /// The numbers of the real files on the modelled disk. A real file may get the inode of a removed one.
        var files: [FileStatus.Identity: Int] = [:]
        var paths: [Int32: String] = [:]
        /// The number of changing calls before power is lost; nil if it never is.
        var remaining: Int?
        var isOff = false
        /// The numbers of flushes that are still to fail, of files and of folders.
        var failingFlushes = 0
        var failingFolderFlushes = 0
        /// The source of chance for the effect of a failing flush.
        var chance = SeededGenerator(0)
    }

    private let real = PosixFileSystem()
    private let root: String
    private let state: Mutex<State>

    /// - Parameters:
    /// - root: the folder. Its contents count as flushed.
    /// - calls: the number of writes, flushes and changes of names that begin before power is lost. The last of them
    ///   has no effect.
    package init(_ root: String, powerLostAtCall calls: Int? = nil) throws {
        self.root = root
        var state = State(disk: Disk(root: root))
        state.remaining = calls
        for path in try FileManager.default.subpathsOfDirectory(atPath: root).map({ "\(root)/\($0)" }) {
            let status = try real.status(at: path)
            if status.isDirectory { state.disk.addFolder(path) }
            if status.isRegularFile { state.files[status.identity] = state.disk.add(path, try contents(path)) }
        }
        self.state = Mutex(state)
    }

    /// Whether power is lost. Every call fails from then on.
    package var isOff: Bool { state.withLock { $0.isOff } }

    /// Makes power fail at the given changing call from now on.
    package func losePower(afterCalls calls: Int) {
        state.withLock { $0.remaining = calls }
    }

    /// Makes the next flushes of files fail. The data to flush reaches the disk in part, or never.
    package func failNextFlushes(_ count: Int = 1, seed: Int = 0) {
        state.withLock { state in
            state.failingFlushes = count
            state.chance = SeededGenerator(seed)
        }
    }

    package func failNextFolderFlush() {
        state.withLock { $0.failingFolderFlushes = 1 }
    }

    /// Continues as if power had not been lost, to inspect data that is not on the disk yet.
    package func restorePower() {
        state.withLock {
            $0.isOff = false
            $0.remaining = nil
        }
    }

    /// Writes a possible state of the disk into another folder, with the same relative paths.
    package func materialize(into folder: String, seed: Int) throws {
        var generator = SeededGenerator(seed)
        let disk = state.withLock { $0.disk.afterPowerLoss(&generator) }
        for path in disk.names.keys.sorted() {
            let target = folder + path.dropFirst(root.count)
            if let bytes = disk.contents(path) {
                try overwrite(target, bytes)
            } else {
                try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
            }
        }
    }

    // MARK: The modelled calls

    func note(_ body: (inout Disk) -> Void) {
        state.withLock { body(&$0.disk) }
    }

    func noteFailedFlush(_ identity: FileStatus.Identity) {
        state.withLock { state in
            if let file = state.files[identity] { state.disk.failFlush(file, &state.chance) }
        }
    }

    func note(_ identity: FileStatus.Identity, _ body: (inout Disk, Int) -> Void) {
        state.withLock { state in
            if let file = state.files[identity] { body(&state.disk, file) }
        }
    }

    func noteCreated(_ identity: FileStatus.Identity, _ path: String) {
        state.withLock { $0.files[identity] = $0.disk.create(path) }
    }

    func takeFailure(ofFolder isFolder: Bool) -> Bool {
        state.withLock { state in
            let count = isFolder ? state.failingFolderFlushes : state.failingFlushes
            guard count > 0 else { return false }
            if isFolder { state.failingFolderFlushes -= 1 } else { state.failingFlushes -= 1 }
            return true
        }
    }

    func path(of file: borrowing FileDescriptor) -> String {
        let number = file.number
        return state.withLock { $0.paths[number] ?? "" }
    }

    func noteOpened(_ file: borrowing FileDescriptor, _ path: String) {
        let number = file.number
        state.withLock { $0.paths[number] = path }
    }

    /// Makes a call that changes nothing.
    func inspect<Result: ~Copyable>(
        _ body: (PosixFileSystem) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        guard !isOff else { throw SystemError(EIO, "power lost") }
        return try body(real)
    }

    /// Makes a call that changes the disk.
    ///
    /// - Parameter begun: records the effect that the call may have on the disk even if power is lost during it.
    func change<Result: ~Copyable>(
        begun: () -> Void = {}, _ body: (PosixFileSystem) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        guard !isOff else { throw SystemError(EIO, "power lost") }
        begun()
        let isLost = state.withLock { state in
            guard let remaining = state.remaining else { return false }
            state.remaining = remaining - 1
            state.isOff = remaining <= 1
            return state.isOff
        }
        guard !isLost else { throw SystemError(EIO, "power lost") }
        return try body(real)
    }
}
