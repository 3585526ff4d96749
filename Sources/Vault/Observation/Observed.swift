import LinuxSystem
public import Observation

/// Follows the value of a key for `@Observable` models, `withObservationTracking` and `Observations`.
///
/// ```swift
/// @MainActor @Observable final class Session {
///     let token = Observed(Persistence.token)
///     var isLoggedIn: Bool { token.value != nil }
/// }
/// ```
///
/// It has the value from the beginning, and follows the key until it is released. It may be used from any thread.
/// Changes arrive on the actor that created it, if one did, and code on that actor misses none. Code elsewhere may read
/// just while a change arrives; if it must miss none, use ``StoredKeyed/values``.
public final class Observed<Value: StoredObject & Sendable>: Observable, Sendable {
    private let state = Mutex<(value: Value?, error: VaultError?)>((nil, nil))
    private let registrar = ObservationRegistrar()
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// The value, or the key's default; nil if there is neither. During an ``error`` it is the last one that could be
    /// read.
    public var value: Value? {
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    /// Why the key cannot be read; nil as soon as it can. If not even the store was found, that takes another
    /// ``Observed``.
    public var error: VaultError? {
        registrar.access(self, keyPath: \.error)
        return state.withLock { $0.error }
    }

    /// Reads the value of a key, and follows it from now on, in the store that the key has here, in this task.
    ///
    /// - Parameter isolation: the actor on which changes arrive.
    public init(_ key: some StoredKeyed<Value>, isolation: (any Actor)? = #isolation) {
        do throws(VaultError) {
            var follower = try key.stored.follower()
            // No code observes this object yet.
            set(Result { () throws(VaultError) in try follower.current() ?? nil }, on: nil)
            let following = follow(with: follower, on: isolation)
            task.withLock { $0 = following }
        } catch { set(.failure(error), on: nil) }
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// While the task waits it holds neither this object nor the actor, which may be the one that holds this object.
    private func follow(
        with follower: sending StoreFollower<StoredValue?, Value?>, on actor: (any Actor)?
    ) -> Task<Void, Never> {
        Task { [weak self, weak actor] in
            var follower = follower
            while true {
                do throws(VaultError) {
                    guard let value = try await follower.next(isolation: nil) else { return }
                    await self?.set(.success(value), on: actor)
                } catch { await self?.set(.failure(error), on: actor) }
            }
        }
    }

    private func set(_ result: Result<Value?, VaultError>, on actor: isolated (any Actor)?) {
        // The former value is released after the lock: its end may run outside code.
        let (former, present) = state.withLock { state in
            let former = state
            switch result {
            case .success(let value): state = (value, nil)
            case .failure(let error): state.error = error
            }
            return (former, state)
        }
        // After the change: an observer that was notified before it, and read at once on another thread, would get the
        // old value and no further notice.
        if case .success = result { registrar.withMutation(of: self, keyPath: \.value) {} }
        if former.error != present.error { registrar.withMutation(of: self, keyPath: \.error) {} }
    }
}
