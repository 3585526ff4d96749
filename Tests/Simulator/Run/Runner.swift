import Glibc
import LinuxSystem
import Vault

/// Runs seed after seed. The first that fails is reduced to the actions that it needs.
struct Runner {
    let options: Options
    /// Of vaults on a machine's own disk, and on the shared one; by kind.
    private let images: [[Image]]

    init(_ options: Options) throws {
        self.options = options
        images = try [false, true].map { isShared in
            try Image.Kind.allCases.map { try Image($0, isShared: isShared) }
        }
    }

    /// Returns the exit code.
    func run() throws -> Int32 {
        var statistics = Statistics()
        let began = Clock.realTime
        for seed in options.seeds {
            LastWords.prepare("seed \(seed) ended the simulator, or took more than two minutes\n")
            let (simulation, failure) = try run(Plan(seed, keeping: options.kept), isTraced: options.isTraced)
            statistics.add(simulation.world.statistics)
            if let failure { return try report(seed, failure) }
            if options.isRepeated {
                let again = try run(Plan(seed, keeping: options.kept)).0
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
        print("\(statistics.runs) runs, \(speeds[0]) operations and \(speeds[1]) steps a second, no violation")
        return 0
    }

    private func run(_ plan: Plan, isTraced: Bool = false) throws -> (Simulation, String?) {
        let image = images[plan.machines == 1 ? 0 : 1][plan.image.rawValue]
        let simulation = Simulation(plan, image, isTraced: isTraced)
        let failure = try simulation.run()
        return (simulation, failure)
    }

    private func report(_ seed: Int, _ failure: String) throws -> Int32 {
        let kept = try shrunk(seed)
        let plan = Plan(seed, keeping: Set(kept))
        print("seed \(seed): \(failure)")
        print("It needs no more than this:\n\(plan.text)")
        if let left = try run(plan).1 { print("then: \(left)") }
        print("Repeat it: Tools/simulate --seed \(seed) --keep \(kept.map(String.init).joined(separator: ",")) --trace")
        return 1
    }

    /// Leaves out as many actions as possible while the run still fails: halves, quarters, and so on to single ones.
    private func shrunk(_ seed: Int) throws -> [Int] {
        var kept = Plan(seed, keeping: options.kept).numbers
        var size = max(1, kept.count / 2)
        while true {
            var start = 0
            var isReduced = false
            while start < kept.count {
                let tried = Array(kept[..<start] + kept[min(start + size, kept.count)...])
                if try run(Plan(seed, keeping: Set(tried))).1 != nil {
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
