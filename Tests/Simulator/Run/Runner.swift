import Glibc
import LinuxSystem
import TestSupport
import Vault

/// Runs seed after seed. The first that fails is reduced to the actions that it needs.
struct Runner {
    let options: Options
    /// Of vaults on a machine's own disk, and where all machines have them; by kind.
    private let images: [[Image]]

    init(_ options: Options) throws {
        self.options = options
        let shared: Image.Location =
            switch options.site {
            case .files: .sharedDisk
            case .database: .server(try Database())
            case .objects: .bucket(Bucket())
            }
        images = try [.ownDisk, shared].map { location in
            try Image.Kind.allCases.map { try Image($0, at: location) }
        }
    }

    /// Returns the exit code.
    func run() throws -> Int32 {
        var statistics = Statistics()
        let began = Clock.realTime
        var failures = 0
        for seed in options.seeds {
            LastWords.prepare(seed)
            let events = options.events == nil ? nil : EventLog()
            let (simulation, failure) = try run(plan(seed, options.kept), isTraced: options.isTraced, events)
            if let path = options.eventPath(seed), events?.write(to: path) != true {
                print("cannot write \(path)")
                return 1
            }
            statistics.add(simulation.world.statistics)
            if let failure, !options.isSurvey { return try report(seed, failure) }
            if let failure {
                failures += 1
                print("seed \(seed): \(failure)")
                continue
            }
            if options.isRepeated {
                let again = try run(plan(seed, options.kept)).0
                statistics.add(again.world.statistics)
                guard again.world.digest == simulation.world.digest else {
                    print("seed \(seed): two runs are not equal")
                    return 1
                }
            }
        }
        let seconds = Double(Clock.realTime - began) / 1e9
        print(statistics.text)
        let speeds = [statistics.operationsDone, statistics.steps].map { Int(Double($0) / seconds) }
        let result = failures == 0 ? "no violation" : "\(failures) violations"
        print("\(statistics.runs) runs, \(speeds[0]) operations and \(speeds[1]) steps a second, \(result)")
        return failures == 0 ? 0 : 1
    }

    private func plan(_ seed: Int, _ kept: Set<Int>?) -> Plan {
        Plan(seed, at: options.site, keeping: kept, isForEvents: options.events != nil)
    }

    private func run(
        _ plan: Plan, isTraced: Bool = false, _ events: EventLog? = nil
    ) throws -> (Simulation, String?) {
        let image = images[plan.machines == 1 && options.site == .files ? 0 : 1][plan.image.rawValue]
        let simulation = Simulation(plan, image, isTraced: isTraced, events: events)
        let failure = try simulation.run()
        return (simulation, failure)
    }

    private func report(_ seed: Int, _ failure: String) throws -> Int32 {
        let kept = try shrunk(seed)
        let plan = self.plan(seed, Set(kept))
        print("seed \(seed): \(failure)")
        print("It needs no more than this:\n\(plan.text)")
        if let left = try run(plan).1 { print("then: \(left)") }
        let location = options.site == .files ? "" : " --\(options.site)"
        let actions = kept.map(String.init).joined(separator: ",")
        print("Repeat it: Tools/simulate\(location) --seed \(seed) --keep \(actions) --trace")
        return 1
    }

    /// Leaves out as many actions as possible while the run still fails: halves, quarters, and so on to single ones.
    private func shrunk(_ seed: Int) throws -> [Int] {
        var kept = plan(seed, options.kept).numbers
        var size = max(1, kept.count / 2)
        while true {
            var start = 0
            var isReduced = false
            while start < kept.count {
                LastWords.prepare(seed)
                let tried = Array(kept[..<start] + kept[min(start + size, kept.count)...])
                if try run(plan(seed, Set(tried))).1 != nil {
                    kept = tried
                    isReduced = true
                } else {
                    start += size
                }
            }
            if size == 1, !isReduced { return kept }
            size = max(1, size / 2)
        }
    }
}
