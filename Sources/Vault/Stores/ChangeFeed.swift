import LinuxSystem

/// Tells observers of a store that something may have changed.
///
/// It says neither what nor how often: observers read what they watch once more, and compare. So many changes that come at once
/// are one notice, and whoever is slow misses none that matters.
public final class ChangeFeed: Sendable {
    private struct State {
        var observers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastID = 0
        /// There is one while somebody observes.
        var watch: FileWatch?
    }

    /// The file in which other processes make changes.
    private struct Place {
        let path: String
        let fileSystem: any FileSystem
        let prepare: @Sendable () -> Void
    }

    private let state = Mutex(State())
    private let place: Place?

    /// A feed for changes that this process makes.
    public init() {
        place = nil
    }

    /// A feed that also notices what others do to a file, while somebody observes.
    ///
    /// - Parameters:
    ///   - path: without symbolic links. Neither the file nor its folder need be there.
    ///   - prepare: called before observers are told of a change to the file, on a thread of the feed's own.
    init(
        watching path: String, in fileSystem: any FileSystem = PosixFileSystem(),
        prepare: @escaping @Sendable () -> Void = {}
    ) {
        place = Place(path: path, fileSystem: fileSystem, prepare: prepare)
    }

    /// Says that something may have changed. Cheap if nobody observes.
    public func notify() {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer.yield() }
    }

    /// A stream that gives one element for any number of notices since the last one was taken. Changes made after this
    /// returns are noticed; soon after it, there may be a notice without a change.
    ///
    /// - Throws: ``VaultError/Code/unavailable`` if there is no thread to be had that watches the file.
    public func notices() throws(VaultError) -> AsyncStream<Void> {
        try ChangeFeed.notices(of: [self])
    }

    /// The same for several feeds: a notice of any of them is one of the stream.
    static func notices(of feeds: [ChangeFeed]) throws(VaultError) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        var removals: [@Sendable () -> Void] = []
        do throws(VaultError) {
            for feed in feeds { removals.append(try feed.add(continuation)) }
        } catch {
            for remove in removals { remove() }
            throw error
        }
        continuation.onTermination = { [removals] _ in
            for remove in removals { remove() }
        }
        return stream
    }

    /// - Returns: what removes the observer.
    private func add(_ observer: AsyncStream<Void>.Continuation) throws(VaultError) -> @Sendable () -> Void {
        let id = try state.withLock { (state) throws(VaultError) in
            if state.watch == nil { state.watch = try place.map(watch) }
            state.lastID += 1
            state.observers[state.lastID] = observer
            return state.lastID
        }
        return { [weak self] in self?.remove(id) }
    }

    private func watch(_ place: Place) throws(VaultError) -> FileWatch {
        do throws(SystemError) {
            return try FileWatch(place.path, in: place.fileSystem) { [weak self, prepare = place.prepare] in
                prepare()
                self?.notify()
            }
        } catch { throw VaultError(system: error, place.path) }
    }

    private func remove(_ id: Int) {
        // What is taken out goes after the lock: a continuation's end runs code that is not ours.
        _ = state.withLock { state -> (AsyncStream<Void>.Continuation?, FileWatch?) in
            let observer = state.observers.removeValue(forKey: id)
            guard state.observers.isEmpty else { return (observer, nil) }
            let watch = state.watch
            state.watch = nil
            return (observer, watch)
        }
    }

    /// How many observe.
    var observerCount: Int { state.withLock { $0.observers.count } }
}
