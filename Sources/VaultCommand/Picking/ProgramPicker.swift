import Glibc
import LinuxSystem
import Sealing
import Vault

/// Lets another program ask a person to choose: fzf, rofi, dmenu and the like.
enum ProgramPicker {
    /// Hands the names over, one per line, and takes the line back that was chosen.
    ///
    /// - Throws: ``CommandError``: refused if the person chooses none, or the program fails.
    static func choose(from names: [String], with line: String) throws -> String {
        // Its other modes do not read names.
        let line = line == "rofi" ? "rofi -dmenu -i -p vault" : line
        let terminal = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        if terminal.number >= 0 { TerminalTurn.pass(at: terminal.number) }
        let input = try Pipe()
        let output = try Pipe()
        var process: ChildProcess
        do throws(SystemError) {
            process = try ChildProcess(
                "/bin/sh", ["sh", "-c", line], input: .descriptor(input.reading.number),
                output: output.writing.number)
        } catch { throw CommandError.system("/bin/sh could not be started", error.number) }
        discard(input.reading)
        discard(output.writing)
        try write(names, to: input.writing)
        let chosen = try ValueInput.read(
            from: output.reading.number, named: "What `\(line)` has chosen", isExact: false)
        switch process.wait() {
        case .status(0): break
        case .status(127): throw CommandError.refused("There is no program `\(line)`.")
        default: throw PickedNothing.error
        }
        let name = chosen.unsafeString() ?? ""
        if name.isEmpty { throw PickedNothing.error }
        guard names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
            throw CommandError.refused("`\(line)` has chosen no name of the vault.")
        }
        return name
    }

    /// Writes on a thread of its own: the program may write before it has read all names.
    private static func write(_ names: [String], to descriptor: consuming FileDescriptor) throws {
        let number = dup(descriptor.number)
        do throws(SystemError) {
            try startDetachedThread(named: "names") {
                SystemCall.writeAll(names.map { $0 + "\n" }.joined(), to: number)
                close(number)
            }
        } catch { throw CommandError.system("The names could not be handed over", error.number) }
    }
}
