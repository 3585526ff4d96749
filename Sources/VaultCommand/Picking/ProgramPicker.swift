import Glibc
import LinuxSystem
import Vault

/// Lets the user choose a name in another program, such as fzf, rofi or dmenu.
enum ProgramPicker {
    /// Runs the command `line`, passes it the names, one per line, and returns the name that it prints.
    ///
    /// - Throws: ``CommandError`` (refused) if the user chooses no name, or if the program fails.
    static func choose(from names: [String], with line: String) throws -> String {
        // rofi reads names from standard input only in its dmenu mode.
        let line = line == "rofi" ? "rofi -dmenu -i -p vault" : line
        let terminal = FileDescriptor(owning: open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY))
        if terminal.number >= 0 { TerminalTurn.pass(at: terminal.number) }
        let input = try Pipe()
        let output = try Pipe()
        var process: ChildProcess
        do throws(SystemError) {
            process = try ChildProcess(
                "/bin/sh", ["sh", "-c", line], input: .descriptor(input.reading.number), output: output.writing.number)
        } catch { throw CommandError.system("/bin/sh could not be started", error.number) }
        discard(input.reading)
        discard(output.writing)
        try write(names, to: input.writing)
        let chosen = try ValueInput.read(from: output.reading.number, named: "The output of `\(line)`", isExact: false)
        switch process.wait() {
        case .status(0): break
        case .status(127): throw CommandError.refused("Program not found: `\(line)`.")
        default: throw PickedNothing.error
        }
        let name = chosen.unsafeString() ?? ""
        if name.isEmpty { throw PickedNothing.error }
        guard names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
            throw CommandError.refused("`\(line)` did not print a name from the vault.")
        }
        return name
    }

    /// Writes the names on a separate thread, because the program may print the choice before it has read them all.
    private static func write(_ names: [String], to descriptor: consuming FileDescriptor) throws {
        let number = dup(descriptor.number)
        do throws(SystemError) {
            try startDetachedThread(named: "names") {
                SystemCall.writeAll(names.map { $0 + "\n" }.joined(), to: number)
                close(number)
            }
        } catch { throw CommandError.system("Cannot pass the names to the program", error.number) }
    }
}
