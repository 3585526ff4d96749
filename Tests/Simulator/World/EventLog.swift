import Glibc
import Sealing
import TestSupport

/// The calls of a run on files, one a line, for a checker that knows nothing of the simulator.
final class EventLog {
    /// What a call that may fail has come to.
    enum Result: String { case ok, error, busy }

    private var lines: [String] = []
    private static let contentSize = 96

    func note(_ process: Process, _ event: String) { lines.append("\(process.number) \(event)") }

    func noteWrite(_ process: Process, _ file: OpenFile, _ bytes: some Collection<UInt8>, at offset: Int, of count: Int)
    {
        let isZero = bytes.allSatisfy { $0 == 0 }
        let content = isZero ? "zeros" : Hexadecimal.string(of: Array(bytes.prefix(EventLog.contentSize)))
        let result = bytes.count == count ? "ok" : "error:\(bytes.count)"
        note(process, "write \(file.eventName) \(offset) \(count) \(content) \(result)")
    }

    func notePowerLoss(of machine: Int) { lines.append("power \(machine)") }

    /// Writes the lines to a file. Returns false if that fails.
    func write(to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        fputs(lines.joined(separator: "\n") + "\n", file)
        return fclose(file) == 0
    }
}

extension OpenFile {
    /// Names the file: its kind and a number that no other file of the kind has.
    var eventName: String { EventLog.name(of: key, at: path, process.machine) }
}

extension EventLog {
    static func name(of key: FileKey, at path: String, _ machine: Int) -> String {
        guard case .file(let number) = key.node else { return "folder:\(key.disk)" }
        if path.hasSuffix(Image.vaultName) || path.hasSuffix(Image.unpublishedName) { return "vault:\(number)" }
        if path.hasPrefix(World.memory), path.hasSuffix(".seen") { return "seen:\(machine)" }
        if path.hasPrefix(World.memory), path.hasSuffix(".path") { return "path:\(machine)" }
        return "other:\(number)"
    }
}
