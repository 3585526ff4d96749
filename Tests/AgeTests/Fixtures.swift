import Age
import Foundation
import Sealing
import Testing

/// The folder `Vectors`; its README says how its files were made.
enum Fixture {
    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = try #require(Bundle.module.url(forResource: "Vectors", withExtension: nil))
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }

    static func identities(_ name: String) throws -> IdentityFile {
        try IdentityFile(SecretBytes(copyOf: bytes(name + ".identity")))
    }

    static func recipient(_ name: String) throws -> Recipient {
        try Recipient(String(decoding: bytes(name + ".recipient").dropLast(), as: UTF8.self))
    }

    /// The plaintext of the files with chunks.
    static func counting(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

    static let plaintext = Array("attack at dawn".utf8)
}

/// An identity file of some lines.
func identityFile(_ text: String) throws -> IdentityFile {
    try IdentityFile(SecretBytes(copyOf: Array(text.utf8)))
}

func sealed(_ plaintext: [UInt8], to recipients: [Recipient]) throws -> [UInt8] {
    try AgeFile.seal(SecretBytes(copyOf: plaintext), to: recipients, asking: NoPrompts())
}

func opened(_ file: [UInt8], with identities: borrowing IdentityFile) throws -> [UInt8] {
    try AgeFile.open(file, with: identities, asking: NoPrompts()).unsafeArray()
}

/// Returns the error of a call that has to fail.
func failure(_ call: () throws -> Void) throws -> AgeError {
    do { try call() } catch { return try #require(error as? AgeError) }
    throw NoFailure()
}

struct NoFailure: Error {}
