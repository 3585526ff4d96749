import TestSupport

/// What a run does, all of it from its seed: who does what, and what goes wrong when. Each action has a number, so that
/// a failing run can be repeated without those that it does not need.
struct Plan {
    struct Operation {
        enum Kind: CaseIterable {
            case set, setSeveral, remove, count, get, list, compact, verify
            case rotate, addKey, removeKey, listKeys
            /// Copies the vault and changes the copy, and merges such a copy.
            case copy, merge
            /// A program that may go on without the server sets a name of its own, and reads what it can.
            case setOffline, listOffline
            /// Sets a name that nobody else sets, and removes such a name.
            case setOnce, removeOnce
            /// Merges a copy that the machine has kept of a vault whose server was put back.
            case mergeKept
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
        /// Whether a copy stands in for a server that does not answer.
        let allowsOffline: Bool
        let operations: [Operation]
    }

    struct Fault {
        enum Kind: CaseIterable {
            case kill, powerLoss, failingCall, fullDisk, sizeLimit, stall, writeBack, failingWriteBack
            /// Of a program's next flush: it takes long and fails perhaps; the program or its machine ends during it or
            /// soon after.
            case hangingFlush, killAtFlush, powerLossAtFlush
            case failingFlushes, failingFolderFlush
            case backUp, restoreBackUp, changeByte, exchangeVault
            case cut, crash, serverDown
            /// The server's administrator dumps its tables, and puts them back to that for good.
            case dump, restoreDump

            /// Whether it takes a server.
            var isOfServer: Bool { [.cut, .crash, .serverDown, .dump, .restoreDump].contains(self) }
        }

        let number: Int
        let kind: Kind
        /// After how many steps.
        let step: Int
        let choices: [Double]
    }

    /// Where vaults are: in files; in the database of a server, which is started for that; or in an object store.
    enum Site: String { case files, database, objects }

    let seed: Int
    let machines: Int
    let image: Image.Kind
    let programs: [Program]
    let faults: [Fault]

    /// - Parameters:
    ///   - site: where the vault is.
    ///   - kept: the numbers of the actions that are left; nil for all.
    ///   - isForEvents: whether its calls are written down: no program has two threads, and nobody else changes files.
    init(_ seed: Int, at site: Site, keeping kept: Set<Int>? = nil, isForEvents: Bool = false) {
        self.seed = seed
        var drawing = PlanDrawing(seed, at: site, keeping: kept, isForEvents: isForEvents)
        machines = drawing.machines
        image = drawing.image
        programs = drawing.programs()
        faults = drawing.faults()
    }

    var numbers: [Int] { programs.flatMap { $0.operations.map(\.number) } + faults.map(\.number) }

    var text: String {
        var lines = ["\(machines) machine\(machines == 1 ? "" : "s"), vault: \(image)"]
        for (index, program) in programs.enumerated() where !program.operations.isEmpty {
            let style =
                (program.opensEachTime ? "opens the vault each time" : "keeps the vault open")
                + (program.allowsOffline ? ", also offline" : "")
            lines.append("program \(index) on machine \(program.machine), \(program.threads) threads, \(style)")
            lines += program.operations.map { "  \($0.number) \($0.kind)" }
        }
        lines += faults.map { "fault \($0.number) after step \($0.step): \($0.kind)" }
        return lines.joined(separator: "\n")
    }
}
