import Vault

/// Runs a call that reads or writes a store, and so may block, on a thread of the library's own. All asynchronous
/// methods access the stores through this function.
func blocking<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    try await StoreReference.memory.asynchronously { _ throws(Failure) in try body() }
}
