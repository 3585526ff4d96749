import Vault

/// Runs `body`, which may block, on one of the library's own threads. All asynchronous methods of this module use this
/// function to access the stores, because reads and writes may block.
func blocking<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    try await StoreReference.memory.asynchronously { _ throws(Failure) in try body() }
}
