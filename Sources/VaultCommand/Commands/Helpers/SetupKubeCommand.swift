import FoundationEssentials
import LinuxSystem

enum SetupKubeCommand: Command {
    /// The part of the output of `kubectl config view` that describes users.
    private struct Configuration: Decodable {
        struct User: Decodable {
            struct Settings: Decodable { let exec: Exec? }

            let name: String
            let user: Settings?
        }

        let users: [User]?
    }

    private struct Exec: Decodable, Equatable {
        let apiVersion: String
        let command: String
        let args: [String]?
    }

    /// The credential protocol's version. Every kubectl since 1.11 supports it; none before 1.22 supports a later one.
    private static let version = "client.authentication.k8s.io/v1beta1"

    static let description = CommandDescription(
        name: .setupKube, section: .helpers, summary: "set up kubectl to get a token or certificate from the vault",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The entry; see `vault help kube-credential`.")],
        options: [.init(name: .user, value: "USER", help: "The user in the kubeconfig."), .dryRun, .undo],
        details: """
            Uses `kubectl config` to write the user's exec to the kubeconfig. If kubectl is missing or fails, prints \
            the lines to add. Remove any token or certificate that the user has in the kubeconfig.
            """,
        examples: [.init("vault setup kube kube/prod --user prod", "then run: kubectl get pods")],
        exitCodes: [
            .init(.refused, "another command is set for USER"), .init(.other, "kubectl cannot read its configuration"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard let user = invocation.value(of: .user) else { throw UsageError.missingOption(.user, of: .setupKube) }
        let words = [CommandName.kubeCredential.rawValue, invocation.name] + (try invocation.handedOn())
        let exec = Exec(apiVersion: version, command: OtherProgram.ownWord, args: words)
        guard OtherProgram.isInstalled("kubectl") else {
            return try showLines(
                exec, of: user, "kubectl is not in the PATH, so the kubeconfig was not changed.", invocation)
        }
        let former = try former(of: user)
        let arguments = words.map { "--exec-arg=\(commaSafe($0))" }
        let setting = ["--exec-command=\(exec.command)", "--exec-api-version=\(version)"] + arguments
        let adding = ["kubectl", "config", "set-credentials", user] + setting
        let removing = ["kubectl", "config", "unset", "users.\(user).exec"]
        let isAdding = !invocation.has(.dryRun) && !invocation.has(.undo) && former != exec
        if isAdding {
            guard former == nil else {
                throw CommandError.refused("The user \(user) has another command in the kubeconfig. Remove it first.")
            }
            try NewFile.checkKubeconfig()
            // Debian 12's kubectl always crashes on this command. The user is then shown the lines to add by hand.
            guard (try? OtherProgram.run(adding)) != nil else {
                return try showLines(exec, of: user, "kubectl could not change the kubeconfig.", invocation)
            }
        }
        return try invocation.finish(
            Setting(
                lines: [OtherProgram.line(adding)], undoing: [OtherProgram.line(removing)], write: { isAdding },
                undo: {
                    if former == exec {
                        try NewFile.checkKubeconfig()
                        _ = try OtherProgram.run(removing)
                    }
                    return former == exec
                }))
    }

    private static func former(of user: String) throws -> Exec? {
        let view = try OtherProgram.run(["kubectl", "config", "view", "--output=json"])
        let configuration = try? JSONDecoder().decode(Configuration.self, from: Data(view.utf8))
        return configuration?.users?.first { $0.name.isSame(as: user) }?.user?.exec
    }

    /// Quotes a word that contains a comma or a quotation mark, because kubectl reads this option's value as CSV.
    private static func commaSafe(_ word: String) -> String {
        word.contains(",") || word.contains("\"") ? "\"\(word.replacing("\"", with: "\"\""))\"" : word
    }

    private static func showLines(
        _ exec: Exec, of user: String, _ reason: String, _ invocation: Invocation
    ) throws -> ExitCode {
        let lines =
            [
                "users:", "- name: \(user.quoted)", "  user:", "    exec:", "      apiVersion: \(exec.apiVersion)",
                "      command: \(exec.command.quoted)", "      args:",
            ] + (exec.args ?? []).map { "      - \($0.quoted)" }
        let advice = invocation.has(.undo) ? "Remove these lines:" : "Add these lines to it:"
        if !invocation.wantsJSON { Notes.inform("\(reason) \(advice)") }
        return try invocation.finish(json: ["settings": lines, "written": false]) { lines.map { $0 + "\n" }.joined() }
    }
}
