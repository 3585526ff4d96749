import VaultAccount

extension App {
    /// The server is told first, while there is still a token to tell it with. What becomes of that does not hold the person up.
    func logout() async throws {
        if manager.isLoggedIn {
            do { try await service.logout(authorization: manager.authorizationHeaderValue()) } catch {
                note("The server could not be told: \(Failure(error).sentence)")
            }
        }
        try manager.logout()
        say("state: \(manager.state.words)")
    }
}
