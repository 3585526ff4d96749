import Foundation
import Observation
import Synchronization
import Vault
import VaultAccount

/// A view that takes a millisecond to render, and renders again when it is told to.
@MainActor private final class View<Shown: Equatable & Sendable> {
    private(set) var shown: Shown?
    private let read: () -> Shown
    private var isDue = false

    init(_ read: @escaping () -> Shown) {
        self.read = read
        render()
    }

    private func render() {
        isDue = false
        withObservationTracking {
            let value = read()
            // What takes time comes before the tracking begins: this is where a change was missed.
            usleep(1_000)
            shown = value
        } onChange: { [weak self] in
            Task { @MainActor in self?.renderOnce() }
        }
    }

    private func renderOnce() {
        guard !isDue else { return }
        isDue = true
        Task { self.render() }
    }
}

@MainActor @Observable private final class Model {
    // In a stored property's initial value, where a default isolation was nil.
    let number = Observed(Storable("number", in: .memory).defaulting(to: 0))
}

/// Makes 300 changes from another thread, each at a random moment of a rendering, and counts those that the view has
/// not shown after half a second without another change.
@MainActor func staleValues() async throws {
    let model = Model()
    let view = View { model.number.value }
    var stale = 0
    for number in 1...300 {
        try await Task.detached {
            usleep(.random(in: 0...1_500))
            try await Storable<Int>("number", in: .memory).write(number)
        }.value
        if await !shows(view, number) { stale += 1 }
    }
    print("stale \(stale) of 300")
}

/// Does the same with 200 logins and logouts.
@MainActor func staleAccounts() async throws {
    let manager = AccountManager(
        service: Server(), keychain: .memory.scoped(to: "secrets"), preferences: .memory.scoped(to: "plain"))
    let view = View { manager.isLoggedIn }
    var stale = 0
    for number in 1...200 {
        let isLogin = number % 2 == 1
        try await Task.detached {
            usleep(.random(in: 0...1_500))
            if isLogin { try await manager.login(userName: "ada", password: "p") } else { try manager.logout() }
        }.value
        if await !shows(view, isLogin) { stale += 1 }
    }
    print("stale \(stale) of 200")
}

@MainActor private func shows<Shown>(_ view: View<Shown>, _ value: Shown) async -> Bool {
    for _ in 0..<250 where view.shown != value { try? await Task.sleep(for: .milliseconds(2)) }
    return view.shown == value
}
