import LinuxSystem
import Sealing
import TestSupport

@testable import SealedFormat
@testable import SealedLog

/// A copy of a vault at which random changes are made, and what is known of them.
struct CopiedVault {
    let log: SealedLog
    /// Those that were changed here, and those of them whose last change set a value.
    private(set) var touched: Set<String> = []
    private(set) var wasSetLast: Set<String> = []
    /// Those whose history was dropped.
    private(set) var forgotten: Set<String> = []
    private var now: UInt64
    private var count = 0
    private let side: String
    private let names: [String]
    private let steps: [UInt64]

    /// - Parameters:
    ///   - numbers: those of the names that change here.
    ///   - now: the time of its first changes.
    ///   - steps: how much later the next transaction is; 0: at the same time.
    init(
        _ log: SealedLog, _ side: String, of numbers: Range<Int>, now: UInt64, steps: [UInt64] = [0, 1, 2]
    ) {
        self.log = log
        self.side = side
        self.now = now
        self.steps = steps
        names = numbers.map { "name \($0)" }
    }

    /// Makes some transactions of 1 to 20 changes each.
    mutating func work(_ operations: Int, _ generator: inout SeededGenerator) throws {
        var left = operations
        while left > 0 {
            let size = min(left, Int.random(in: 1...20, using: &generator))
            left -= size
            now += steps.randomElement(using: &generator) ?? 0
            var changes: [Change] = []
            for name in names.shuffled(using: &generator).prefix(size) {
                changes.append(try change(name, &generator))
            }
            try log.commit(changes, at: now)
        }
    }

    private mutating func change(_ name: String, _ generator: inout SeededGenerator) throws -> Change {
        touched.insert(name)
        wasSetLast.remove(name)
        switch Int.random(in: 0..<40, using: &generator) {
        case 0..<7: return try log.change(name, to: nil)
        case 7..<14:
            let earlier = try log.history(.sample(name))?.earlier.indices.randomElement(using: &generator)
            if let earlier { return try log.restoring(name, earlier) }
        case 14:
            forgotten.insert(name)
            return try log.forgetting(name)
        default: break
        }
        count += 1
        wasSetLast.insert(name)
        let text = "\(side) \(count) " + String(repeating: "x", count: Int.random(in: 0..<40, using: &generator))
        let hasAttributes = Int.random(in: 0..<6, using: &generator) == 0
        return try log.change(
            name, to: Array(text.utf8), attributes: hasAttributes ? [Attribute(key: "of", value: text)] : nil)
    }
}
