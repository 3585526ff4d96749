import Glibc
import LinuxSystem
import Vault

enum RunCommand: Command {
    static let description = CommandDescription(
        name: .run, section: .otherPrograms, changesNothing: true,
        summary: "run a program, and pass secrets to it alone",
        arguments: [.init(name: "PROGRAM", count: .program, help: "The program, and its own arguments and options.")],
        options: [
            .init(
                name: .env, value: "NAME=REFERENCE", isRepeatable: true, completion: .variable,
                help: "Set an environment variable to the value of the entry REFERENCE."),
            .init(
                name: .file, value: "NAME=REFERENCE", isRepeatable: true, completion: .variable,
                help: "Set an environment variable to the path of a file in memory that contains the value."),
            .init(
                name: .stdin, value: "REFERENCE", completion: .secretName,
                help: "Pass the value as the program's standard input."),
            .envFile,
            .init(name: .redact, help: "Replace the values with ******** in the program's output."),
        ],
        details: """
            REFERENCE is a name as in `vault get`. Only these names are read. If one is missing, the program is not \
            started. The program replaces vault, so its process, its terminal and its exit code are the same as \
            without vault.

            Environment variables of the same name are replaced. --env-file takes precedence over the environment, \
            --env and --file over both.

            --file sets a path such as /proc/self/fd/10. The program can open it, and so can children that \
            inherit its open files. While one of them runs, your other programs and root can open the file as \
            /proc/PID/fd/10. Its contents cannot be changed. The path requires /proc.

            With --redact, vault filters the program's output: the program writes to a pipe, or to another terminal if \
            vault's output is a terminal. A value of several lines is replaced line by line, but a line of fewer than \
            8 bytes only as part of the whole value. White space around a value or a line is ignored. Other forms of a \
            value, such as base64, are not replaced. If vault runs in the background, so does the program, which gets \
            typed input once vault is in the foreground.

            Signals still reach the program, and if vault is killed, so is the program. vault ends when the program \
            does. Processes that the program leaves running then end at their next output, or immediately if they \
            have a terminal of their own, unless they ignore SIGPIPE or SIGHUP.
            """,
        examples: [
            .init("vault run --env GH_TOKEN=gh/token -- gh pr list", "pass a token in a variable to one program"),
            .init("vault run --file KUBECONFIG=k8s/admin kubectl get pods", "pass a file that is never on disk"),
            .init("vault run --env-file .env --redact -- make deploy", "set variables from a file, redact the output"),
        ],
        exitCodes: [
            .init(
                .notStarted,
                "vault itself failed (with --redact, perhaps while the program ran); --json gives the reason"),
            .init(.notExecutable, "the program could not be started"),
            .init(.notInstalled, "the program was not found; other exit codes are the program's own"),
        ],
        failure: .notStarted)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let typed = try VariableRequest.parse(invocation.options[.env] ?? [], "Option --env")
        let files = try VariableRequest.parse(invocation.options[.file] ?? [], "Option --file")
        try VariableRequest.checkForDoubles(typed + files)
        let requests = try VariableRequest.read(invocation.options[.envFile] ?? []) + typed
        let input = invocation.value(of: .stdin)
        let entries = (requests + files).compactMap(\.entry) + [input].compactMap(\.self)
        let values = try HeldValues(of: entries, invocation)

        var variables = try Variables(requests, from: values)
        for file in files {
            guard let value = file.entry.flatMap({ values[$0] }) else { continue }
            let path = try MemoryFile.path(of: MemoryFile.create(value.bytes))
            variables.set(file.name, to: HeldValue(path, try SecretBytes(utf8: path)))
        }
        let program = ProgramStart(
            words: invocation.arguments.count, variables: try block(of: variables),
            input: try input.flatMap { values[$0] }.map { try MemoryFile.create($0.bytes) })
        guard invocation.has(.redact) else { try program.replaceThisProcess() }
        let hidden = Set(entries.map(ExactText.init)).compactMap { values[$0.text] }
        let patterns = try hidden.flatMap { try Redactor.patterns(for: $0.bytes) }
        try RedactedRun.end(of: program, hiding: patterns).endThisProcess()
    }

    /// Returns the variables in the form that ``ProgramStart`` expects: NAME=VALUE, each followed by a zero byte.
    private static func block(of variables: Variables) throws -> SecretBytes {
        try SecretBytes(composing: { put in
            for (name, value) in variables.list {
                "\(name)=".utf8.forEach(put)
                value.bytes.withUnsafeBytes { $0.forEach(put) }
                put(0)
            }
        })
    }
}

extension OptionDescription {
    static let envFile = OptionDescription(
        name: .envFile, value: "PATH", isRepeatable: true, completion: .file,
        help: "Set the variables of a .env file, in which vault:REFERENCE stands for an entry's value.")
}
