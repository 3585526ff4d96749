import VaultAccount

extension App {
    func accounts() throws {
        for id in try manager.accountIDs() {
            say(id == manager.state.account?.id ? "\(id) (current)" : id)
        }
    }

    func switchAccount(to id: String) throws {
        try manager.switchAccount(to: id)
        try whoami()
    }
}
