import LinuxSystem

/// A part of a store that an observer follows, such as a key.
///
/// `Content` is the part's stored state, which is compared to detect changes. Observers get an `Element` made from it.
struct FollowedPart<Content: Equatable & Sendable, Element>: Sendable {
    /// A stream of notices of possible changes. Start it before the first read, so that no change is missed.
    let notices: AsyncStream<Void>
    let read: @Sendable () throws(VaultError) -> Content
    let element: @Sendable (Content) throws(VaultError) -> Element
}

/// An iterator that reads a part of a store after each notice and returns its content only if it has changed.
struct Follower<Content: Equatable & Sendable, Element>: Sendable {
    typealias Start = @Sendable () throws(VaultError) -> FollowedPart<Content, Element>

    private struct Look: Sendable {
        let part: FollowedPart<Content, Element>
        let content: Result<Content, VaultError>
    }

    private let start: Start
    private var part: FollowedPart<Content, Element>?
    /// The content from the last read; nil before the first read, and after a failed read.
    private var latest: Content?
    private var isDue = true
    /// The failure that the last call to ``nextResult(isolation:)`` returned; nil if that call returned an element.
    private var failure: VaultError?

    init(_ start: @escaping Start) { self.start = start }

    /// Returns the current element; nil if it has not changed since the last call. Blocks during the read.
    mutating func current() throws(VaultError) -> Element? { try take(look()) }

    /// Returns the current element on the first call. Each later call waits for a change. Returns nil if cancelled.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Element? {
        while !Task.isCancelled {
            if isDue, let element = try await currentElsewhere() { return element }
            guard await waitForNotice(isolation: actor) else { break }
        }
        return nil
    }

    /// Acts like ``next(isolation:)``, but also returns failures. Then waits for success or a different failure.
    mutating func nextResult(isolation actor: isolated (any Actor)?) async -> Result<Element, VaultError>? {
        while !Task.isCancelled {
            // Reads again after a second: a failure may end without a notice, as when a missing key file reappears.
            if failure != nil {
                try? await Task.sleep(for: .seconds(1))
                isDue = true
            }
            do throws(VaultError) {
                let element = try await isDue ? currentElsewhere() : nil
                failure = nil
                if let element { return .success(element) }
                guard await waitForNotice(isolation: actor) else { break }
            } catch {
                guard error != failure else { continue }
                failure = error
                return .failure(error)
            }
        }
        return nil
    }

    private mutating func currentElsewhere() async throws(VaultError) -> Element? {
        let follower = self
        return try take(await onBlockingThread { () throws(VaultError) in try follower.look() })
    }

    private func look() throws(VaultError) -> Look {
        let part = if let part { part } else { try start() }
        return Look(part: part, content: Result(catching: part.read))
    }

    private mutating func take(_ look: Look) throws(VaultError) -> Element? {
        let former = latest
        part = look.part
        isDue = false
        latest = nil
        let content = try look.content.get()
        let element = try content == former ? nil : look.part.element(content)
        latest = content
        return element
    }

    /// Waits for a notice that the content may have changed. Returns false if there will be no more notices.
    private mutating func waitForNotice(isolation actor: isolated (any Actor)?) async -> Bool {
        var iterator = part?.notices.makeAsyncIterator()
        isDue = await iterator?.next(isolation: actor) != nil
        return isDue
    }
}

extension ValueKey where Self: Sendable {
    /// Returns the part to follow for this key: its value, in the store to which the key resolves in the current task.
    func followed() throws(VaultError) -> FollowedPart<StoredValue?, Reading> {
        let store = try resolved()
        let oldStore = try? self.store.history.oldStore?()
        // A missing value counts as the key's default here, so storing the default explicitly is not a change.
        let storedDefault = try? Self.value(of: reading(nil))?.storedValue(for: name)
        // Observes the old store too, since a value that an older program writes there is moved to the new store.
        let notices = try ChangeFeed.notices(of: [store, oldStore].compactMap { $0?.changes })
        return FollowedPart(notices: notices) { () throws(VaultError) in
            try finishMove(into: store, for: .reading)
            return try store.value(of: name) ?? storedDefault
        } element: { (content) throws(VaultError) in
            try reading(converted(content == storedDefault ? nil : content))
        }
    }
}

extension ValueStore {
    func followed(prefix: String) throws(VaultError) -> FollowedPart<[String: StoredValue], [String: StoredValue]> {
        FollowedPart(
            notices: try changes.notices(), read: { () throws(VaultError) in try contents(prefix: prefix) },
            element: { $0 })
    }
}
