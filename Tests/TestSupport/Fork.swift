private import CTestSupport
private import Foundation

/// Runs `body` in a forked child, which inherits everything from its parent, including open files, while `meanwhile`
/// runs in the parent.
///
/// Call it while no other thread is active: the child has only the thread that forked, and all locks in their state at
/// that moment.
///
/// - Returns: whether `body` completed and returned true within a minute.
package func inForkedChild(_ body: () throws -> Bool, meanwhile: () throws -> Void) throws -> Bool {
    let child = test_fork()
    guard child >= 0 else { throw POSIXError(.EAGAIN) }
    if child == 0 {
        // The child ends by a signal instead of waiting forever for a lock that no thread can release. The threads of
        // tasks block this signal.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        alarm(60)
        let isDone = (try? body()) ?? false
        _exit(isDone ? 0 : 1)
    }
    let result = Result { try meanwhile() }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
        guard errno == EINTR else { throw POSIXError(.ECHILD) }
    }
    try result.get()
    return status == 0
}
