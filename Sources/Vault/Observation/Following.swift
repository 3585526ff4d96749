/// A part of a store that can be followed: a key, or all keys with a prefix.
protocol FollowedContent<Element> {
    /// What the store keeps. Two equal contents are no change.
    associatedtype Content: Equatable
    /// What observers get.
    associatedtype Element

    /// The feeds of the stores that keep it.
    var feeds: [ChangeFeed] { get }
    func read() throws(VaultError) -> Content
    func element(_ content: Content) throws(VaultError) -> Element
}

/// Reads a part of a store again after each notice, and returns it if it has changed.
struct StoreFollower<Source: FollowedContent> {
    private let source: Source
    private let notices: AsyncStream<Void>
    /// nil before the first read, and after one that failed.
    private var latest: Source.Content?
    private var isDue = true

    /// Misses no change from now on.
    init(_ source: Source) throws(VaultError) {
        self.source = source
        notices = try ChangeFeed.notices(of: source.feeds)
    }

    /// Returns the present element; nil if it was returned before. If reading throws, the next attempt is due only
    /// after another notice.
    mutating func current() throws(VaultError) -> Source.Element? {
        isDue = false
        let former = latest
        latest = nil
        let content = try source.read()
        let element = try content == former ? nil : source.element(content)
        latest = content
        return element
    }

    /// Returns the present element first, then the latest after each change; nil when the task is cancelled.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Source.Element? {
        var iterator = notices.makeAsyncIterator()
        while !Task.isCancelled {
            if isDue, let element = try current() { return element }
            guard await iterator.next(isolation: actor) != nil else { break }
            isDue = true
        }
        return nil
    }
}

extension StoreFollower: Sendable where Source: Sendable, Source.Content: Sendable {}

/// Follows a part of a store until an error: the base of the sequences' iterators.
struct FollowingIterator<Source: FollowedContent> {
    /// Returns what follows from here on, and begins with it the first time; nil at the end.
    private var resume: (() throws(VaultError) -> StoreFollower<Source>)?

    /// - Parameter start: finds the store, when the first element is asked for.
    init(_ start: @escaping () throws(VaultError) -> Source) {
        resume = { () throws(VaultError) in try StoreFollower(start()) }
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Source.Element? {
        let former = resume
        // However the iteration ends, it releases the observer.
        resume = nil
        guard var follower = try former?(), let element = try await follower.next(isolation: actor) else { return nil }
        resume = { [follower] in follower }
        return element
    }
}

/// A key, with its stores looked up once; only an old store that cannot be opened now is looked up again at each read.
struct FollowedKey<Value: StoredObject>: FollowedContent {
    private let key: StoredKey<Value>
    private let storedDefault: StoredValue?
    let feeds: [ChangeFeed]

    init(_ key: StoredKey<Value>) throws(VaultError) {
        let (store, oldStore) = (try key.store(), try? key.oldHome?.resolve())
        self.key = StoredKey(
            key.name, default: key.defaultValue, in: .store(store),
            movedFrom: oldStore.map { .store($0) } ?? key.oldHome)
        // A value that an older program writes to the old store is moved as well.
        feeds = [store, oldStore].compactMap { $0?.changes }
        // For an observer, storing the default where there was no value changes nothing.
        storedDefault = try? key.defaultValue?.storedValue(for: key.name)
    }

    func read() throws(VaultError) -> StoredValue? { try key.storedValue() ?? storedDefault }

    func element(_ content: StoredValue?) throws(VaultError) -> Value? {
        guard let content, content != storedDefault else { return key.defaultValue }
        return try Value(stored: content, of: key.name)
    }
}

extension FollowedKey: Sendable where Value: Sendable {}

/// The keys of a store that begin with a prefix.
struct FollowedPrefix: FollowedContent, Sendable {
    let store: any ValueStore
    let prefix: String
    var feeds: [ChangeFeed] { [store.changes] }
    func read() throws(VaultError) -> [String: StoredValue] { try store.contents(prefix: prefix) }
    func element(_ content: [String: StoredValue]) -> [String: StoredValue] { content }
}
