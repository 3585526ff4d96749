import LinuxSystem
import Vault

enum EnvCommand: Command {
    static let description = CommandDescription(
        name: .env, section: .otherPrograms, changesNothing: true, summary: "print variables for a shell to evaluate",
        arguments: [
            .init(
                name: "NAME=REFERENCE", count: .any, completion: .variable,
                help: "A variable, and the name of the entry that contains its value.")
        ],
        options: [
            .envFile,
            .init(
                name: .format, value: "SHELL", choices: ShellQuoting.Shell.allCases.map(\.rawValue),
                help: "The shell: sh (default; also for bash, zsh and direnv) or fish."),
        ],
        details: """
            Writes a quoted `export NAME='...'` for each variable, once all values have been read. If one is missing, \
            nothing is written. Every program that the shell starts then gets the values; `vault run` gives them to \
            one program only.

            After a failure, `eval "$(vault env ...)"` would continue without the variables. Assign the output first: \
            `variables=$(vault env ...) && eval "$variables"`. In a script or direnv's .envrc, append `|| exit`.
            """,
        examples: [
            .init("vault env GH_TOKEN=gh/token", "show the output"),
            .init("vault env --env-file .env", "print the variables that a file defines"),
            .init("vault env --format fish GH_TOKEN=gh/token | source", "set the variable in fish"),
        ],
        exitCodes: [.init(.notFound, "names are missing; the error lists all of them")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let paths = invocation.options[.envFile] ?? []
        guard !paths.isEmpty || !invocation.arguments.isEmpty else {
            throw UsageError.missingArgument("NAME=REFERENCE", of: .env)
        }
        let typed = try VariableRequest.parse(invocation.arguments, "An argument")
        try VariableRequest.checkForDoubles(typed)
        let requests = try VariableRequest.read(paths) + typed
        let variables = try Variables(requests, from: HeldValues(of: requests.compactMap(\.entry), invocation))
        let shell = invocation.value(of: .format).flatMap(ShellQuoting.Shell.init) ?? .sh
        let text = invocation.wantsJSON ? try json(variables) : try script(variables, for: shell)
        guard StandardOutput.isTerminal, !invocation.wantsJSON else {
            try text.withUnsafeBytes(StandardOutput.write)
            return .success
        }
        let shown = try text.withUnsafeBytes { text in try SecretBytes(composing: { Escaping.terminal(text, $0) }) }
        try shown.withUnsafeBytes(StandardOutput.write)
        return .success
    }

    private static func script(_ variables: Variables, for shell: ShellQuoting.Shell) throws -> SecretBytes {
        try SecretBytes(composing: { put in
            for (name, value) in variables.list {
                (shell == .fish ? "set -gx \(name) " : "export \(name)=").utf8.forEach(put)
                value.bytes.withUnsafeBytes { ShellQuoting.quote($0, for: shell, put) }
                put(UInt8(ascii: "\n"))
            }
        })
    }

    private static func json(_ variables: Variables) throws -> SecretBytes {
        let parts = try variables.list.map { HeldValue($0.name, try ValueForm.json($0.value.bytes, name: $0.name)) }
        return try SecretBytes(composing: { put in
            "{\"variables\":[".utf8.forEach(put)
            for (index, part) in parts.enumerated() {
                if index > 0 { put(UInt8(ascii: ",")) }
                part.bytes.withUnsafeBytes { $0.forEach(put) }
            }
            "]}\n".utf8.forEach(put)
        })
    }
}
