import LinuxSystem
import Vault

enum SetupCommand: Command {
    static let description = CommandDescription(
        name: .setupGitMerge, summary: "let git merge and compare vaults in this repository",
        options: [.init(name: .dryRun, help: "Show what would be written, and write nothing.")],
        details: [
            """
            Writes a merge driver and a converter for `git diff` to the repository's configuration, and one line to \
            its .gitattributes. Names, sizes and times are compared, never values. To undo it, remove these lines.
            """
        ],
        examples: [.init("vault setup git-merge --dry-run", "see the lines first")],
        exitCodes: [.init(.other, "this is no git repository, or git is not installed")])

    /// The settings of git, and their values. git runs them by the shell; %A is our copy, %B the other one.
    private static let settings = [
        ("merge.vault.name", "merge of vaults"),
        ("merge.vault.driver", "vault merge --detached --vault %A %B"),
        ("diff.vault.textconv", "vault ls --long --detached --vault"),
    ]
    private static let attributes = "*.vault -text merge=vault diff=vault"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let folder = try ChildProcess.output(of: ["git", "rev-parse", "--show-toplevel"])
        let path = folder + "/.gitattributes"
        let lines = settings.map { "git config \($0.0) '\($0.1)'\n" }.joined() + "\(path): \(attributes)\n"
        if !invocation.has(.dryRun) {
            for (name, value) in settings { _ = try ChildProcess.output(of: ["git", "config", name, value]) }
            try addAttributes(to: path)
        }
        return try invocation.finish(json: ["attributes": path, "written": !invocation.has(.dryRun)]) { lines }
    }

    /// Adds the line, unless it is there.
    private static func addAttributes(to path: String) throws {
        let files = PosixFileSystem()
        let former = try? WholeFile(path, in: files).read(upTo: 1 << 20)?.bytes
        let text = String(decoding: former ?? [], as: UTF8.self)
        guard !text.split(separator: "\n").contains(Substring(attributes)) else { return }
        let separator = text.isEmpty || text.hasSuffix("\n") ? "" : "\n"
        let lines = text + separator + attributes + "\n"
        try NewFile.write(Array(lines.utf8), to: path, mode: 0o644, replacing: true)
    }
}
