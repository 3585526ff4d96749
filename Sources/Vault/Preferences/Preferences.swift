package import LinuxSystem

/// Values in a plain property list that any plist tool reads and writes: settings, counters, the state of windows. Nothing secret.
///
/// Each suite is one file of mode 0600, `$XDG_CONFIG_HOME/vault/preferences/SUITE.plist`, XML as a rule. When a call that writes returns,
/// the change is on the disk, unless ``Writing/coalesced(every:)`` was asked for. Other processes and threads may use the same suite at
/// the same time; none loses a write of another, except where writing is coalesced. Keys of other programs keep their values and types. A file that is
/// damaged is an error, and is never overwritten.
public final class Preferences: ValueStore {
    /// When changes are written.
    public enum Writing: Sendable, Hashable {
        /// Before the call that makes them returns.
        case atOnce
        /// Together, at most once per interval, and at the process's exit: for values that change many times a second.
        ///
        /// Whoever uses this object sees them at once; others, and other objects of the same suite, when they are written. Until then
        /// another may change the same key: the later write holds, also where the change was an ``StoredKeyed/update(_:)``. What was not
        /// written is lost in a crash; an error while writing goes to ``Preferences/failures``, and ``Preferences/flush()``
        /// writes what is left.
        case coalesced(every: Duration)
    }

    public let changes: ChangeFeed
    public let failures: FailureLog
    let writing: Writing
    /// The path of the property list, without symbolic links.
    ///
    /// - Throws: ``VaultError/Code/unavailable`` if there is no home folder to have it in, ``VaultError/Code/invalid`` if the suite's name
    ///   is too long.
    public var path: String {
        get throws(VaultError) { try file.get().path }
    }

    let file: Result<PreferencesFile, VaultError>
    /// What the file held when it was last read.
    let snapshot = Mutex<PreferencesSnapshot?>(nil)
    /// What the file was when it and its name were last flushed from here.
    let durable = Mutex<FileStatus?>(nil)
    /// Changes that are yet to be written.
    let pending = Mutex(PendingChanges())
    /// Held while the file is written: the threads of a process need not wait for one another by way of the folder's lock.
    let writer = Mutex(())

    /// The preferences of a suite, such as a program's name or a user's id; any text, and no two meet.
    ///
    /// Nothing is read or made yet.
    ///
    /// - Parameter failures: where errors go that a property's getter or setter cannot throw.
    public convenience init(suite: String, writing: Writing = .atOnce, failures: FailureLog = FailureLog()) {
        let path: Result<String, VaultError>
        do { path = .success(try Preferences.path(ofSuite: suite)) } catch { path = .failure(error) }
        self.init(path, writing, failures, in: PosixFileSystem())
    }

    /// The property list at a path, for programs that keep theirs at a place of their own.
    ///
    /// - Parameter failures: where errors go that a property's getter or setter cannot throw.
    public convenience init(path: String, writing: Writing = .atOnce, failures: FailureLog = FailureLog()) {
        self.init(.success(path), writing, failures, in: PosixFileSystem())
    }

    package init(
        _ path: Result<String, VaultError>, _ writing: Writing = .atOnce, _ failures: FailureLog = FailureLog(),
        in fileSystem: any FileSystem
    ) {
        file = path.map { PreferencesFile(path: resolvedPath($0), fileSystem: fileSystem) }
        self.writing = writing
        self.failures = failures
        changes = (try? file.get()).map { ChangeFeed(watching: $0.path, in: fileSystem) } ?? ChangeFeed()
        if case .coalesced = writing { ExitFlush.register(self) }
    }

    deinit {
        do { try flush() } catch { reportUnwritten(error) }
    }
}
