import Vault

/// Runs a call that may block, since it reads or writes a store, on one of the library's own threads. All asynchronous
/// methods access the stores through this function.
func blocking<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    try await StoreReference.memory.asynchronously { _ throws(Failure) in try body() }
}
