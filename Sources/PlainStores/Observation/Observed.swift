import LinuxSystem
public import Observation

/// An observable copy of a key's value, for `@Observable` models, `withObservationTracking` and `Observations`.
///
/// ```swift
/// @MainActor @Observable final class Session {
///     let token = Observed(KeychainStorable<String>("u.token"))
///     var isLoggedIn: Bool { token.value != nil }
/// }
/// ```
///
/// The value is read on creation, and the key is followed until this object is released. Changes arrive on one actor,
/// by default the main actor, and code on that actor never misses one. Code on other actors may use this object too,
/// but can miss a change that arrives during a read. If that code must not miss any change, use ``ValueKey/values``.
public final class Observed<Value: Sendable>: Observable, Sendable {
    private struct State {
        var value: Value
        var error: VaultError?
        var task: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let registrar = ObservationRegistrar()

    /// The value from the last successful read. Before the first one, this is the key's default, or nil.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    /// The reason why the last read failed; nil if it succeeded. After a failure, the key is read again every second.
    public var error: VaultError? {
        registrar.access(self, keyPath: \.error)
        return state.withLock { $0.error }
    }

    /// Reads and follows a key. The key's store is determined in the current task. Changes arrive on the main actor.
    @MainActor
    public convenience init<Key: ValueKey & Sendable>(_ key: Key) where Key.Reading == Value {
        self.init(key, on: MainActor.shared)
    }

    /// Reads and follows a key. Changes arrive on `actor` until it or this object is released. Does not retain `actor`.
    public init<Key: ValueKey & Sendable>(_ key: Key, on actor: any Actor) where Key.Reading == Value {
        var follower = Follower { () throws(VaultError) in try key.followed() }
        state = Mutex(State(value: key.reading(nil)))
        // No notification is needed, since no code observes this object yet.
        do throws(VaultError) {
            if let value = try follower.current() { state.withLock { $0.value = value } }
        } catch { state.withLock { $0.error = error } }
        let task = follow(with: follower, on: actor)
        state.withLock { $0.task = task }
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Returns a task that follows the key. While the task waits, it retains neither this object nor `actor`.
    private func follow(with follower: Follower<StoredValue?, Value>, on actor: any Actor) -> Task<Void, Never> {
        Task { [weak self, weak actor] in
            var follower = follower
            while let result = await follower.nextResult(isolation: nil) {
                guard let actor else { return }
                await self?.set(result, on: actor)
            }
        }
    }

    private func set(_ result: Result<Value, VaultError>, on actor: isolated any Actor) {
        // The former value is released outside the lock, since its deinitializer may run arbitrary code.
        let (former, present) = state.withLock { state in
            let former = state
            switch result {
            case .success(let value): (state.value, state.error) = (value, nil)
            case .failure(let error): state.error = error
            }
            return (former, state)
        }
        // Observers are notified after the change. An observer that was notified before the change could read the old
        // value on another thread, and would get no further notice.
        if case .success = result { registrar.withMutation(of: self, keyPath: \.value) {} }
        if former.error != present.error { registrar.withMutation(of: self, keyPath: \.error) {} }
    }
}
