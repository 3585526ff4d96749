import VaultAccount

extension App {
    /// Prints the present state, then the latest after each change.
    func watch() async throws {
        let reloading = Task {
            // Other processes may log in and out, too.
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(200))
                manager.reload()
            }
        }
        defer { reloading.cancel() }
        for await state in manager.states {
            say("state: \(state.words)")
        }
    }
}
