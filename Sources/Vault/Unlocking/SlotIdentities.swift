import Age
private import Glibc
import LinuxSystem
import SealedLog
import Sealing

/// Looks in key slots for what an identity opens.
struct SlotIdentities: ~Copyable {
    private let identities: IdentityFile
    let path: String
    /// The fingerprints of the vaults that the file names in comments.
    var pins: [String] { identities.pins }

    /// Reads a file of identities. Throws `identityMissing`, `identityWrong`.
    init(at path: String, in files: any FileSystem) throws(LogError) {
        self.path = path
        let contents: SecretBytes
        do throws(SystemError) { contents = try SecretFile.read(path, in: files) } catch {
            throw LogError(.identityMissing, path, systemError: error.number)
        }
        do { identities = try IdentityFile(contents) } catch {
            throw LogError(.identityWrong, "\(path): \(error.detail)")
        }
    }

    /// Opens an age file.
    borrowing func open(_ file: [UInt8], asking prompter: any PluginPrompter) throws(AgeError) -> SecretBytes {
        try AgeFile.open(file, with: identities, asking: prompter)
    }

    /// Returns the file key in a recipient's slot; nil if it is for other identities.
    borrowing func fileKey(
        in slot: KeySlot, asking prompter: any PluginPrompter
    ) throws(LogError) -> SecretBytes? {
        guard slot.isOfRecipient else { return nil }
        do throws(AgeError) {
            return try Wrapping.unwrap(Stanza.all(in: slot.parameters), with: identities, asking: prompter)
        } catch {
            if error.code == .outOfMemory { throw LogError(.outOfMemory) }
            throw LogError(.identityWrong, error.detail)
        }
    }
}

/// A file whose contents are secret, read into guarded memory.
enum SecretFile {
    private static let sizeLimit: UInt64 = 1 << 20

    static func read(_ path: String, in files: any FileSystem) throws(SystemError) -> SecretBytes {
        let file = try files.open(path, .read)
        let status = try files.status(of: file)
        try status.checkRegular(upTo: sizeLimit)
        var contents: SecretBytes
        do { contents = try SecretBytes(zeros: Int(status.size), isKey: true) } catch {
            throw SystemError(ENOMEM, "read")
        }
        let count = try contents.withUnsafeMutableBytes { (buffer) throws(SystemError) in
            try files.read(file, into: buffer, at: 0)
        }
        contents.truncate(to: count)
        return contents
    }
}

extension VaultError {
    /// - Parameter what: what cannot be done, as the start of a sentence.
    init(_ error: AgeError, _ what: String) {
        if error.code == .outOfMemory {
            self = .noGuardedMemory
        } else {
            self.init(.invalid, "\(what): \(error.detail).")
        }
    }
}
