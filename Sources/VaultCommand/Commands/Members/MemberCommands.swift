import FoundationEssentials
import LinuxSystem
import SealedFormat
import Vault

enum MemberAddCommand: Command {
    static let description = CommandDescription(
        name: .memberAdd, section: .members, summary: "add a member, who signs changes and can open the vault",
        arguments: [.init(name: "NAME", help: "The member's name. An existing member gets another device.")],
        options: [
            .init(
                name: .device, value: "DEVICE",
                help: "The output of `vault member device` on the member's machine (default: this machine)."),
            .init(
                name: .recipient, value: "AGE1...",
                help: "The member's age public key, which opens the vault. Without it, the member needs another key."
            ),
        ],
        details: """
            Once a vault has members, only they can change it, and each change names its author. A member cannot write \
            under another member's name. The first member adds themselves, on their own machine.

            Each machine signs with its own key, $XDG_CONFIG_HOME/vault/device.key, which never leaves the machine. A \
            member may have several machines, and any of them can add another.
            """,
        examples: [
            .init("vault member add mia", "add yourself as the first member"),
            .init("vault member add tom --device vault-device-1-... --recipient age1...", "add a colleague"),
        ],
        exitCodes: [.init(.locked, "this machine does not belong to a member")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        try keychain.members.add(
            invocation.name, device: invocation.value(of: .device), recipient: invocation.value(of: .recipient))
        guard let member = try keychain.members.all().first(where: { $0.name == invocation.name }) else {
            return .other
        }
        let advice =
            try invocation.has(.recipient)
            ? "Give \(member.name.quoted) the vault's fingerprint: \(keychain.vaultKeys.fingerprint())\n" : ""
        return try invocation.finish(json: member.report) { "Added member \(member.lines)" + advice }
    }
}

enum MemberListCommand: Command {
    static let description = CommandDescription(
        name: .memberList, section: .members, changesNothing: true,
        summary: "list the members, who can change the vault",
        details: "If a vault has no members, anyone who can open it can change it.")

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let members = try invocation.openVault().members.all()
        return try invocation.finish(json: ["members": members.map(\.report)]) {
            members.isEmpty
                ? "The vault has no members, so anyone who can open it can change it.\n"
                : members.map(\.lines).joined()
        }
    }
}

