import VaultAccount

extension App {
    func login(_ userName: String) async throws {
        let password = try PasswordInput.read(for: userName)
        let state = try await manager.login(userName: userName, password: password)
        say("state: \(state.words)")
    }
}
