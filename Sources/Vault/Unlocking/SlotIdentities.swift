import Age
import Glibc
import LinuxSystem
import SealedFormat

/// The identities from a file, which unwrap the file keys in recipients' key slots.
struct SlotIdentities: ~Copyable {
    private let identities: IdentityFile
    /// The vault fingerprints in the file's comments.
    var pins: [String] { identities.pins }
    /// The reason why ``pins`` are not trusted; nil if they are. The identities can be used in either case.
    let distrust: LogError?

    /// Reads an identity file, which must be protected like a key file. Throws `identityUnreadable`, `identityExposed`,
    /// `identityWrong` or `outOfMemory`.
    init(
        at path: String, _ secretFolders: [String], _ options: UnlockingOptions, in files: any FileSystem
    ) throws(LogError) {
        let file: SecretFile
        do throws(LogError) {
            file = try SecretFile.read(
                path, upTo: UInt64(IdentityFile.sizeLimit), secretFolders: secretFolders,
                acceptsShared: options.acceptsSharedKeyFile, in: files)
        } catch {
            switch error.code {
            case .keyMissing: throw LogError(.identityUnreadable, path, systemError: ENOENT)
            case .keyUnreadable: throw LogError(.identityUnreadable, path, systemError: error.systemError)
            case .keyExposed, .keyShared: throw LogError(.identityExposed, path)
            default: throw error
            }
        }
        let reason = file.distrust?.reason(of: path)
        do throws(AgeError) { self.init(try IdentityFile(file.takeContents()), distrusted: reason) } catch {
            guard error.code != .outOfMemory else { throw LogError(.outOfMemory) }
            throw LogError(.identityWrong, "\(path): \(error.detail)")
        }
    }

    private init(_ identities: consuming IdentityFile, distrusted reason: String?) {
        distrust = reason.map { LogError(.untrustworthy, $0) }
        self.identities = identities
    }

    borrowing func open(_ file: [UInt8], asking prompter: any PluginPrompter) throws(AgeError) -> SecretBytes {
        try AgeFile.open(file, with: identities, asking: prompter)
    }

    /// Returns the file key in a recipient's slot, unwrapped with an identity of `kind`; nil if no identity matches.
    borrowing func fileKey(
        in slot: KeySlot, _ kind: IdentityFile.Kind, asking prompter: any PluginPrompter
    ) throws(LogError) -> SecretBytes? {
        guard slot.isOfRecipient else { return nil }
        do throws(AgeError) {
            return try Wrapping.unwrap(Stanza.all(in: slot.parameters), with: kind, of: identities, asking: prompter)
        } catch {
            if error.code == .outOfMemory { throw LogError(.outOfMemory) }
            throw LogError(.identityWrong, error.detail, systemError: error.systemError)
        }
    }
}

extension VaultError {
    /// Translates an `AgeError`. `what` begins the message, as in "The recipient cannot be used".
    init(_ error: AgeError, _ what: String) {
        if error.code == .outOfMemory {
            self = .noGuardedMemory
        } else {
            let isOfTheSystem = SystemError.isShortage(error.systemError)
            self.init(
                isOfTheSystem ? .unavailable : .invalid, "\(what): \(error.detail).", systemError: error.systemError)
        }
    }
}
