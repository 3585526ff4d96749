import Glibc

/// Names the seed that traps, or does not end: nothing else of the process is left to do that.
enum LastWords {
    nonisolated(unsafe) private static var words: UnsafeMutablePointer<CChar>?

    /// Gives a run of a seed two minutes.
    static func prepare(_ seed: Int) {
        free(words)
        words = strdup("seed \(seed) ended the simulator, or took more than two minutes\n")
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGALRM] {
            signal(number) { number in
                if let words = LastWords.words { _ = write(STDOUT_FILENO, words, strlen(words)) }
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        alarm(120)
    }
}
