public import Testing

/// Gives each test fresh stores of its own: see ``TemporaryStores``.
public struct TemporaryStoresTrait: TestTrait, SuiteTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite's own scope holds all its tests: the stores are for each test.
        guard testCase != nil else { return try await function() }
        try await withTemporaryStores { _ in try await function() }
    }
}

extension Trait where Self == TemporaryStoresTrait {
    /// Fresh, empty stores for each test, each argument's run included: no two tests meet, even in parallel.
    ///
    /// ```swift
    /// @Test(.temporaryStores) func aTokenIsKept() throws { … }
    /// ```
    public static var temporaryStores: Self { Self() }
}
