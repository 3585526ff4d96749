import FoundationEssentials
import Testing
import Vault
import VaultTesting

enum Theme: String, Codable, StoredObject {
    case light
    case dark
}

struct Profile: StoredAsCodable {
    var name: String
    var theme: Theme
    var visits: [Date]
    var motto: String?
}

struct Angle: StoredObject {
    var degrees: Double

    func toPrimitive() -> Double? { degrees.isFinite ? degrees : nil }
    static func from(primitive: Double) -> Angle? { Angle(degrees: primitive) }
}

struct Settings {
    @Stored("s.nickname") var nickname: String?
    @Stored("s.launches", default: 0) var launches: Int
    @KeychainStored("s.token") var token: String?
}

/// What a program would have of its own.
private struct Session {
    enum State: Equatable {
        case loggedOut
        case loggedIn(String)
        case noKey(String)
        case failed(String)
    }

    var token: KeychainStorable<String> = "account.token"
    var refreshToken: KeychainStorable<String> = "account.refresh"
}

@Suite("Getting started", .temporaryStores)
struct GettingStartedSnippets {
    private let account = Session()

    @Test func valuesLieWhereTheirTypesSay() throws {
        let token = "secret"

        var utility = Persistence.Utility()
        utility.upgradeAlertIgnored.value = true
        utility.token.value = token

        utility.graphData.value = [GraphBody(points: [1, 2.5])]
        #expect(try Preferences.standard.keys(prefix: "") == ["u.upgradeIgnored"])
        #expect(try Keychain.standard.keys() == ["u.token"])
        #expect(MemoryStore.standard.keys(prefix: "") == ["u.graphData"])
        #expect(utility.graphData.value?.first?.points == [1, 2.5])
    }

    @Test func theCallsThatThrow() throws {
        let token: KeychainStorable<String> = "u.token"
        try token.write("secret")
        let kept = try token.read()
        try token.remove()

        #expect(kept == "secret")
        #expect(try !token.exists())
    }

    private func state(of account: Session) -> Session.State {
        do {
            guard let token = try account.token.read() else { return .loggedOut }
            return .loggedIn(token)
        } catch {
            switch error.code {
            case .locked: return .noKey(error.message)
            default: return .failed(error.message)
            }
        }
    }

    @Test func errorsAreToldApart() throws {
        #expect(state(of: account) == .loggedOut)
        try account.token.write("secret")
        #expect(state(of: account) == .loggedIn("secret"))
        let asNumber = KeychainStorable<Int>("account.token")
        try asNumber.write(1)
        guard case .failed(let message) = state(of: account) else {
            Issue.record("an integer was read as a string")
            return
        }
        #expect(message.contains("an integer"))
    }

    @Test func updatesCount() throws {
        let launches = Storable("launches").defaulting(to: 0)
        let count = try launches.update { count in
            count += 1
            return count
        }

        #expect(count == 1)
        #expect(try launches.read() == 1)
    }

    @Test func callsThatAwait() async throws {
        let token: KeychainStorable<String> = "u.token"
        let launches = Storable("launches").defaulting(to: 0)
        let keychain = try Keychain.standard
        try await token.write("secret")

        let kept = try await token.read()
        try await launches.update { $0 += 1 }
        let items = try await keychain.asynchronously { try $0.items(prefix: "u.") }

        #expect(kept == "secret" && items.map(\.name) == ["u.token"])
    }

    @Test func aStoreOfAnyKindKeepsCodableTypes() async throws {
        let profile = Profile(name: "Ada", theme: .dark, visits: [])

        let store: any DataStore = try Keychain.standard
        try await store.write(profile, for: "u.profile")
        let kept = try await store.read("u.profile", as: Profile.self)

        #expect(kept?.name == "Ada")
    }

    @Test func aTransactionChangesSeveralKeys() throws {
        try account.token.write("old")
        try account.refreshToken.write("spent")

        try Keychain.standard.atomically { transaction in
            try transaction.write("new", to: account.token)
            try transaction.remove(account.refreshToken)
        }

        #expect(try account.token.read() == "new")
        #expect(try !account.refreshToken.exists())
    }

    @Test func typesOfOnesOwn() throws {
        let profile = Storable<Profile>("profile")
        try profile.write(Profile(name: "Ada", theme: .dark, visits: [Date(timeIntervalSinceReferenceDate: 1)]))
        #expect(try profile.read()?.theme == .dark)
        #expect(try profile.read()?.visits.count == 1)

        let angles = Storable<[Angle]>("angles")
        try angles.write([Angle(degrees: 45)])
        #expect(try angles.read()?.first?.degrees == 45)
        let error = #expect(throws: VaultError.self) { try angles.write([Angle(degrees: .nan)]) }
        #expect(error?.code == .invalid)
    }

    @Test func wrappersAreProperties() throws {
        let settings = Settings()
        settings.nickname = "ada"
        settings.launches += 1
        settings.token = "secret"
        #expect(try settings.$nickname.read() == "ada")
        #expect(try settings.$launches.read() == 1)
        #expect(try Keychain.standard.keys() == ["s.token"])
        settings.nickname = nil
        #expect(try !settings.$nickname.exists())
    }
}
