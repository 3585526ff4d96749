import Foundation
import Vault
import VaultAccount

// Files of older programs, as the import and the migration of accounts read them.

extension FuzzTarget {
    static let archive = FuzzTarget(name: "archive") {
        try KeyedArchives.files.map { try $0.bytes }
    } feed: { input, folder in
        let path = folder + "/archive"
        try write(input, to: path)
        guard let file = try? PlainFile(path: path) else { return }
        for value in file.values.values { checkCoding(of: value) }
    }

    static let account = FuzzTarget(name: "account") {
        let json = [
            #"{"id": "7", "username": "ada", "token": "a", "refreshToken": "b", "password": "c", "nickname": "Ada"}"#,
            #"{"id": 7, "password": "c"}"#, #"{"username": "ada", "points": [1, {"a": null}]}"#, #"{"points": 1}"#,
        ]
        return try json.map { Array($0.utf8) } + KeyedArchives.files.map { try $0.bytes }
    } feed: { input, folder in
        let path = folder + "/account"
        try write(input, to: path)
        let stores = [MemoryStore(), MemoryStore()]
        let manager = AccountManager(
            service: NoService(), keychain: .store(stores[0]), preferences: .store(stores[1]))
        let report = try? manager.migrate(from: .file(path))
        let left = try? URL(filePath: path).bytes
        check(left == nil || left == input, "a migration changed the file")
        guard let report, report.outcome != .nothingFound else {
            check(left == input, "a file that was not migrated is gone")
            return
        }
        check(left == nil, "a migrated file is still there")
        check(stores.contains { !$0.keys(prefix: "").isEmpty }, "a migrated account is nowhere")
        let plain = stores[1].contents(prefix: "account.profile").keys
        check(!plain.contains { $0.hasSuffix(".token") || $0.hasSuffix(".password") }, "a secret is in the clear")
    }
}

/// A server that is never asked.
private struct NoService: AccountService {
    struct Profile: AccountProfile { var nickname: String? }

    func login(userName: String, password: String) async throws(AccountServiceError) -> AccountLogin<Profile> {
        throw .unreachable("")
    }
    func refresh(_ tokens: AccountTokens) async throws(AccountServiceError) -> AccountTokens { throw .unreachable("") }
    func validate(_ tokens: AccountTokens) async throws(AccountServiceError) -> Profile? { throw .unreachable("") }
}
