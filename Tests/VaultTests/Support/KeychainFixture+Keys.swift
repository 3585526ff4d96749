import LinuxSystem
import Sealing
import TestSupport

@testable import Vault

/// An age identity with its recipient, as age's documentation has published them.
enum PublishedIdentity {
    static let secret = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    static let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
}

/// A person who is asked for a passphrase: gives one answer after the other, and counts how often.
final class AskedPerson: Sendable {
    private let answers: [String?]
    private let asked = Mutex<[Int]>([])

    init(_ answers: String?...) { self.answers = answers }

    /// The numbers of the attempts.
    var attempts: [Int] { asked.withLock { $0 } }

    var options: Keychain.Options {
        var options = Keychain.Options()
        options.usesKernelKeyring = false
        options.passphrase = { (attempt) throws(VaultError) in
            self.asked.withLock { $0.append(attempt) }
            guard attempt <= self.answers.count, let answer = self.answers[attempt - 1] else { return nil }
            return try SecretBytes(utf8: answer)
        }
        return options
    }
}

extension KeychainFixture {
    /// The places with another key file, or without one.
    func location(keyFile: String) -> VaultLocation {
        var location = location
        location.keyFile = folder.file(keyFile)
        return location
    }

    /// The places as another machine has them, which remembers nothing yet.
    func elsewhere(keyFile: String = "none.key", identity: String? = nil) throws -> VaultLocation {
        var location = location(keyFile: keyFile)
        location.rollbackMemory = folder.file("state elsewhere")
        guard let identity else { return location }
        location.identityFile = folder.file("identity")
        try overwrite(folder.file("identity"), Array(identity.utf8))
        return location
    }
}

func secret(_ text: String) throws -> SecretBytes { try SecretBytes(utf8: text) }

extension Keychain {
    func text(_ name: String) throws -> String? {
        guard let value = try get(name) else { return nil }
        return String(decoding: value.unsafeArray(), as: UTF8.self)
    }
}
