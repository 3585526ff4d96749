import Glibc

extension sigaction {
    /// Whether the process was told, as `nohup` does, to pass the signal over.
    var isIgnored: Bool {
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
