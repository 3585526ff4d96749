/// What simulations have covered.
struct Statistics {
    var runs = 0
    var steps = 0
    var calls = 0
    private(set) var operations: [String: Int] = [:]
    private(set) var outcomes: [String: Int] = [:]
    private(set) var faults: [String: Int] = [:]
    /// The names that were changed while no server answered, and merged later.
    var mergedOffline = 0
    /// Those that were merged from copies which machines had kept of a vault whose server was put back.
    var mergedFromKept = 0

    mutating func count(operation: String, _ outcome: String) {
        operations[operation, default: 0] += 1
        outcomes[outcome, default: 0] += 1
    }

    mutating func count(fault: String) { faults[fault, default: 0] += 1 }

    mutating func add(_ other: Statistics) {
        runs += other.runs
        steps += other.steps
        calls += other.calls
        operations.merge(other.operations, uniquingKeysWith: +)
        outcomes.merge(other.outcomes, uniquingKeysWith: +)
        faults.merge(other.faults, uniquingKeysWith: +)
        mergedOffline += other.mergedOffline
        mergedFromKept += other.mergedFromKept
    }

    var operationsDone: Int { operations.values.reduce(0, +) }

    var text: String {
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        return """
            \(runs) runs, \(steps) steps, \(calls) calls on files and servers
            operations: \(list(operations))
            outcomes: \(list(outcomes))
            faults: \(list(faults))
            names changed offline, and merged: \(mergedOffline); merged from kept copies: \(mergedFromKept)
            """
    }
}
