import Glibc
import Vault

/// What Tools/bench asks of the library: vaults of a given size, and the library's own figures.
///
/// The vaults are made here and not through the command, because a million processes would take ten minutes.
@main
struct Benchmark {
    static let usage = """
        Usage: VaultBenchmark fill VAULT KEY COUNT    makes a vault of COUNT entries, compacted
               VaultBenchmark load VAULT KEY COUNT    makes one by a single transaction, and prints the seconds
               VaultBenchmark get VAULT KEY           prints the nanoseconds of a get
               VaultBenchmark set VAULT KEY           prints the median of durable sets, in microseconds
               VaultBenchmark sets VAULT KEY COUNT    prints p99 and the longest of COUNT sets, in microseconds
               VaultBenchmark threads VAULT KEY       prints the sets per second of one thread, and of 64
               VaultBenchmark preferences PLIST       prints the time of a change there, by that of a bare replacement

        """

    static func main() {
        do {
            try run(CommandLine.arguments.dropFirst())
        } catch {
            say("VaultBenchmark: \(error)\n")
            exit(1)
        }
    }

    private static func run(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        if words.count == 2, words[0] == "preferences" { return print(try PreferenceFigures(path: words[1]).ratio()) }
        guard words.count >= 3 else { return refuse() }
        let location = try VaultLocation.standard(vault: words[1], keyFile: words[2])
        switch (words[0], words.count == 4 ? Int(words[3]) : nil) {
        case ("fill", let count?): try Filling.fill(location, count: count)
        case ("load", let count?): print(try Filling.load(location, count: count))
        case ("sets", let count?): try LibraryFigures(location).sets(count)
        case ("get", nil) where words.count == 3: try LibraryFigures(location).get()
        case ("set", nil) where words.count == 3: try LibraryFigures(location).set()
        case ("threads", nil) where words.count == 3: try LibraryFigures(location).threads()
        default: refuse()
        }
    }

    private static func refuse() {
        say(usage)
        exit(2)
    }

    private static func say(_ text: String) {
        // Glibc's `stderr` is a global variable, which Swift 6 does not let one read.
        _ = Array(text.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// A failure of the benchmark itself.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
}
