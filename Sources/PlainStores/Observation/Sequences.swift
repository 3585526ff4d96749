extension ValueKey where Self: Sendable {
    /// Returns the present value, then the latest one after each change by this process or another.
    ///
    /// ```swift
    /// for try await token in account.token.values {
    ///     show(token)
    /// }
    /// ```
    ///
    /// The default replaces a missing value, as in ``read()-8f9bj``. nil means that there is neither. Some of several
    /// changes may be skipped, never the last (see <doc:Gotchas>). Storing an equal value is no change. The last value
    /// stays in memory for the comparison.
    ///
    /// An error ends the sequence: ``VaultError`` as ``read()-8f9bj``; ``results`` goes on. Cancelling the task ends it
    /// without one. Each iteration follows the key on its own, in the store that the key resolves to in the task that
    /// starts it. Reads run on threads of the library's own.
    public var values: some AsyncSequence<Reading, VaultError> & Sendable {
        FollowedElements { () throws(VaultError) in try followed() }
    }

    /// Returns the same as ``values``, but continues after an error: for long-running programs.
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
    /// A failure is one element, however long it lasts. Meanwhile the key is read again each second.
    public var results: some AsyncSequence<Result<Reading, VaultError>, Never> & Sendable {
        FollowedResults { () throws(VaultError) in try followed() }
    }
}

extension ValueStore {
    /// Returns the values of all keys that begin with `prefix`, then the latest ones after each change by this process
    /// or another. Each dictionary is a consistent snapshot. The empty prefix follows the whole store. Everything else
    /// is as in ``ValueKey/values``.
    public func values(prefix: String = "") -> some AsyncSequence<[String: StoredValue], VaultError> & Sendable {
        FollowedElements { () throws(VaultError) in try followed(prefix: prefix) }
    }

    /// Returns the same as ``values(prefix:)``, but continues after an error, as ``ValueKey/results`` does.
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
        /// nil at the end: every way for the iteration to end releases the observer.
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
