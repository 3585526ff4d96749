import TestSupport

/// What a run does, all of it from its seed: who does what, and what goes wrong when. Each action has a number, so that
/// a failing run can be repeated without those that it does not need.
struct Plan {
    struct Operation {
        enum Kind: CaseIterable {
            case set, setSeveral, remove, count, get, list, compact, verify
            case setPreference, getPreference, countPreference
            case rest
            case observe, observePreferences
        }

        let number: Int
        let kind: Kind
        /// Which name, how large, how long: between 0 and 1.
        let choices: [Double]
    }

    /// A program, started again when it was killed.
    struct Program {
        let machine: Int
        let threads: Int
        /// Whether it opens the vault for each operation, as the command does.
        let opensEachTime: Bool
        let operations: [Operation]
    }

    struct Fault {
        enum Kind: CaseIterable {
            case kill, powerLoss, failingCall, fullDisk, sizeLimit, stall, writeBack, failingWriteBack
            case backUp, restoreBackUp, changeByte, exchangeVault
            case cut, crash

            /// Whether it takes a server.
            var isOfServer: Bool { [.cut, .crash].contains(self) }
        }

        let number: Int
        let kind: Kind
        /// After how many steps.
        let step: Int
        let choices: [Double]
    }

    let seed: Int
    let machines: Int
    let image: Image.Kind
    let programs: [Program]
    let faults: [Fault]

    /// - Parameters:
    ///   - isInDatabase: whether the vault is.
    ///   - kept: the numbers of the actions that are left; nil for all.
    init(_ seed: Int, isInDatabase: Bool, keeping kept: Set<Int>? = nil) {
        self.seed = seed
        var generator = SeededGenerator(seed)
        var number = 0
        func choices(_ generator: inout SeededGenerator) -> [Double] {
            (0..<4).map { _ in Double.random(in: 0..<1, using: &generator) }
        }
        func isKept(_ number: Int) -> Bool { kept?.contains(number) ?? true }

        machines = Int.random(in: 0..<10, using: &generator) < 7 ? 1 : 2
        image = Image.Kind.allCases.randomElement(using: &generator) ?? .none
        var programs: [Program] = []
        for index in 0..<Int.random(in: 2...4, using: &generator) {
            let threads = [1, 1, 2, 3].randomElement(using: &generator) ?? 1
            let opensEachTime = Bool.random(using: &generator)
            var operations: [Operation] = []
            for _ in 0..<Int.random(in: 2...12, using: &generator) {
                number += 1
                let kind = Plan.frequent.randomElement(using: &generator) ?? .get
                let operation = Operation(number: number, kind: kind, choices: choices(&generator))
                if isKept(number) { operations.append(operation) }
            }
            programs.append(
                Program(
                    machine: index % machines, threads: threads, opensEachTime: opensEachTime, operations: operations))
        }

        // Without faults, with kills and power losses alone, or with all of them. A network always fails.
        let choice = Int.random(in: 0..<5, using: &generator)
        let kinds: [Fault.Kind] = [
            isInDatabase ? [.cut] : [],
            isInDatabase ? [.kill, .cut, .cut, .cut, .crash] : [.kill, .powerLoss, .writeBack, .failingWriteBack],
            [.failingCall, .fullDisk, .sizeLimit, .stall, .kill],
            [.backUp, .restoreBackUp, .changeByte, .exchangeVault, .kill],
            Fault.Kind.allCases.filter { isInDatabase || !$0.isOfServer },
        ][choice]
        var faults: [Fault] = []
        var step = 0
        for _ in 0..<(kinds.isEmpty ? 0 : Int.random(in: 1...10, using: &generator)) {
            number += 1
            step += Int.random(in: 1...(Bool.random(using: &generator) ? 30 : 300), using: &generator)
            let kind = kinds.randomElement(using: &generator) ?? .kill
            let fault = Fault(number: number, kind: kind, step: step, choices: choices(&generator))
            if isKept(number) { faults.append(fault) }
        }
        self.faults = faults

        // Drawn last, so that all else is as in a run without it.
        if Int.random(in: 0..<3, using: &generator) == 0 {
            let kinds = (0..<Int.random(in: 1...3, using: &generator)).map { _ -> Operation.Kind in
                // A server's notices come when it has time: such a run could not be repeated.
                Bool.random(using: &generator) && !isInDatabase ? .observe : .observePreferences
            }
            let operations = kinds.enumerated().map { index, kind in
                Operation(number: number + 1 + index, kind: kind, choices: choices(&generator))
            }
            programs.append(
                Program(
                    machine: Int.random(in: 0..<machines, using: &generator), threads: 1, opensEachTime: false,
                    operations: operations.filter { isKept($0.number) }))
        }
        self.programs = programs
    }

    private static let frequent: [Operation.Kind] =
        Operation.Kind.allCases.filter { !$0.isObserving } + [.set, .set, .set, .get, .count, .setSeveral]

    var numbers: [Int] { programs.flatMap { $0.operations.map(\.number) } + faults.map(\.number) }

    var text: String {
        var lines = ["\(machines) machine\(machines == 1 ? "" : "s"), vault: \(image)"]
        for (index, program) in programs.enumerated() where !program.operations.isEmpty {
            let style = program.opensEachTime ? "opens the vault each time" : "keeps the vault open"
            lines.append("program \(index) on machine \(program.machine), \(program.threads) threads, \(style)")
            lines += program.operations.map { "  \($0.number) \($0.kind)" }
        }
        lines += faults.map { "fault \($0.number) after step \($0.step): \($0.kind)" }
        return lines.joined(separator: "\n")
    }
}
