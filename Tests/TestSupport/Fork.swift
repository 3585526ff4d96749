private import CTestSupport
private import Foundation

/// Runs `body` in a child that has everything its parent had, open files included, while `meanwhile` runs in the
/// parent.
///
/// Call it where no other thread works: a child has only the thread that forked, and every lock as it was.
///
/// - Returns: whether `body` came to its end and returned true, within a minute.
package func inForkedChild(_ body: () throws -> Bool, meanwhile: () throws -> Void) throws -> Bool {
    let child = test_fork()
    guard child >= 0 else { throw POSIXError(.EAGAIN) }
    if child == 0 {
        // Rather ended than waiting for ever for a lock that nobody can give back. The threads of tasks block the
        // signal.
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
