import LinuxSystem
import Vault

/// A rule that every store keeps, and the check that it does.
package struct StoreRule: Sendable {
    /// The rule, as a person reads it.
    package let sentence: String
    let check: @Sendable (any ValueStore, Findings) async throws -> Void

    init(_ sentence: String, _ check: @escaping @Sendable (any ValueStore, Findings) async throws -> Void) {
        self.sentence = sentence
        self.check = check
    }

    static let all: [StoreRule] = [
        readsWhatWasWritten, nilMeansAbsent, keepsValuesExactly, sortsKeysByBytes, takesAnyKey, keepsKeysApart,
        commitsAllOrNothing, commitsIfExpectationsHold, changesNothingIfOneFails, letsOneCreate, takesEmptyChanges,
        losesNoUpdate, givesNotice, staysTheSame,
    ]
}

/// What a check has found broken: one sentence each.
final class Findings: Sendable {
    let maximumKeySize: Int
    private let sentences = Mutex<[String]>([])

    init(maximumKeySize: Int) {
        self.maximumKeySize = maximumKeySize
    }

    var all: [String] { sentences.withLock { $0 } }

    func add(_ sentence: String) {
        sentences.withLock { $0.append(sentence) }
    }

    func expect(_ isKept: Bool, _ sentence: @autoclosure () -> String) {
        if !isKept { add(sentence()) }
    }
}

extension ValueStore {
    /// Sets one value, whatever was there.
    func put(_ key: String, _ value: StoredValue?) throws(VaultError) -> Bool {
        try commit(StoreBatch([key: value]))
    }
}
