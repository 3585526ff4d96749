import Formats
import LinuxSystem
import Vault

enum InjectCommand: Command {
    static let description = CommandDescription(
        name: .inject, section: .otherPrograms, changesNothing: true, summary: "fill in the placeholders of a template",
        options: [
            .init(
                name: .in, short: "i", value: "PATH", completion: .file,
                help: "The template (default: standard input)."),
            .init(
                name: .out, short: "o", value: "PATH", completion: .file,
                help: "The file to write, of mode 0600 (default: standard output)."),
            .init(name: .force, short: "f", help: "Replace an existing file."),
        ],
        details: """
            A placeholder is {{ vault:NAME }}, on one line; NAME is a name as in `vault get`. All other text is \
            written byte for byte. Write {{ "{{" }} for two literal opening braces.

            If a name is missing or a placeholder malformed, the error gives its line and column; nothing is written.
            """,
        examples: [
            .init("vault inject -i app.conf.tmpl -o app.conf", "write a configuration file with its secrets"),
            .init("vault inject -i app.conf.tmpl | app --config /dev/stdin", "pipe the result to a program"),
        ],
        exitCodes: [
            .init(.notFound, "names are missing; the error lists all of them"),
            .init(.refused, "the file already exists"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let input = invocation.value(of: .in)
        let source = input ?? "Standard input"
        let text = try ValueInput.readText(at: input)
        let template: Template
        do throws(FormatError) { template = try Template(parsing: text) } catch {
            throw CommandError.malformed(error, in: source)
        }
        let placeholders = template.placeholders
        let values = try HeldValues(of: placeholders.map(\.name), invocation) { error, name in
            let first = placeholders.first { $0.name.isSame(as: name) }
            let position = first.map { "\(source), line \($0.line), column \($0.column): " } ?? ""
            return CommandError(code: error.code, exit: error.exit, message: position + error.message)
        }
        let filled = try fill(template, from: values)
        guard let output = invocation.value(of: .out) else {
            try filled.withUnsafeBytes(StandardOutput.write)
            return .success
        }
        try NewFile.write(filled, to: output, replacing: invocation.has(.force))
        let names = Set(placeholders.map { ExactText($0.name) }).map(\.text).sorted()
        return try invocation.finish(json: ["file": output, "names": names])
    }

    private static func fill(_ template: Template, from values: HeldValues) throws -> SecretBytes {
        try SecretBytes(composing: { put in
            for piece in template.pieces {
                switch piece {
                case .text(let text): text.forEach(put)
                case .placeholder(let placeholder): values[placeholder.name]?.bytes.withUnsafeBytes { $0.forEach(put) }
                }
            }
        })
    }
}
