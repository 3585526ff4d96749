import FoundationEssentials
import LinuxSystem
import SealedLog
import Vault

enum MemberAddCommand: Command {
    static let description = CommandDescription(
        name: .memberAdd, summary: "let a person sign changes, and open the vault",
        arguments: [.init(name: "NAME", help: "The member's name. One who is a member gets another device.")],
        options: [
            .init(
                name: .device, value: "DEVICE",
                help: "What `vault member device` prints on the member's machine (default: this machine)."),
            .init(
                name: .recipient, value: "AGE1...",
                help: "The member's public key of age, by which it opens the vault. Without it, the member needs a key."
            ),
        ],
        details: [
            """
            Once a vault has members, only they can change it, and each change says who has made it: a member cannot \
            write in another's name. The first member adds themselves, on their own machine.
            """,
            """
            Each machine has a key of its own for that, which stays there: $XDG_CONFIG_HOME/vault/device.key. A member \
            may have several machines; the others are added on one of them.
            """,
        ],
        examples: [
            .init("vault member add mia", "yourself, first"),
            .init("vault member add tom --device vault-device-1-... --recipient age1...", "a colleague"),
        ],
        exitCodes: [.init(.locked, "this machine is no member's")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        try keychain.addMember(
            invocation.name, device: invocation.value(of: .device), recipient: invocation.value(of: .recipient))
        guard let member = try keychain.members().first(where: { $0.name == invocation.name }) else { return .other }
        let advice =
            try invocation.has(.recipient)
            ? "Tell \(member.name.quoted) the vault's fingerprint: \(keychain.fingerprint())\n" : ""
        return try invocation.finish(json: member.report) { "Added member \(member.lines)" + advice }
    }
}

enum MemberListCommand: Command {
    static let description = CommandDescription(
        name: .memberList, summary: "list who can change the vault",
        details: ["A vault without members can be changed by whoever opens it."])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let members = try invocation.openVault().members()
        return try invocation.finish(json: ["members": members.map(\.report)]) {
            members.isEmpty
                ? "There are no members: whoever opens the vault can change it.\n"
                : members.map(\.lines).joined()
        }
    }
}

