/// What a store keeps below a prefix, now and after each change: see ``ValueStore/values(prefix:)``.
public struct StoreContents: AsyncSequence, Sendable {
    public typealias Element = [String: StoredValue]
    public typealias Failure = VaultError

    let store: any ValueStore
    let prefix: String

    public func makeAsyncIterator() -> Iterator {
        Iterator(FollowedPrefix(store: store, prefix: prefix))
    }

    /// Gives the contents one after the other, for one task.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: FollowingIterator<FollowedPrefix>

        fileprivate init(_ source: FollowedPrefix) {
            base = FollowingIterator { () throws(VaultError) in source }
        }

        /// Waits for the next state; nil, the end of the sequence, when the task is cancelled or after an error.
        ///
        /// - Throws: ``VaultError`` as ``ValueStore/contents(prefix:)``.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(VaultError) -> Element? {
            try await base.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension StoreContents.Iterator: Sendable {}

extension ValueStore {
    /// The values of all keys that begin with `prefix`, then the latest ones after each change, whoever made it: this process or
    /// another. The empty prefix follows the whole store.
    ///
    /// Each dictionary is as the store was at one moment: of a transaction's changes it has all or none. For the rest it
    /// is as ``StoredKeyed/values``.
    public func values(prefix: String = "") -> StoreContents {
        StoreContents(store: self, prefix: prefix)
    }
}

/// The keys of a store that begin with a prefix.
struct FollowedPrefix: FollowedContent, Sendable {
    let store: any ValueStore
    let prefix: String

    var feeds: [ChangeFeed] { [store.changes] }

    func read() throws(VaultError) -> [String: StoredValue] {
        try store.contents(prefix: prefix)
    }

    func element(_ content: [String: StoredValue]) -> [String: StoredValue] { content }
}
