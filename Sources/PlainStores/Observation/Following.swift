import LinuxSystem

/// A part of a store that can be followed.
///
/// `Content` is the stored state, and only a different content counts as a change. Observers receive `Element`.
struct FollowedPart<Content: Equatable & Sendable, Element>: Sendable {
    /// The stream must start before the first read, so that no change is missed.
    let notices: AsyncStream<Void>
    let read: @Sendable () throws(VaultError) -> Content
    let element: @Sendable (Content) throws(VaultError) -> Element
}

/// Reads a part of a store again after each notice, and returns it if it has changed.
struct Follower<Content: Equatable & Sendable, Element>: Sendable {
    typealias Start = @Sendable () throws(VaultError) -> FollowedPart<Content, Element>

    private struct Look: Sendable {
        let part: FollowedPart<Content, Element>
        let content: Result<Content, VaultError>
    }

    private let start: Start
    private var part: FollowedPart<Content, Element>?
    /// The content that was last read; nil before the first read, and after a failed one.
    private var latest: Content?
    private var isDue = true
    /// The failure that ``nextResult(isolation:)`` returned last; nil if it returned an element.
    private var failure: VaultError?

    init(_ start: @escaping Start) { self.start = start }

    /// Returns the present element; nil if it was returned before. Blocks while it reads.
    mutating func current() throws(VaultError) -> Element? { try take(look()) }

    /// Returns the present element first, then the latest after each change; nil when the task is cancelled.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(VaultError) -> Element? {
        while !Task.isCancelled {
            if isDue, let element = try await currentElsewhere() { return element }
            guard await waitForNotice(isolation: actor) else { break }
        }
        return nil
    }

    /// Does the same, but continues after a failure. It returns the failure once, and then the next element.
    mutating func nextResult(isolation actor: isolated (any Actor)?) async -> Result<Element, VaultError>? {
        while !Task.isCancelled {
            // The store may send no notice when the cause of a failure ends, such as a missing key file.
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

    /// - Returns: false at the end.
    private mutating func waitForNotice(isolation actor: isolated (any Actor)?) async -> Bool {
        var iterator = part?.notices.makeAsyncIterator()
        isDue = await iterator?.next(isolation: actor) != nil
        return isDue
    }
}

extension ValueKey where Self: Sendable {
    /// Follows the key in the store that the key resolves to in the task that starts the iteration.
    func followed() throws(VaultError) -> FollowedPart<StoredValue?, Reading> {
        let store = try resolved()
        let oldStore = try? self.store.history.oldStore?()
        // Storing the default when there was no value is no change for an observer.
        let storedDefault = try? Self.value(of: reading(nil))?.storedValue(for: name)
        // A value that an older program writes to the old store is moved as well.
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
