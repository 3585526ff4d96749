import Formats

// What people write for the programs that get secrets.

extension FuzzTarget {
    static let dotEnv = FuzzTarget(name: "dotenv") {
        [
            "# mine\nexport A=1 # one\nB='it\nis'\nC=\"\\n\\t\\\"\"\r\nA = vault:u.token\n", "\u{FEFF}A=#1\nexport=2\n",
        ].map { Array($0.utf8) }
    } feed: { input, _ in
        guard let variables = try? DotEnv.variables(in: input) else { return }
        let lines = variables.map(\.line)
        check(lines == lines.sorted(), "the lines are not in order")
        check(lines.allSatisfy { $0 >= 1 && $0 <= input.count + 1 }, "a line that the text does not have")
        check(variables.allSatisfy { !$0.name.isEmpty && $0.value.count < input.count }, "more than the text has")
        // Written with all values quoted, it is the same again, unless a value has what no quotation can hold.
        guard !variables.contains(where: { $0.value.contains(UInt8(ascii: "'")) }) else { return }
        let quoted = variables.flatMap { Array("\($0.name)='".utf8) + $0.value + Array("'\n".utf8) }
        let again = try? DotEnv.variables(in: quoted)
        check(again?.map(\.name) == variables.map(\.name), "other names when it is quoted")
        check(again?.map(\.value) == variables.map(\.value), "other values when it is quoted")
    }

    static let template = FuzzTarget(name: "template") {
        ["a {{ vault:u.token }}\n{{vault:a b}} }}", "{{ \"{{\" }}{{{vault:a}}", "{{ x }}"].map { Array($0.utf8) }
    } feed: { input, _ in
        guard let template = try? Template(parsing: input) else { return }
        let size = template.pieces.reduce(0) { size, piece in
            switch piece {
            case .text(let text): size + text.count
            case .placeholder(let placeholder): size + placeholder.name.utf8.count + 10
            }
        }
        check(size <= input.count, "more than the text has")
        check(template.placeholders.allSatisfy { !$0.name.isEmpty && $0.line >= 1 && $0.column >= 1 }, "a bad place")
        if !input.contains(UInt8(ascii: "{")) {
            check(template.pieces == (input.isEmpty ? [] : [.text(input)]), "a text without braces is not itself")
        }
    }
}
