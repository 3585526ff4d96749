import Observation
import Synchronization
import Testing
import Vault
import VaultTesting

@MainActor @Observable final class Model {
    let theme = Observed(Storable<Theme>("theme").defaulting(to: .light))
    var isDark: Bool { theme.value == .dark }
}

/// What an observer was shown.
private final class Screen: Sendable {
    private let shown = Mutex<[String?]>([])

    var last: String?? { shown.withLock { $0.last } }

    func show(_ text: String?) { shown.withLock { $0.append(text) } }

    func waits(for text: String?) async throws {
        while last != .some(text) { try await Task.sleep(for: .milliseconds(1)) }
    }
}

@Suite("Observation", .temporaryStores, .timeLimit(.minutes(10)))
struct ObservationSnippets {
    @MainActor @Observable final class Session {
        let token = Observed(KeychainStorable<String>("u.token"))
        var isLoggedIn: Bool { token.value != nil }
    }

    private struct Account {
        let token: KeychainStorable<String> = "account.token"
    }

    @Test func aValueIsFollowed() async throws {
        let account = Account()
        let screen = Screen()
        let observer = Task {
            func show(_ token: String?) { screen.show(token) }

            for try await token in account.token.values {
                show(token)
            }
        }
        try await screen.waits(for: nil)
        try await account.token.write("secret")
        try await screen.waits(for: "secret")
        try await account.token.remove()
        try await screen.waits(for: nil)
        observer.cancel()
        try await observer.value
    }

    @Test func resultsGoOnAfterAnError() async throws {
        let account = Account()
        let screen = Screen()
        let observer = Task {
            func show(_ text: String?) { screen.show(text) }

            for await result in account.token.results {
                switch result {
                case .success(let token): show(token)
                case .failure(let error): show(error.message)
                }
            }
        }
        try await screen.waits(for: nil)
        try await KeychainStorable<Int>("account.token").write(1)
        while screen.last??.contains("an integer") != true { try await Task.sleep(for: .milliseconds(1)) }
        try await account.token.write("secret")
        try await screen.waits(for: "secret")
        observer.cancel()
        await observer.value
    }

    @MainActor @Test func aSessionKnowsWhetherThereIsAToken() async throws {
        let session = Session()
        #expect(!session.isLoggedIn)
        try await KeychainStorable<String>("u.token").write("secret")
        while !session.isLoggedIn { try await Task.sleep(for: .milliseconds(1)) }
    }

    @MainActor @Test func aModelChangesWithTheValue() async throws {
        let model = Model()
        #expect(!model.isDark)
        try await Storable<Theme>("theme").write(.dark)
        while !model.isDark { try await Task.sleep(for: .milliseconds(1)) }
    }
}
