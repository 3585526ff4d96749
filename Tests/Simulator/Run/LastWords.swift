import Glibc

/// Names the seed that traps, or does not end: nothing else of the process is left to do that.
enum LastWords {
    nonisolated(unsafe) private static var words: UnsafeMutablePointer<CChar>?

    static func prepare(_ text: String) {
        free(words)
        words = strdup(text)
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
