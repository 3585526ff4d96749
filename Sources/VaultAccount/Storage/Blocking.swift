import Vault

/// Runs what reads or writes a store, and so may block, for an asynchronous method: on a thread of the library's own.
///
/// All such access passes through here.
func blocking<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    try await StoreReference.memory.asynchronously { _ throws(Failure) in try body() }
}
