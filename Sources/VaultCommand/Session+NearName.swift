import Vault

extension Session {
    /// A list of names longer than this is not read through for the sake of a hint.
    private static let mostNamesSearched = 20_000

    /// The error for a name that is not there, with the name that may have been meant.
    func absent(_ name: String, in keychain: Keychain) -> CommandError {
        guard let information = try? keychain.information(), information.entries <= Self.mostNamesSearched,
            let names = try? keychain.names()
        else { return .absent(name, near: nil) }
        return .absent(name, near: NearName.nearest(to: name, among: names))
    }
}
