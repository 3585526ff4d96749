import Glibc
import Vault

/// What Tools/bench asks of the library: vaults of a given size, and the library's own figures.
///
/// The vaults are made here and not through the command, because a million processes would take ten minutes.
@main
struct Benchmark {
    static let usage = """
        Usage: VaultBenchmark fill VAULT KEY COUNT    makes a vault of COUNT entries, compacted
               VaultBenchmark tail VAULT KEY COUNT    compacts it, then sets COUNT values one by one
               VaultBenchmark load VAULT KEY COUNT    makes one by a single transaction, and prints the seconds
               VaultBenchmark sets VAULT KEY COUNT    prints the mean, p99 and longest of COUNT sets, in microseconds
               VaultBenchmark FIGURE VAULT KEY        prints get, typed, set, names or threads, as other stores do
               VaultBenchmark library VAULT KEY       measures the library on it
               VaultBenchmark preferences PLIST       measures preferences in a new file there

        """

    static func main() async {
        do {
            try await run(CommandLine.arguments.dropFirst())
        } catch {
            say("VaultBenchmark: \(error)\n")
            exit(1)
        }
    }

    private static func run(_ arguments: ArraySlice<String>) async throws {
        let words = Array(arguments)
        if words.count == 2, words[0] == "preferences" { return try PreferenceFigures(path: words[1]).measure() }
        guard words.count >= 3 else { return refuse() }
        let location = try VaultLocation.standard(vault: words[1], keyFile: words[2])
        switch (words[0], words.count == 4 ? Int(words[3]) : nil) {
        case ("fill", let count?): try Filling.fill(location, count: count)
        case ("load", let count?): print(try Filling.load(location, count: count))
        case ("sets", let count?): try ComparedFigures(location).sets(count)
        case ("tail", let count?): try Filling.addTail(location, count: count)
        case ("library", nil) where words.count == 3:
            try LibraryFigures(location).measure()
            try await AsyncFigures(location).measure()
        case (let figure, nil) where words.count == 3:
            guard try ComparedFigures(location).measure(figure[...]) else { return refuse() }
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
