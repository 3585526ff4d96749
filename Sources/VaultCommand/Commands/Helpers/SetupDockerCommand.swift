import FoundationEssentials
import Vault

enum SetupDockerCommand: Command {
    static let description = CommandDescription(
        name: .setupDocker, section: .helpers, summary: "set up docker to keep its logins in the vault",
        arguments: [
            .init(name: "REGISTRY", count: .optional, help: "Only for this registry (default: all registries).")
        ],
        options: [.dryRun, .undo],
        details: """
            Sets "credsStore" in docker's config.json, or "credHelpers" for one registry. The file is in \
            $DOCKER_CONFIG or ~/.docker. Its other keys are kept; their order and the white space may change, as they \
            do when docker writes the file.

            docker passes no options to the helper. If the vault is not at its standard path, name it in the section \
            [default] of the configuration, or in $VAULT_FILE; see `vault help locations`.

            From then on, docker ignores the logins in the file. Log in again to store them in the vault.
            """,
        examples: [
            .init("vault setup docker", "set it up for all registries"),
            .init("vault setup docker registry.example.org", "set it up for one registry"),
        ],
        exitCodes: [.init(.refused, "docker uses another helper, or its file is not JSON")])

    private static let storeKey = "credsStore"
    private static let helpersKey = "credHelpers"
    private static let helper = StoredValue.string("vault")

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard try invocation.handedOn().isEmpty else {
            throw UsageError.noOptionsHandedOn(by: "docker", to: .dockerCredential)
        }
        let file = try EditedFile(try OtherProgram.path(".docker", orIn: "DOCKER_CONFIG") + "/config.json")
        let registry = invocation.arguments.first
        let line = registry.map { "\"\(helpersKey)\": {\"\($0)\": \"vault\"}" } ?? "\"\(storeKey)\": \"vault\""
        if !invocation.has(.undo) { HelperName.dockerCredential.noteIfMissing(for: "docker") }
        return try invocation.finish(
            Setting(
                lines: ["\(file.path): \(line)"],
                write: { try edit(file) { try setHelper(for: registry, in: &$0, of: file.path) } },
                undo: { try edit(file) { removeHelper(for: registry, from: &$0) } }))
    }

    /// Edits the file as a tree of JSON values, so that unknown keys are kept.
    private static func edit(
        _ file: EditedFile, _ change: (inout [String: StoredValue]) throws -> Void
    ) throws -> Bool {
        var members: [String: StoredValue] = [:]
        if !file.contents.allSatisfy({ " \t\r\n".utf8.contains($0) }) {
            guard case .dictionary(let found)? = try? StoredValue(json: file.contents) else {
                throw CommandError.refused(
                    "\(file.path) is not a JSON object, or has a number larger than 64 bits; it was left alone.")
            }
            members = found
        }
        let former = members
        try change(&members)
        guard members != former else { return false }
        return try file.write(ValueText.json(.dictionary(members), isIndented: true) + [UInt8(ascii: "\n")])
    }

    private static func setHelper(
        for registry: String?, in members: inout [String: StoredValue], of path: String
    ) throws(CommandError) {
        guard let registry else {
            try check(members[storeKey], "\(storeKey)", path)
            members[storeKey] = helper
            return
        }
        guard var helpers = helpers(of: members) else {
            throw .refused("\(helpersKey) in \(path) is not a JSON object; the file was left alone.")
        }
        try check(helpers[registry], "\(helpersKey) for \(registry)", path)
        helpers[registry] = helper
        members[helpersKey] = .dictionary(helpers)
    }

    /// Throws if another helper is already configured. It may hold logins, so the user has to decide.
    private static func check(_ former: StoredValue?, _ what: String, _ path: String) throws(CommandError) {
        guard former == nil || former == helper else { throw .refused("\(path) has another \(what). Remove it first.") }
    }

    private static func removeHelper(for registry: String?, from members: inout [String: StoredValue]) {
        guard let registry else {
            if members[storeKey] == helper { members[storeKey] = nil }
            return
        }
        guard var helpers = helpers(of: members), helpers[registry] == helper else { return }
        helpers[registry] = nil
        members[helpersKey] = helpers.isEmpty ? nil : .dictionary(helpers)
    }

    /// Returns the credential helpers of individual registries, or nil if credHelpers is not a JSON object.
    private static func helpers(of members: [String: StoredValue]) -> [String: StoredValue]? {
        switch members[helpersKey] {
        case nil: [:]
        case .dictionary(let helpers): helpers
        default: nil
        }
    }
}
