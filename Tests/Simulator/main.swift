import Glibc
import Vault

// Hashes are seeded at random, once for each process, before any of its code runs. They decide the order of
// dictionaries, and so of what is written.
if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    execv("/proc/self/exe", CommandLine.unsafeArgv)
}
let options = Options(CommandLine.arguments.dropFirst())
World.replaceSystem()
exit(try Runner(options).run())
