package import PlainStores

extension VaultError {
    /// Returns the error that `body` throws; nil if it throws none.
    package static func error(_ body: () throws -> Void) throws -> VaultError? {
        do { try body() } catch let error as VaultError { return error }
        return nil
    }

    /// Returns the code of the error that `body` throws; nil if it throws none.
    package static func code(_ body: () throws -> Void) throws -> Code? { try error(body)?.code }
}
