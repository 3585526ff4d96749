private import CLinux
import LinuxSystem

/// The program's name, which determines its part of the standard stores (see <doc:YourAppsVault>).
public enum VaultApp {
    package struct Identity: Sendable {
        package let name: String
        let preferences: String?
        /// The location of the program's own vault, of a type that only the module Vault knows.
        package let vault: (any Hashable & Sendable)?
    }

    private struct State {
        var identity: Identity?
        /// Whether a standard store was used. From then on, the identity cannot be changed.
        var isFixed = false
    }

    private static let state = Mutex(State())

    /// Sets the program's name. Call it once, before the first use of a standard store.
    ///
    /// In the user's vault, the entries of a named program begin with its name and a slash, so that `vault` shows
    /// `mail/u.token` for its key `"u.token"`. Its preferences are the suite of that name. A program without a name
    /// uses that of its executable file. If the file is renamed, the program does not find its values.
    ///
    /// - Parameters:
    ///   - name: a name that no other program has, such as `com.example.mail`. It must never change.
    ///   - preferences: the path of a property list that replaces the suite's.
    /// - Throws: ``VaultError`` with `invalid` for a name that is empty or too long, or if the program already has
    ///   another identity or has used a standard store.
    public static func identify(as name: String, preferences: String? = nil) throws(VaultError) {
        try identify(as: name, preferences: preferences, vault: nil)
    }

    package static func identify(
        as name: String, preferences: String?, vault: (any Hashable & Sendable)?
    ) throws(VaultError) {
        try Naming.name.check(name)
        _ = try Preferences.fileName(ofSuite: name)
        let identity = Identity(name: name, preferences: preferences, vault: vault)
        let isAccepted = state.withLock { state in
            guard state.identity != identity else { return true }
            guard state.identity == nil, !state.isFixed else { return false }
            state.identity = identity
            return true
        }
        guard isAccepted else {
            throw VaultError(
                .invalid,
                "The program already has an identity, or has used a standard store. Name it once, at its start.")
        }
    }

    /// The name that the program was given; otherwise the name of its executable file.
    public static var name: String { state.withLock { $0.identity }?.name ?? fileName }

    package static func fixedIdentity() -> Identity? {
        state.withLock { state in
            state.isFixed = true
            return state.identity
        }
    }

    package static let fileName: String = {
        let name = vault_program_path().map { String(cString: $0).lastPathComponent } ?? ""
        return name.isEmpty ? "default" : name
    }()
}

extension VaultApp.Identity: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.preferences == right.preferences
            && left.vault.map { AnyHashable($0) } == right.vault.map { AnyHashable($0) }
    }
}
