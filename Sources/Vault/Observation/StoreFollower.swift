import Synchronization

/// A part of a store that can be followed: a key, or all keys with a prefix.
protocol FollowedContent<Element> {
    /// As it lies in the store. Two that are equal are no change.
    associatedtype Content: Equatable
    associatedtype Element

    /// The feeds of the stores that it lies in.
    var feeds: [ChangeFeed] { get }
    func read() throws(VaultError) -> Content
    /// What observers get.
    func element(_ content: Content) throws(VaultError) -> Element
}

/// Reads a part of a store anew after each notice, and gives it when it has changed.
struct StoreFollower<Source: FollowedContent> {
    let source: Source
    private let notices: AsyncStream<Void>
    /// nil before the first reading, and after one that failed.
    private var latest: Source.Content?
    private var isDue = true

    /// From now on no change is missed.
    ///
    /// - Throws: as ``ChangeFeed/notices()``.
    init(_ source: Source) throws(VaultError) {
        self.source = source
        notices = try ChangeFeed.notices(of: source.feeds)
    }

    /// What is there now; nil if that was given already.
    ///
    /// - Throws: what reading throws. The same error comes again only after another notice.
    mutating func current() throws(VaultError) -> Source.Element? {
        isDue = false
        do {
            let content = try source.read()
            guard content != latest else { return nil }
            latest = content
            return try source.element(content)
        } catch {
            latest = nil
            throw error
        }
    }

    /// At first what is there, then the latest after each change; nil when the task is cancelled.
    ///
    /// - Throws: as ``current()``.
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

/// Follows a part of a store until an error: what the iterators of sequences are made of.
struct FollowingIterator<Source: FollowedContent> {
    private enum State {
        case unstarted(() throws(VaultError) -> Source)
        case following(StoreFollower<Source>)
        case ended
    }

    private var state: State

    /// - Parameter start: finds the store, when the first element is asked for.
    init(_ start: @escaping () throws(VaultError) -> Source) {
        state = .unstarted(start)
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Source.Element? {
        let former = state
        // Whatever ends the iteration, the observer goes with it.
        state = .ended
        var follower: StoreFollower<Source>
        switch former {
        case .unstarted(let start): follower = try StoreFollower(start())
        case .following(let present): follower = present
        case .ended: return nil
        }
        guard let element = try await follower.next(isolation: actor) else { return nil }
        state = .following(follower)
        return element
    }
}
