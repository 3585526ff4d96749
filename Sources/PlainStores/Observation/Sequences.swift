extension ValueKey where Self: Sendable {
    /// A sequence of the current value, and then of the latest value after each change by this or another process.
    ///
    /// ```swift
    /// for try await token in account.token.values {
    ///     show(token)
    /// }
    /// ```
    ///
    /// If there is no value, the element is the key's default, or nil if it has no default, as with ``read()-8f9bj``.
    /// If several changes occur in quick succession, intermediate values may be skipped, but never the last one (see
    /// <doc:Gotchas>). Storing an equal value is not a change. The last value stays in memory for the comparison.
    ///
    /// An error ends the sequence with the ``VaultError`` that ``read()-8f9bj`` would throw; ``results`` continues
    /// instead. Cancelling the task ends the sequence without an error. Each iteration follows the key independently,
    /// in the store to which the key resolves in the iterating task. Reads run on the library's own threads.
    public var values: some AsyncSequence<Reading, VaultError> & Sendable {
        FollowedElements { () throws(VaultError) in try followed() }
    }

    /// The same elements as ``values``, in a sequence that continues after an error. Use it in long-running programs.
    ///
    /// ```swift
    /// for await result in account.token.results {
    ///     switch result {
    ///     case .success(let token): show(token)
    ///     case .failure(let error): show(error.message)
    ///     }
    /// }
    /// ```
    ///
    /// A failure is one element, however long it lasts. During a failure, the key is read again every second.
    public var results: some AsyncSequence<Result<Reading, VaultError>, Never> & Sendable {
        FollowedResults { () throws(VaultError) in try followed() }
    }
}

extension ValueStore {
    /// Returns a sequence of the values of all keys that begin with `prefix`: the current values, and then the latest
    /// values after each change by this or another process. Each dictionary is a consistent snapshot. An empty prefix
    /// follows the whole store. Otherwise, the sequence works like ``ValueKey/values``.
    public func values(prefix: String = "") -> some AsyncSequence<[String: StoredValue], VaultError> & Sendable {
        FollowedElements { () throws(VaultError) in try followed(prefix: prefix) }
    }

    /// Returns a sequence like ``values(prefix:)`` that continues after an error, as ``ValueKey/results`` does.
    public func results(
        prefix: String = ""
    ) -> some AsyncSequence<Result<[String: StoredValue], VaultError>, Never> & Sendable {
        FollowedResults { () throws(VaultError) in try followed(prefix: prefix) }
    }
}

private struct FollowedElements<Content: Equatable & Sendable, Element>: AsyncSequence, Sendable {
    typealias Failure = VaultError

    let start: Follower<Content, Element>.Start

    func makeAsyncIterator() -> Iterator { Iterator(follower: Follower(start)) }

    struct Iterator: AsyncIteratorProtocol {
        /// The source of the elements. It is set to nil when the iteration ends, so that the store drops the observer.
        var follower: Follower<Content, Element>?

        mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Element? {
            var next = follower.take()
            let element = try await next?.next(isolation: actor)
            if element != nil { follower = next }
            return element
        }
    }
}

private struct FollowedResults<Content: Equatable & Sendable, Value>: AsyncSequence, Sendable {
    typealias Element = Result<Value, VaultError>
    typealias Failure = Never

    let start: Follower<Content, Value>.Start

    func makeAsyncIterator() -> Iterator { Iterator(follower: Follower(start)) }

    struct Iterator: AsyncIteratorProtocol {
        var follower: Follower<Content, Value>

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? {
            await follower.nextResult(isolation: actor)
        }
    }
}
