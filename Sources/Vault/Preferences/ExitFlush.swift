private import Glibc
import LinuxSystem

/// Writes at the process's exit what coalescing preferences still hold.
enum ExitFlush {
    private struct Reference {
        weak var preferences: Preferences?
    }

    private struct State {
        var references: [Reference] = []
        var isInstalled = false
    }

    private static let state = Mutex(State())

    static func register(_ preferences: Preferences) {
        state.withLock { state in
            state.references.removeAll { $0.preferences == nil }
            state.references.append(Reference(preferences: preferences))
            guard !state.isInstalled else { return }
            state.isInstalled = true
            atexit { ExitFlush.flushAll() }
        }
    }

    private static func flushAll() {
        let all = state.withLock { $0.references.compactMap(\.preferences) }
        for preferences in all {
            do { try preferences.flush() } catch {
                preferences.failures.report(error, key: (try? preferences.path) ?? "preferences")
            }
        }
    }
}
