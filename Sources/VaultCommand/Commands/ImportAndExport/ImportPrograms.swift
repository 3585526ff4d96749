import Formats
import FoundationEssentials
import LinuxSystem
import SealedFormat
import Vault

// pass and libsecret have no file that vault can parse, so their entries are read by running gpg and secret-tool.

/// The store of `pass`: a folder of files that gpg decrypts.
enum PassStore {
    /// - Parameter step: called before each entry is decrypted, with the total number of entries.
    static func items(in folder: String, step: (_ count: Int) -> Void) throws -> ImportedItems {
        let files: [String]
        do { files = try FileManager.default.subpathsOfDirectory(atPath: resolvedPath(folder)) } catch {
            throw CommandError.invalid("\(folder) is not a readable folder; nothing was imported.")
        }
        let ending = ".gpg"
        let entries = files.filter { $0.hasSuffix(ending) && !$0.hasPrefix(".") && !$0.contains("/.") }.sorted()
        guard !entries.isEmpty else {
            throw CommandError.invalid("\(folder) contains no pass entries (.gpg files); nothing was imported.")
        }
        return ImportedItems(
            try entries.map { entry in
                step(entries.count)
                let path = "\(folder)/\(entry)"
                let text = try ProgramOutput.of("gpg", ["--quiet", "--batch", "--decrypt", path], about: path)
                do throws(FormatError) { return try PassEntry.item(String(entry.dropLast(ending.count)), text) } catch {
                    throw CommandError.malformed(error, in: path, "nothing was imported")
                }
            })
    }
}

/// GNOME's keyring, or another implementation of the Secret Service.
enum SecretTool {
    /// Returns the items with an attribute `KEY=VALUE`. It is required, because secret-tool cannot list all items.
    static func items(with attribute: String) throws -> ImportedItems {
        guard let (key, value) = Attributes.split(attribute) else { throw UsageError.badAttribute }
        // secret-tool up to version 0.20 prints attributes to standard error, so both outputs are read.
        let script = "exec secret-tool search --all --unlock -- \"$1\" \"$2\" 2>&1"
        let output = try ProgramOutput.of("sh", ["-c", script, "sh", key, value], about: "secret-tool")
        let found: ImportedItems
        do throws(FormatError) { found = try SecretToolOutput.items(in: output) } catch {
            throw CommandError.malformed(error, in: "secret-tool", "nothing was imported")
        }
        guard !found.items.isEmpty else {
            throw CommandError.invalid("secret-tool found no item with this attribute; nothing was imported.")
        }
        return found
    }
}

private enum ProgramOutput {
    /// Returns a program's output. It is in ordinary memory, because the parsers copy it to ordinary strings anyway.
    static func of(_ program: String, _ arguments: [String], about subject: String) throws(CommandError) -> [UInt8] {
        do throws(LogError) {
            let output = try ChildProcess.output(of: program, [program] + arguments, input: .empty) {
                OtherProgram.reportWaiting("Waiting for \(program). Answer its prompt if it shows one")
            }
            return output.unsafeArray()
        } catch {
            throw CommandError.unavailable(
                "\(subject) was not read (\(program): \(OtherProgram.reason(error))); nothing was imported.")
        }
    }
}
