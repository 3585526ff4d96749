package import Sealing

/// Wraps file keys for recipients of any kind, and unwraps them with identities.
package enum Wrapping {
    /// Returns stanzas from which the recipient's identity can unwrap the file key. Only a plugin returns several.
    ///
    /// - Throws: `malformed` if the file key's size or the recipient is invalid; otherwise `plugin` or `outOfMemory`.
    package static func wrap(
        _ fileKey: borrowing SecretBytes, to recipient: Recipient, asking prompter: any PluginPrompter
    ) throws(AgeError) -> [Stanza] {
        switch recipient {
        case .x25519(let key): return [try X25519Wrapping.wrap(fileKey, to: key)]
        case .plugin(let name, let text): return try Plugin(name: name, prompter: prompter).wrap(fileKey, to: text)
        }
    }

    /// Returns the file key from stanzas that all wrap the same key; nil if the identity unwraps none of them.
    ///
    /// - Throws: `malformed` if a stanza of the identity's kind is invalid; otherwise `plugin` or `outOfMemory`.
    package static func unwrap(
        _ stanzas: [Stanza], with identity: borrowing Identity, asking prompter: any PluginPrompter
    ) throws(AgeError) -> SecretBytes? {
        guard let name = identity.pluginName else {
            for stanza in stanzas { if let key = try X25519Wrapping.unwrap(stanza, with: identity) { return key } }
            return nil
        }
        return try Plugin(name: name, prompter: prompter).unwrap(stanzas, with: identity.secret)
    }

    /// Returns the file key from the first identity that unwraps it; nil if none does. Tries secret keys first, since
    /// they need no interaction.
    ///
    /// - Throws: `plugin` if no identity matches and a plugin has failed; otherwise `malformed` or `outOfMemory`.
    package static func unwrap(
        _ stanzas: [Stanza], with identities: borrowing IdentityFile, asking prompter: any PluginPrompter
    ) throws(AgeError) -> SecretBytes? {
        for kind in [IdentityFile.Kind.secretKeys, .plugins] {
            if let key = try unwrap(stanzas, with: kind, of: identities, asking: prompter) { return key }
        }
        return nil
    }

    /// Returns the file key from the first identity of the given kind that unwraps it; nil if no such identity does.
    package static func unwrap(
        _ stanzas: [Stanza], with kind: IdentityFile.Kind, of identities: borrowing IdentityFile,
        asking prompter: any PluginPrompter
    ) throws(AgeError) -> SecretBytes? {
        var failure: AgeError?
        let key = try identities.firstResult { (identity) throws(AgeError) -> SecretBytes? in
            guard (identity.pluginName != nil) == (kind == .plugins) else { return nil }
            do throws(AgeError) { return try unwrap(stanzas, with: identity, asking: prompter) } catch {
                guard error.code == .plugin else { throw error }
                failure = failure ?? error
                return nil
            }
        }
        if let key { return key }
        if let failure { throw failure }
        return nil
    }
}
