/// The value of a key, now and after each change: see ``StoredKeyed/values``.
public struct StoredValues<Value: StoredObject>: AsyncSequence {
    public typealias Element = Value?
    public typealias Failure = VaultError

    let key: StoredKey<Value>

    public func makeAsyncIterator() -> Iterator {
        Iterator(key)
    }

    /// Gives the values one after the other, for one task.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: FollowingIterator<FollowedKey<Value>>

        fileprivate init(_ key: StoredKey<Value>) {
            base = FollowingIterator { () throws(VaultError) in try FollowedKey(key) }
        }

        /// Waits for the next value; nil, the end of the sequence, when the task is cancelled or after an error.
        ///
        /// - Throws: ``VaultError`` as ``StoredKeyed/read()``.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(VaultError) -> Element? {
            try await base.next(isolation: actor)
        }
    }
}

extension StoredValues: Sendable where Value: Sendable {}

@available(*, unavailable)
extension StoredValues.Iterator: Sendable {}

extension StoredKeyed {
    /// The present value, then the latest one after each change, whoever made it: this process or another.
    ///
    /// ```swift
    /// for try await token in Persistence.token.values {
    ///     client.token = token
    /// }
    /// ```
    ///
    /// As with ``read()`` the default stands in for a missing value, and nil says that there is neither. Of changes in quick
    /// succession some may be skipped; none comes late or twice, and the last one always comes. Storing the value that is there is no change.
    ///
    /// An error is thrown and ends the sequence: ``VaultError`` as ``read()``. Cancelling the task ends it without one. Each
    /// iteration follows the key on its own, from the store that the key has in the task in which the iteration starts.
    ///
    /// Reading is done on the task's own thread. It takes microseconds as a rule; opening the standard store at the first use, or waiting
    /// while another process rewrites the file, takes longer. For comparison the last value stays in memory.
    public var values: StoredValues<Value> { StoredValues(key: stored) }
}

/// A key, with its stores found: for good, but for an old one that cannot be opened now. That is looked for again at each reading.
struct FollowedKey<Value: StoredObject>: FollowedContent {
    private let key: StoredKey<Value>
    private let storedDefault: StoredValue?
    let feeds: [ChangeFeed]

    init(_ key: StoredKey<Value>) throws(VaultError) {
        let (store, oldStore) = (try key.store(), try? key.oldHome?.resolve())
        self.key = StoredKey(
            key.name, default: key.defaultValue, in: .store(store),
            movedFrom: oldStore.map { .store($0) } ?? key.oldHome)
        // A value that an older program puts into the old store comes along as well.
        feeds = [store, oldStore].compactMap { $0?.changes }
        // Storing the default where there was no value changes nothing for an observer.
        storedDefault = try? key.defaultValue?.storedValue(for: key.name)
    }

    func read() throws(VaultError) -> StoredValue? {
        try key.readMoving() ?? storedDefault
    }

    func element(_ content: StoredValue?) throws(VaultError) -> Value? {
        guard let content, content != storedDefault else { return key.defaultValue }
        return try Value(stored: content, of: key.name)
    }
}

extension FollowedKey: Sendable where Value: Sendable {}
