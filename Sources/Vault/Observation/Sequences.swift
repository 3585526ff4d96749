extension StoredKeyed {
    /// Returns the present value, then the latest one after each change by this process or another.
    ///
    /// ```swift
    /// for try await token in Persistence.token.values {
    ///     client.token = token
    /// }
    /// ```
    ///
    /// As with ``read()``, the default stands in for a missing value, and nil means that there is neither. Some of
    /// several changes may be skipped, never the last (see <doc:Gotchas>). Storing an equal value is no change. The
    /// last value stays in memory, to be compared.
    ///
    /// An error ends the sequence: ``VaultError`` as ``read()``. Cancelling the task ends it without one. Each
    /// iteration follows the key on its own, in the store that the key has in the task where it starts. Each read runs
    /// on the task's own thread; it blocks while a store is opened or another process rewrites the file.
    public var values: StoredValues<Value> { StoredValues(key: stored) }
}

/// The value of a key, now and after each change: see ``StoredKeyed/values``.
public struct StoredValues<Value: StoredObject>: AsyncSequence {
    public typealias Element = Value?
    public typealias Failure = VaultError

    let key: StoredKey<Value>

    public func makeAsyncIterator() -> Iterator {
        Iterator(base: FollowingIterator { () throws(VaultError) in try key.follower() })
    }

    /// Returns the values one after the other, for one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: FollowingIterator<StoredValue?, Value?>

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

extension ValueStore {
    /// Returns the values of all keys that begin with `prefix`, then the latest ones after each change by this process
    /// or another. Each dictionary is a consistent snapshot. The empty prefix follows the whole store. Otherwise as
    /// ``StoredKeyed/values``.
    public func values(prefix: String = "") -> StoreContents { StoreContents(store: self, prefix: prefix) }
}

/// What a store keeps below a prefix, now and after each change: see ``ValueStore/values(prefix:)``.
public struct StoreContents: AsyncSequence, Sendable {
    public typealias Element = [String: StoredValue]
    public typealias Failure = VaultError

    let store: any ValueStore
    let prefix: String

    public func makeAsyncIterator() -> Iterator {
        Iterator(base: FollowingIterator { () throws(VaultError) in try store.follower(prefix: prefix) })
    }

    /// Returns the contents one after the other, for one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: FollowingIterator<Element, Element>

        /// As ``StoredValues/Iterator/next(isolation:)``, with the errors of ``ValueStore/contents(prefix:)``.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(VaultError) -> Element? {
            try await base.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension StoreContents.Iterator: Sendable {}
