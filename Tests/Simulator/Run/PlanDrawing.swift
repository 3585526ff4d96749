import TestSupport

/// Draws the parts of a plan, in an order that is always the same.
struct PlanDrawing {
    /// What goes wrong in a run. A network always fails.
    private enum Style: CaseIterable {
        case calm, accidents, refusals, attacks, failingDisk, everything
        /// Only of a server's vault.
        case offline, restores

        var isOfServer: Bool { self == .offline || self == .restores }

        func faults(at site: Plan.Site) -> [Plan.Fault.Kind] {
            switch self {
            case .calm: site == .files ? [] : [.cut]
            case .accidents:
                switch site {
                case .files: [.kill, .powerLoss, .writeBack, .failingWriteBack]
                case .database: [.kill, .cut, .cut, .cut, .crash]
                case .objects: [.kill, .cut, .cut, .cut, .powerLoss]
                }
            case .refusals: [.failingCall, .fullDisk, .sizeLimit, .stall, .kill]
            case .attacks: [.backUp, .restoreBackUp, .changeByte, .exchangeVault, .kill]
            case .failingDisk:
                [
                    .hangingFlush, .hangingFlush, .hangingFlush, .hangingFlush, .failingFlushes, .failingFlushes,
                    .failingFolderFlush, .failingWriteBack, .killAtFlush, .killAtFlush, .kill, .powerLossAtFlush,
                    .powerLossAtFlush, .powerLoss, .writeBack, .stall,
                ]
            case .offline: [.serverDown, .serverDown, .serverDown, .kill, .powerLoss, .cut, .crash]
            case .restores: [.dump, .restoreDump, .restoreDump, .restoreDump, .kill, .cut, .serverDown, .stall]
            case .everything:
                Plan.Fault.Kind.allCases.filter {
                    switch $0 {
                    case .serverDown, .dump, .restoreDump: false
                    case .cut: site != .files
                    case .crash: site == .database
                    default: true
                    }
                }
            }
        }
    }

    let machines: Int
    let image: Image.Kind
    private let site: Plan.Site
    private let kept: Set<Int>?
    private let isForEvents: Bool
    private let style: Style
    private var generator: SeededGenerator
    private var number = 0

    init(_ seed: Int, at site: Plan.Site, keeping kept: Set<Int>?, isForEvents: Bool) {
        self.site = site
        self.kept = kept
        self.isForEvents = isForEvents
        generator = SeededGenerator(seed)
        let styles = Style.allCases.filter { site == .database || !$0.isOfServer }
        let preferred: [Style] = site == .database ? [.offline, .restores, .restores] : [.failingDisk, .failingDisk]
        style = (styles + preferred).randomElement(using: &generator) ?? .calm
        // What other machines share does not lose power.
        let machines = Int.random(in: 0..<10, using: &generator) < (style == .failingDisk ? 9 : 7) ? 1 : 2
        self.machines = style == .restores ? machines + 1 : machines
        image = Image.Kind.allCases.randomElement(using: &generator) ?? .none
    }

    private func isKept(_ number: Int) -> Bool { kept?.contains(number) ?? true }

    private mutating func choices() -> [Double] { (0..<4).map { _ in Double.random(in: 0..<1, using: &generator) } }

    // MARK: Programs

    mutating func programs() -> [Plan.Program] {
        var programs = (0..<Int.random(in: 2...4, using: &generator)).map { program(on: $0 % machines) }
        if Int.random(in: 0..<3, using: &generator) == 0, !isForEvents { programs.append(observer()) }
        return programs
    }

    private mutating func program(on machine: Int) -> Plan.Program {
        // Beside a flush that fails there are programs that read, as the command does.
        let isBrief = style == .failingDisk && Int.random(in: 0..<4, using: &generator) > 0
        let threads = isBrief ? 1 : [1, 1, 2, 3].randomElement(using: &generator) ?? 1
        let opensEachTime = Bool.random(using: &generator) || isBrief
        let isOffline = style.isOfServer && Bool.random(using: &generator)
        let isReader = isBrief && Int.random(in: 0..<3, using: &generator) == 0
        let kinds: [Plan.Operation.Kind] =
            style == .restores
            ? (isOffline ? .offline + [.mergeKept] : .recovering)
            : isOffline ? .offline : isReader ? .reading : isBrief ? .brief : .frequent
        let operations = (0..<Int.random(in: (style == .restores ? 6 : 2)...12, using: &generator)).compactMap { _ in
            operation(kinds)
        }
        return Plan.Program(
            machine: machine, threads: isForEvents ? 1 : threads, opensEachTime: opensEachTime,
            allowsOffline: isOffline, operations: operations)
    }

    private mutating func observer() -> Plan.Program {
        let operations = (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
            // A server's notices come when it has time: such a run could not be repeated. An object store sends none.
            operation(site == .files ? [.observe, .observePreferences] : [.observePreferences])
        }
        return Plan.Program(
            machine: Int.random(in: 0..<machines, using: &generator), threads: 1, opensEachTime: false,
            allowsOffline: false,
            operations: operations)
    }

    private mutating func operation(_ kinds: [Plan.Operation.Kind]) -> Plan.Operation? {
        number += 1
        let kind = kinds.randomElement(using: &generator) ?? .get
        let operation = Plan.Operation(number: number, kind: kind, choices: choices())
        return isKept(number) ? operation : nil
    }

    // MARK: Faults

    mutating func faults() -> [Plan.Fault] {
        let kinds = style.faults(at: site)
        var faults: [Plan.Fault] = []
        var step = 0
        for _ in 0..<(kinds.isEmpty ? 0 : Int.random(in: (style == .restores ? 3 : 1)...10, using: &generator)) {
            number += 1
            let gap = style == .failingDisk ? 100 : 300
            let isSoon = Bool.random(using: &generator) && style != .restores
            step += Int.random(in: 1...(isSoon ? 30 : gap), using: &generator)
            var kind = kinds.randomElement(using: &generator) ?? .kill
            // Without a dump, there is nothing to restore.
            if style == .restores, faults.isEmpty { kind = .dump }
            let fault = Plan.Fault(number: number, kind: kind, step: step, choices: choices())
            if isKept(number), !isForEvents || !kind.isAttack { faults.append(fault) }
        }
        return faults
    }
}

extension [Plan.Operation.Kind] {
    fileprivate static let frequent =
        Plan.Operation.Kind.allCases.filter { !$0.isObserving && !$0.isOffline && !$0.isOfRestores }
        + often + often
    private static let often: Self = [.set, .set, .set, .setSeveral, .count, .remove, .get, .list, .compact, .rest]
    fileprivate static let brief: Self = often + [.set, .get, .get, .list, .rotate, .rotate, .addKey, .removeKey]
    fileprivate static let offline: Self = [.setOffline, .setOffline, .setOffline, .listOffline, .rest, .setPreference]
    fileprivate static let recovering: Self =
        often + [
            .setOnce, .setOnce, .setOnce, .setOnce, .setOnce, .removeOnce, .mergeKept, .mergeKept, .verify, .copy,
            .merge,
        ]
    fileprivate static let reading: Self = [.get, .get, .get, .get, .list, .list, .verify, .rest]
}