enum MemberRemoveCommand: Command {
    static let description = CommandDescription(
        name: .memberRemove, summary: "remove a member, or one of its devices",
        arguments: [.init(name: "NAME", help: "The member's name in `vault member ls`.")],
        options: [
            .init(name: .device, value: "DEVICE", help: "Remove this device alone, such as a lost laptop."),
            .init(name: .rotate, help: "Rotate the data key in the same step, without asking."),
            .replaceKey, .dropKey,
            .init(
                name: .keep, value: "NUMBER", isRepeatable: true,
                help: "Keep this key, since the member has never had it."),
            .fileOfKey,
            .init(
                name: .force, help: "Remove the last member too. From then on, nobody signs what is changed."),
        ],
        details: [
            """
            The devices sign no more, and the member's age identities open the vault no more. But the member may have \
            kept the data key, and any key that is not another member's own. So the data key has to be rotated, and \
            those keys have to be replaced. At a terminal, this command asks what to do. Otherwise say it of each key \
            with --replace, --drop or --keep; each of these rotates the data key too.
            """,
            """
            The removal is signed, and part of the vault's history. A machine that has seen it notices a vault in which \
            it is missing.
            """,
        ],
        examples: [
            .init("vault member rm tom --rotate", "he has left"),
            .init("vault member rm tom --replace 1=new.key", "he had key 1 too"),
            .init("vault member rm mia --device vault-device-1-... --rotate", "her laptop is lost"),
        ],
        exitCodes: [
            .init(.locked, "this machine is no member's, or the secret of a key is missing; nothing was changed"),
            .init(.refused, "it is not said what becomes of a key that the member may have; nothing was changed"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        var choices = try KeyChoices(invocation)
        let keychain = try invocation.openVault()
        try choices.check(keychain)
        let member = try keychain.memberToRemove(
            invocation.name, device: invocation.value(of: .device), allowingNobody: invocation.has(.force))
        let name = invocation.name.quoted
        // Before anything is changed.
        if !member.added.isEmpty, !invocation.wantsJSON { Notes.tell(member.words(of: member.added)) }
        var rotates = invocation.has(.rotate) || !choices.isEmpty
        if !rotates {
            rotates = Confirmation.ask(
                "\(name) may have kept the data key\(member.sharedKeys.isEmpty ? "" : " and these keys"):\n"
                    + member.sharedKeys.lines + "Rotate it now? [y/N] ")
        }
        guard rotates else {
            let keys = try keychain.removeMember(member)
            return try finish(invocation, member, keys, rotated: nil)
        }
        try choices.complete(with: member.sharedKeys, of: name)
        let advice = try keychain.adviceForReplacedKey(choices.replaced)
        let rotation = try invocation.withProgress("Sealing anew") { progress in
            try keychain.removeMember(
                member, rotatingAndDropping: choices.keys(choices.dropped, of: keychain),
                replacing: choices.keys(choices.replaced.keys, of: keychain), progress: progress, choices.secret)
        }
        rotation.tell(invocation)
        return try finish(
            invocation, member, rotation.keys, rotated: advice + keychain.advice(forRecipientsAmong: rotation.keys))
    }

    /// - Parameter advice: for whoever has rotated the data key; nil if it was not rotated.
    private static func finish(
        _ invocation: Invocation, _ member: Keychain.RemovedMember, _ keys: [Keychain.Key], rotated advice: String?
    ) throws -> ExitCode {
        let name = invocation.name.quoted
        let report: JSONObject = [
            "name": invocation.name, "rotated": advice != nil, "keys": keys.map(\.report),
            "added": member.added.map(\.name),
        ]
        return try invocation.finish(json: report) {
            let removed = member.isOfDevice ? "Removed that device of \(name)." : "Removed \(name)."
            guard let advice else {
                let shared = member.sharedKeys.map { String($0.number) }.joined(separator: ", ")
                let shown = shared.isEmpty ? "" : ", and may have these keys too: \(shared)"
                return "\(removed)\n" + keys.openers + "\(name) may still have the data key\(shown).\n"
                    + "Nothing was rotated. Before the next secret is stored, run `vault key rotate`"
                    + (shared.isEmpty ? ".\n" : " with --replace NUMBER=PATH for each.\n")
            }
            return "\(removed) Everything is sealed under a new data key.\n" + keys.openers + advice
        }
    }
}

extension Keychain.RemovedMember {
    /// Tells whom the member has brought in, and what to do about those who are not known.
    fileprivate func words(of added: [(name: String, by: String)]) -> String {
        var authors: [String] = []
        for (_, author) in added where authors.last != author { authors.append(author) }
        let parts = authors.map { author in
            "\(author.quoted) added " + added.filter { $0.by == author }.map(\.name.quoted).joined(separator: ", ")
        }
        return parts.joined(separator: "; ")
            + ". They stay. Remove each whom you do not know: `vault member rm NAME`."
    }
}

extension KeyChoices {
    /// Asks what becomes of each key that a removed member may have, and of which it is not said yet.
    fileprivate mutating func complete(with keys: [Keychain.Key], of name: String) throws {
        for key in keys where !includes(key.number) {
            let question =
                "\(name) may have key \(key.number): \(key.line)\n"
                + "Path of a new key file in its place (empty: keep the key, \(name) never had it): "
            guard let answer = TerminalLine.ask(question) else {
                let open = keys.filter { !includes($0.number) }
                throw CommandError.refused(
                    "\(name) may have these keys too, so nothing was changed:\n\(open.lines)"
                        + "Replace each (--replace NUMBER=PATH), drop it (--drop NUMBER), or keep it if \(name) never "
                        + "had it (--keep NUMBER).")
            }
            if answer.isEmpty { kept.insert(key.number) } else { replaced[key.number] = answer }
        }
    }
}

enum MemberDeviceCommand: Command {
    static let description = CommandDescription(
        name: .memberDevice, summary: "show this machine's device, for `vault member add`",
        details: ["It is no secret, but has to reach a member unchanged: by a way that others cannot write to."])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let device = try invocation.location().device()
        return try invocation.finish(json: ["device": device]) { device + "\n" }
    }
}

extension MemberList.Member {
    fileprivate var report: JSONObject {
        ["name": name, "added_by": addedBy, "devices": machines.map(\.report)]
    }

    /// In lines for people: one for each device.
    fileprivate var lines: String {
        machines.map { "\(name.quoted), \($0.line)\n" }.joined()
    }
}

extension MemberList.Member.Machine {
    private var shownSince: String { Timestamp.text(Date(milliseconds: since)) }

    fileprivate var report: JSONObject {
        ["device": device.text, "since": shownSince, "recipient": recipient.isEmpty ? nil : recipient]
    }

    fileprivate var line: String {
        "since \(shownSince), \(device.text)\(recipient.isEmpty ? "" : ", \(StandardOutput.shown(recipient))")"
    }
}
