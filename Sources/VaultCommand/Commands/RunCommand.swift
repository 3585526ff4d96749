import Glibc
import LinuxSystem
import Sealing
import Vault

enum RunCommand: Command {
    static let description = CommandDescription(
        name: .run, summary: "run a program that gets secrets, and nothing else does",
        arguments: [
            .init(name: "PROGRAM", count: .program, help: "The program, and its own arguments and options.")
        ],
        options: [
            .init(
                name: .env, value: "NAME=REFERENCE", isRepeatable: true, completion: .variable,
                help: "Set a variable of its environment to the value of the entry REFERENCE."),
            .init(
                name: .file, value: "NAME=REFERENCE", isRepeatable: true, completion: .variable,
                help: "Set a variable to the path of a file in memory that has the value."),
            .init(
                name: .stdin, value: "REFERENCE", completion: .secretName,
                help: "Give it the value as its standard input."),
            .envFile,
            .init(name: .redact, help: "Replace the values by ******** in what it prints."),
        ],
        details: [
            """
            REFERENCE is a name as `vault get` takes it. Only these names are read. If one is missing, the program \
            is not started. The program takes the place of vault: its process, its terminal and its exit code are the \
            same as without it.
            """,
            """
            Variables of the environment that have the same name are replaced: those of --env-file win over the \
            environment, --env and --file over both.
            """,
            """
            A file of --file has a path such as /proc/self/fd/10, by which the program itself, and children that inherit \
            its open files, can open it. Your other programs, and root, can open it too while one of these runs, by its \
            process's number in the path. Nobody can change what is in it. The path needs /proc.
            """,
            """
            With --redact, vault stays between the program and its output, which goes through pipes, or through a \
            terminal of its own if it goes to one. Values of several lines are replaced line by line, lines of fewer \
            than 8 bytes only as part of the whole; white space around a value or a line makes no difference. Other \
            forms of a value, such as base64, are not replaced. In the background, the program runs; it gets what is \
            typed once it is in the foreground.
            """,
            """
            Signals reach the program all the same, and if vault is killed, so is the program. vault ends when the \
            program does; what the program has left running ends at its next output, or at once if it has a terminal \
            of its own, unless it ignores SIGPIPE or SIGHUP.
            """,
        ],
        examples: [
            .init("vault run --env GH_TOKEN=gh/token -- gh pr list", "in a variable, for this program alone"),
            .init("vault run --file KUBECONFIG=k8s/admin kubectl get pods", "as a file that is on no disk"),
            .init("vault run --env-file .env --redact -- make deploy", "as a file names them; hidden in logs"),
        ],
        exitCodes: [
            .init(
                .notStarted,
                "vault itself failed, with --redact perhaps while the program ran; --json tells by its code"),
            .init(.notExecutable, "the program could not be started"),
            .init(.notInstalled, "the program was not found; all other exit codes are its own"),
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

    /// Returns the variables as ``ProgramStart`` takes them.
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
        help: "Set the variables of a .env file; in it, vault:REFERENCE is an entry's value.")
}