enum MemberRemoveCommand: Command {
    static let description = CommandDescription(
        name: .memberRemove, section: .members, summary: "remove a member, or one of their devices",
        arguments: [.init(name: "NAME", help: "The member's name in `vault member ls`.")],
        options: [
            .init(name: .device, value: "DEVICE", help: "Remove only this device, such as a lost laptop."),
            .init(name: .rotate, help: "Also rotate the data key, without asking."),
            .replaceKey, .dropKey,
            .init(
                name: .keep, value: "NUMBER", isRepeatable: true,
                help: "Keep this key, because the member never had it."),
            .fileOfKey,
            .init(name: .force, help: "Remove even the last member. From then on, changes are unsigned."),
        ],
        details: """
            The member's devices can no longer sign, and the member's age identities no longer open the vault. But the \
            member may have kept the data key and any shared key (one that is not another member's own). So rotate the \
            data key and replace those keys. At a terminal, this command asks what to do. Without one, it rotates the \
            data key only with --rotate, or if you decide about a key with --replace, --drop, --keep or --file.

            The removal is signed and recorded in the vault's history. A machine that has seen the removal detects a \
            vault that lacks it.
            """,
        examples: [
            .init("vault member rm tom --rotate", "remove a colleague who has left"),
            .init("vault member rm tom --replace 1=new.key", "also replace key 1, which tom had"),
            .init("vault member rm mia --device vault-device-1-... --rotate", "remove a lost laptop"),
        ],
        exitCodes: [
            .init(.locked, "this machine belongs to no member, or a key's secret is missing; nothing was changed"),
            .init(.refused, "decide what to do with each key that the member may have; nothing was changed"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        var choices = try KeyChoices(invocation)
        let keychain = try invocation.openVault()
        try choices.check(keychain)
        let member = try keychain.members.removal(
            of: invocation.name, device: invocation.value(of: .device), allowingNobody: invocation.has(.force))
        let name = invocation.name.quoted
        // Before anything changes, lists the members whom the removed member had added, because they remain.
        if !member.added.isEmpty, !invocation.wantsJSON { Notes.inform(member.advice(on: member.added, invocation)) }
        var rotates = invocation.has(.rotate) || !choices.isEmpty
        if !rotates {
            let question =
                "\(name) may have kept the data key\(member.sharedKeys.isEmpty ? "" : " and these keys"):\n"
                + member.sharedKeys.lines + "Rotate the data key? [y/N] "
            rotates = try Confirmation.askUnlessEnded(question, "nothing was changed")
        }
        guard rotates else {
            let keys = try keychain.members.remove(member)
            return try finish(invocation, member, keys, rotated: nil)
        }
        try choices.complete(with: member.sharedKeys, of: name)
        let advice = try keychain.adviceForReplacedKey(choices.replaced, invocation)
        let rotation = try invocation.withProgress("Resealing") { progress in
            try keychain.members.remove(
                member, rotatingAndDropping: choices.keys(choices.dropped, of: keychain),
                replacing: choices.keys(choices.replaced.keys, of: keychain), progress: progress, choices.secret)
        }
        rotation.report(invocation)
        return try finish(
            invocation, member, rotation.keys, rotated: advice + keychain.advice(forRecipientsAmong: rotation.keys))
    }

    /// - Parameter advice: the advice to print if the data key has been rotated; otherwise nil.
    private static func finish(
        _ invocation: Invocation, _ member: Keychain.Members.Removal, _ keys: [Keychain.VaultKeys.Key],
        rotated advice: String?
    ) throws -> ExitCode {
        let name = invocation.name.quoted
        let report: JSONObject = [
            "name": invocation.name, "rotated": advice != nil, "keys": keys.map(\.report),
            "added": member.added.map(\.name),
        ]
        return try invocation.finish(json: report) {
            let removed = member.isOfDevice ? "Removed one device of \(name)." : "Removed \(name)."
            guard let advice else {
                let shared = member.sharedKeys.map { String($0.number) }.joined(separator: ", ")
                let shown = shared.isEmpty ? "" : ", and may also have these keys: \(shared)"
                let options = member.sharedKeys.map { " --replace \($0.number)=PATH" }.joined()
                let choice = shared.isEmpty ? "" : " You can also drop a key (--drop NUMBER)."
                return "\(removed)\n" + keys.openers + "\(name) may still have the data key\(shown).\n"
                    + "The data key was not rotated. Before the next secret is stored, "
                    + (member.leavesThisMachineOut ? "another member must run " : "run ")
                    + "`\(AdvisedCommand(invocation).line("key rotate\(options)"))`.\(choice)\n"
            }
            return "\(removed) Everything is now sealed under a new data key.\n" + keys.openers + advice
        }
    }
}

extension Keychain.Members.Removal {
    /// Returns a sentence that lists the members added by each author, with advice to remove unknown ones.
    fileprivate func advice(on added: [(name: String, by: String)], _ invocation: Invocation) -> String {
        var authors: [String] = []
        for (_, author) in added where authors.last != author { authors.append(author) }
        let parts = authors.map { author in
            "\(author.quoted) added " + added.filter { $0.by == author }.map(\.name.quoted).joined(separator: ", ")
        }
        return parts.joined(separator: "; ") + ". They remain members. Remove unknown ones: "
            + "`\(AdvisedCommand(invocation).line("member rm NAME"))`."
    }
}

extension KeyChoices {
    /// Asks the user whether to replace each key that a removed member may have, unless an option already says so.
    fileprivate mutating func complete(with keys: [Keychain.VaultKeys.Key], of name: String) throws {
        for key in keys where !includes(key.number) {
            let question =
                "\(name) may have key \(key.number): \(key.line)\n"
                + "Path of a new key file to replace it (leave empty to keep it, if \(name) never had it): "
            guard let answer = try? TerminalLine.ask(question) else {
                let open = keys.filter { !includes($0.number) }
                throw CommandError.refused(
                    "\(name) may also have these keys; nothing was changed:\n\(open.lines)"
                        + "Replace each (--replace NUMBER=PATH), drop it (--drop NUMBER), or keep it if \(name) never "
                        + "had it (--keep NUMBER).")
            }
            if answer.isEmpty { kept.insert(key.number) } else { replaced[key.number] = answer }
        }
    }
}

enum MemberDeviceCommand: Command {
    static let description = CommandDescription(
        name: .memberDevice, section: .members, summary: "show this machine's device, for `vault member add`",
        details: "The output is not secret. Send it to a member over a channel on which nobody else can alter it.")

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let device = try invocation.location().device()
        return try invocation.finish(json: ["device": device]) { device + "\n" }
    }
}

extension MemberList.Member {
    fileprivate var report: JSONObject { ["name": name, "added_by": addedBy, "devices": machines.map(\.report)] }

    fileprivate var lines: String { machines.map { "\(name.quoted), \($0.line)\n" }.joined() }
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
