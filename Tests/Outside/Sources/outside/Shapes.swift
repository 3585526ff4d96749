import Foundation
import Observation
import Vault
import VaultAccount

// The shapes of five programs, each run twice: what the first run keeps, the second one finds.

// MARK: Groups of values, a line for each

private struct GraphBody: StoredAsCodable {
    var points: [Double]
}

private struct Persistence {
    struct Utility {
        var upgradeAlertIgnored: Storable<Bool> = "u.upgradeIgnored"
        var token: KeychainStorable<String> = "u.token"
        var graphData: RAMStorable<[GraphBody]> = "u.graphData"
        let launches = Storable("u.launches").defaulting(to: 0)
    }
}

@MainActor func groups() throws {
    var utility = Persistence.Utility()
    print("before: \(utility.token.value ?? "none"), ignored \(utility.upgradeAlertIgnored.value ?? false)")
    utility.upgradeAlertIgnored.value = true
    utility.token.value = "secret"
    utility.graphData.value = [GraphBody(points: [1, 2])]
    try utility.launches.update { $0 += 1 }
    print("launches \(utility.launches.value), graphs \(utility.graphData.value?.count ?? 0)")
}

// MARK: Actions of a user, in any store

private enum UserAction: String { case firstLogin, indicatorIndex }

private struct ActionManager {
    let store: any DataStore

    func isDone(_ action: UserAction) async throws -> Bool { try await store.read(action, as: Bool.self) ?? false }

    func mark(_ action: UserAction) async throws { try await store.write(true, for: action) }

    func advance() async throws -> Int {
        let index = try await store.read(UserAction.indicatorIndex, as: Int.self) ?? 0
        try await store.write(index + 1, for: UserAction.indicatorIndex)
        return index + 1
    }
}

@MainActor func actions() async throws {
    for store in [try Keychain.standard, Preferences.standard] as [any DataStore] {
        let manager = ActionManager(store: store)
        let wasDone = try await manager.isDone(.firstLogin)
        try await manager.mark(.firstLogin)
        print("first login done \(wasDone), index \(try await manager.advance())")
    }
}

// MARK: A user whose fields are stored one by one

private enum Theme: String, StoredObject { case light, dark }

private struct User {
    @Stored("user.name") var name: String?
    @Stored("user.theme", default: .light) var theme: Theme
    @Stored("user.visits", default: []) var visits: [Date]
    @KeychainStored("user.password") var password: String?
}

@MainActor func user() throws {
    let user = User()
    print("name \(user.name ?? "none"), theme \(user.theme.rawValue), password \(user.password ?? "none")")
    user.name = "Ada"
    user.theme = .dark
    user.password = "correct horse"
    try user.$visits.update { $0.append(Date()) }
    print("visits \(user.visits.count)")
}

// MARK: An account that is shared by the whole program, with a logout

private struct Account {
    static let share = AccountManager(service: Server())
}

@MainActor func sharedAccount() async throws {
    let state = await Account.share.autoLogin()
    print("at start \(state.isLoggedIn)")
    if state.isLoggedIn {
        try Account.share.logout()
    } else {
        try await Account.share.login(userName: "ada", password: "p")
    }
    print("at end \(Account.share.isLoggedIn), last user \(try Account.share.lastUserName() ?? "none")")
}

// MARK: An observable manager whose requests have a cookie

@MainActor @Observable private final class Client {
    let account = AccountManager(service: Server())
    private let requests = Observed(Storable("client.requests").defaulting(to: 0))

    var title: String { "\(account.state.account?.userName ?? "nobody"), request \(requests.value)" }

    func request() async throws -> String {
        try await Storable("client.requests").defaulting(to: 0).update { $0 += 1 }
        return try await account.cookieHeaderValue(tokenCookie: "sid", userNameCookie: "user")
    }
}

@MainActor func observableManager() async throws {
    let client = Client()
    if await !client.account.autoLogin().isLoggedIn {
        try await client.account.login(userName: "a da", password: "p")
    }
    let before = client.title
    let cookie = try await client.request()
    try await wait { client.title != before }
    print("\(cookie) | \(client.title)")
}
