import LinuxSystem
import SealedFormat
import Vault

// The wording that command output uses for keys and authors.

extension [Keychain.VaultKeys.Key] {
    /// The list of keys that still open the vault after other keys have been removed.
    var openers: String { "These keys open the vault now:\n" + lines }

    var lines: String { map { "\($0.isInUse ? "*" : " ") \($0.number)  \($0.line)\n" }.joined() }
}

extension Keychain.VaultKeys.Key {
    var shownLabel: String { label.isEmpty ? "" : " (\(label.quoted))" }

    var report: JSONObject {
        let cost: JSONObject? = cost.map { ["passes": $0.passes, "memory": $0.memory] }
        return [
            "number": number, "kind": kind.name, "label": label, "created": Timestamp.text(created), "cost": cost,
            "recipient": recipient, "command": command, "is_in_use": isInUse,
        ]
    }

    var line: String {
        let what = kind.name.replacing("-", with: " ")
        let label = label.isEmpty ? "" : " \(label.quoted)"
        let cost = cost.map { " (Argon2id, \($0.passes) passes, \(Quantity.size($0.memory)))" } ?? ""
        // A key command is quoted, so that it cannot imitate the adjacent text: another user may have chosen it.
        let detail = (recipient.map(StandardOutput.shown) ?? command?.quoted).map { ", \($0)" } ?? ""
        return "\(what)\(cost)\(label), since \(Timestamp.text(created))\(detail)"
    }
}

extension MemberList.Author {
    var wasMember: Bool { if case .member = self { true } else { false } }

    /// The name, quoted so that it cannot imitate adjacent text, and a note if the author was not a member then.
    var line: String { name.quoted + (wasMember ? "" : " (not a member at that time)") }
}
