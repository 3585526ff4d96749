import VaultAccount

extension App {
    /// Takes over the account that an older version of the app kept in a plain file; the file goes.
    func migrate(_ path: String) throws {
        let migration = try manager.migrate(from: .file(path))
        say("migrated: \(migration.accountID ?? "nothing")")
        say("state: \(manager.state.words)")
    }
}
