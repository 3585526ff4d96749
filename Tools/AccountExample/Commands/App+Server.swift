import VaultAccount

extension App {
    func check() async throws {
        let state = try await manager.checkSession()
        say("state: \(state.words)")
    }

    func refresh() async throws {
        try await manager.refresh()
        say("The tokens are new.")
    }

    /// The server's own answer is what is kept; of the profile, one field is written.
    func collect(_ id: String) async throws {
        let authorization = try await manager.authorizationHeaderValue()
        do {
            let collection = try await service.collect(id, authorization: authorization)
            try manager.update(\.collectIds, to: collection)
            say("collected: \(collection.joined(separator: ", "))")
        } catch let error as ServiceError where error.isKick {
            try manager.kicked()
            throw error
        }
    }
}
