import Vault

/// The layouts of `ls`. Slashes in names separate folders.
enum NameLayout: String, CaseIterable {
    case names, tree, folders

    /// The default layout: a tree at a terminal, otherwise one name per line for other programs.
    static var standard: NameLayout { StandardOutput.isTerminal ? .tree : .names }

    /// Prints the names in this layout while reading them. All of them begin with `prefix`.
    func print(_ names: KeyListing, below prefix: String) throws {
        var names = names
        var output = OutputBuffer()
        switch self {
        case .names:
            while let name = try names.next() { try output.appendLine(StandardOutput.shown(name)) }
        case .tree:
            var folders: [Substring] = []
            while let name = try names.next() { try Self.appendBranch(of: name, below: &folders, to: &output) }
        case .folders: try Self.printLevel(&names, below: prefix, to: &output)
        }
        try output.finish()
    }

    /// Appends a name, preceded by each folder that it does not share with the previous name.
    private static func appendBranch(
        of name: String, below folders: inout [Substring], to output: inout OutputBuffer
    ) throws {
        let leaf = name.lastPathComponent
        let path = String(decoding: name.utf8.dropLast(leaf.utf8.count), as: UTF8.self)
        let parts = Array(path.split(separator: "/", omittingEmptySubsequences: false).dropLast())
        let common = zip(parts, folders).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        for (depth, folder) in parts.enumerated().dropFirst(common) {
            try output.appendLine(indent(depth) + StandardOutput.shown(String(folder)) + "/")
        }
        folders = parts
        try output.appendLine(indent(parts.count) + StandardOutput.shown(leaf))
    }

    private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: depth) }

    /// Writes the names directly below `prefix`, and each folder there with the number of names in it.
    private static func printLevel(
        _ names: inout KeyListing, below prefix: String, to output: inout OutputBuffer
    ) throws {
        var folder: (name: String, count: Int)?
        func end(_ output: inout OutputBuffer) throws {
            guard let (name, count) = folder else { return }
            try output.appendLine("\(StandardOutput.shown(name))  \(Quantity.entries(count))")
            folder = nil
        }
        while let name = try names.next() {
            let rest = name.utf8.dropFirst(prefix.utf8.count)
            let slash = rest.firstIndex(of: UInt8(ascii: "/"))
            let level = slash.map { String(name[...$0]) }
            if let level, let (open, count) = folder, open.utf8.elementsEqual(level.utf8) {
                folder = (open, count + 1)
            } else {
                try end(&output)
                if let level { folder = (level, 1) } else { try output.appendLine(StandardOutput.shown(name)) }
            }
        }
        try end(&output)
    }
}

extension OutputBuffer {
    fileprivate mutating func appendLine(_ line: String) throws {
        append(line + "\n")
        try endEntry()
    }
}
