import Dispatch
import Glibc
import Vault
import VaultShared

/// Sets entries of a vault in a database, one after the other or on several threads, and says how many are there.
@main
struct SharedExample {
    static let usage = "Usage: VaultSharedExample URL KEY-FILE PREFIX COUNT [THREADS]\n"

    static func main() {
        let words = CommandLine.arguments
        guard (5...6).contains(words.count), let count = Int(words[4]), let threads = Int(words.last ?? ""), count > 0,
            threads > 0
        else { end(64, usage) }
        do {
            let keychain = try Keychain(at: .database(words[1], keyFile: words[2]), creatingIfAbsent: true)
            let prefix = words[3]
            set(count, in: keychain, prefix, threads: words.count == 6 ? threads : 1)
            print("Set \(count).")
        } catch { end(1, "VaultSharedExample: \(error)\n") }
    }

    private static func set(_ count: Int, in keychain: Keychain, _ prefix: String, threads: Int) {
        let value = String(repeating: "x", count: 100)
        // Each with a queue, and so with a thread, of its own: `concurrentPerform` has as many as there are processors.
        let group = DispatchGroup()
        for thread in 0..<threads {
            DispatchQueue(label: "setter \(thread)").async(group: group) {
                for number in stride(from: thread, to: count, by: threads) {
                    do { try keychain.set("\(prefix)/\(number)", to: value) } catch {
                        end(1, "VaultSharedExample: \(error)\n")
                    }
                }
            }
        }
        group.wait()
    }

    private static func end(_ code: Int32, _ words: String) -> Never {
        _ = write(STDERR_FILENO, words, words.utf8.count)
        exit(code)
    }
}
