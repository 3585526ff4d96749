import FoundationEssentials
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
            ? "Tell \(member.name.forTerminal) the vault's fingerprint: \(keychain.fingerprint())\n" : ""
        return try invocation.finish(json: member.report) { "Added member \(member.line)\n" + advice }
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
                : members.map { $0.line + "\n" }.joined()
        }
    }
}

enum MemberRemoveCommand: Command {
    static let description = CommandDescription(
        name: .memberRemove, summary: "let a member sign no more, and open the vault no more",
        arguments: [.init(name: "NAME", help: "The member's name in `vault member ls`.")],
        options: [.init(name: .rotate, help: "Rotate the data key at once, without asking.")],
        details: [
            """
            Whoever was a member may have kept the data key: it has to be rotated, as by `vault key rotate`. At a \
            terminal, this command asks whether to do that at once.
            """,
            """
            The removal is signed, and part of the vault's history. A machine that has seen it notices a vault in which \
            it is missing.
            """,
        ],
        examples: [.init("vault member rm tom --rotate", "he has left")],
        exitCodes: [.init(.locked, "this machine is no member's")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        try keychain.removeMember(invocation.name)
        let name = invocation.name.forTerminal
        if !invocation.has(.rotate) {
            StandardError.write("Removed \(name), who may have the data key still: it has to be rotated.\n")
        }
        let rotates = invocation.has(.rotate) || Confirmation.ask("Rotate it now? [y/N] ")
        if rotates { try KeyRotateCommand.rotate(keychain, invocation) }
        return try invocation.finish(json: ["name": invocation.name, "rotated": rotates]) {
            rotates
                ? "Removed \(name). Everything is sealed under a new data key.\n"
                : "Run `vault key rotate` before the next secret is stored.\n"
        }
    }
}

enum MemberDeviceCommand: Command {
    static let description = CommandDescription(
        name: .memberDevice, summary: "show this machine's device, for `vault member add`",
        details: ["It is no secret, but has to reach a member unchanged: by a way that others cannot write to."])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let device = try invocation.places().device()
        return try invocation.finish(json: ["device": device]) { device + "\n" }
    }
}

extension MemberList.Member {
    private var shownSince: String { Timestamp.text(Date(milliseconds: since)) }

    fileprivate var report: JSONObject {
        [
            "name": name, "since": shownSince, "added_by": addedBy, "devices": devices.map(\.text),
            "recipients": recipients,
        ]
    }

    /// In a line for people.
    fileprivate var line: String {
        let machines = devices.count == 1 ? "" : ", \(devices.count) devices"
        let keys = recipients.map { ", \(StandardOutput.shown($0))" }.joined()
        return "\(StandardOutput.shown(name)), since \(shownSince)\(machines)\(keys)"
    }
}
