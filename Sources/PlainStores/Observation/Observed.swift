import LinuxSystem
public import Observation

/// Follows the value of a key for `@Observable` models, `withObservationTracking` and `Observations`.
///
/// ```swift
/// @MainActor @Observable final class Session {
///     let token = Observed(KeychainStorable<String>("u.token"))
///     var isLoggedIn: Bool { token.value != nil }
/// }
/// ```
///
/// It has the value from the beginning, and follows the key until it is released. Changes arrive on one actor, the main
/// actor unless another is named. Code on that actor misses none. It may be used from any thread, but code elsewhere
/// may read just while a change arrives; if it must miss none, use ``ValueKey/values``.
public final class Observed<Value: Sendable>: Observable, Sendable {
    private struct State {
        var value: Value
        var error: VaultError?
        var task: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let registrar = ObservationRegistrar()

    /// The value that reading the key returns. During an ``error`` it is the last value that could be read.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    /// Why the key cannot be read; nil as soon as it can. The read is repeated each second.
    public var error: VaultError? {
        registrar.access(self, keyPath: \.error)
        return state.withLock { $0.error }
    }

    /// Reads the value of a key and follows it from now on, in the store that the key resolves to in this task. Changes
    /// arrive on the main actor.
    @MainActor
    public convenience init<Key: ValueKey & Sendable>(_ key: Key) where Key.Reading == Value {
        self.init(key, on: MainActor.shared)
    }

    /// Does the same for changes that arrive on another actor, which is not retained: none arrive once it is released.
    public init<Key: ValueKey & Sendable>(_ key: Key, on actor: any Actor) where Key.Reading == Value {
        var follower = Follower { () throws(VaultError) in try key.followed() }
        state = Mutex(State(value: key.reading(nil)))
        // No code observes this object yet.
        do throws(VaultError) {
            if let value = try follower.current() { state.withLock { $0.value = value } }
        } catch { state.withLock { $0.error = error } }
        let task = follow(with: follower, on: actor)
        state.withLock { $0.task = task }
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Follows the key without retaining this object or the actor while waiting: the actor may own this object.
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
        // The former value is released after the lock, since its deinitializer may run outside code.
        let (former, present) = state.withLock { state in
            let former = state
            switch result {
            case .success(let value): (state.value, state.error) = (value, nil)
            case .failure(let error): state.error = error
            }
            return (former, state)
        }
        // Observers are notified after the change. If they were notified before it and read at once on another thread,
        // they would get the old value and no further notice.
        if case .success = result { registrar.withMutation(of: self, keyPath: \.value) {} }
        if former.error != present.error { registrar.withMutation(of: self, keyPath: \.error) {} }
    }
}
