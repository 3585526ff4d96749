/// Reads a part of a store again after each notice, and returns it if it has changed.
///
/// `Content` is what the store keeps; two equal contents are no change. `Element` is what observers get.
struct StoreFollower<Content: Equatable, Element> {
    /// No change is missed after these begin.
    fileprivate let notices: AsyncStream<Void>
    fileprivate let read: () throws(VaultError) -> Content
    fileprivate let element: (Content) throws(VaultError) -> Element
    /// nil before the first read, and after one that failed.
    fileprivate var latest: Content?
    fileprivate var isDue = true

    /// Returns the present element; nil if it was returned before. If reading throws, the next attempt is due only
    /// after another notice.
    mutating func current() throws(VaultError) -> Element? {
        isDue = false
        let former = latest
        latest = nil
        let content = try read()
        let element = try content == former ? nil : element(content)
        latest = content
        return element
    }

    /// Returns the present element first, then the latest after each change; nil when the task is cancelled.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Element? {
        var iterator = notices.makeAsyncIterator()
        while !Task.isCancelled {
            if isDue, let element = try current() { return element }
            guard await iterator.next(isolation: actor) != nil else { break }
            isDue = true
        }
        return nil
    }
}

/// Follows a part of a store until an error: the base of the sequences' iterators.
struct FollowingIterator<Content: Equatable, Element> {
    /// Returns what follows from here on, and begins with it the first time; nil at the end.
    private var resume: (() throws(VaultError) -> StoreFollower<Content, Element>)?

    /// - Parameter start: finds the store, when the first element is asked for.
    init(_ start: @escaping () throws(VaultError) -> StoreFollower<Content, Element>) { resume = start }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Element? {
        let former = resume
        // However the iteration ends, it releases the observer.
        resume = nil
        guard var follower = try former?(), let element = try await follower.next(isolation: actor) else { return nil }
        resume = { [follower] in follower }
        return element
    }
}

extension StoredKey {
    /// Follows the key in the stores that it has now. Only an old store that cannot be opened now is looked up again at
    /// each read.
    func follower() throws(VaultError) -> StoreFollower<StoredValue?, Value?> {
        let (store, oldStore) = (try store(), try? oldHome?.resolve())
        let key = StoredKey(
            name, default: defaultValue, in: .store(store), movedFrom: oldStore.map { .store($0) } ?? oldHome)
        // For an observer, storing the default where there was no value changes nothing.
        let storedDefault = try? defaultValue?.storedValue(for: name)
        // A value that an older program writes to the old store is moved as well.
        let notices = try ChangeFeed.notices(of: [store, oldStore].compactMap { $0?.changes })
        return StoreFollower(notices: notices) { () throws(VaultError) in
            try key.storedValue() ?? storedDefault
        } element: { (content) throws(VaultError) in
            try key.converted(content == storedDefault ? nil : content)
        }
    }
}

extension ValueStore {
    func follower(prefix: String) throws(VaultError) -> StoreFollower<[String: StoredValue], [String: StoredValue]> {
        let read = { () throws(VaultError) in try contents(prefix: prefix) }
        return StoreFollower(notices: try changes.notices(), read: read, element: { $0 })
    }
}
