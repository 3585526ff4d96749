private import CLinux
private import Glibc

/// Runs `body` on a new thread that nothing joins. All signals are blocked on it, so that handlers run on the program's
/// own threads. Tools show its name, which has at most 15 bytes. Throws if a limit of the system is reached.
package func startDetachedThread(named name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // The stack has 512 KiB. Only the part in use takes memory.
    pthread_attr_setstacksize(&attributes, 512 << 10)

    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }

    let work = Unmanaged.passRetained(
        Work {
            vault_name_thread(name)
            body()
        })
    var thread = pthread_t()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }
    let error = pthread_create(&thread, &attributes, run, work.toOpaque())
    guard error != 0 else { return }
    work.release()
    throw SystemError(error, "start a thread for")
}

private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}
