import Foundation
import Synchronization

/// Runs `body` on a thread with a stack of 512 KiB, the size that Dispatch and many libraries use.
package func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
    let outcome = Mutex(Result<Void, any Error>.success(()))
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        let result = Result(catching: body)
        outcome.withLock { $0 = result }
        done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    try outcome.withLock { $0 }.get()
}
