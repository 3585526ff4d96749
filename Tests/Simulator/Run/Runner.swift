import Glibc
import LinuxSystem
import Vault

/// Runs seed after seed. The first that fails is reduced to the actions that it needs.
struct Runner {
    let options: Options
    private var images: [[Image.Kind: Image]] = []

    init(_ options: Options) throws {
        self.options = options
        for isShared in [false, true] {
            var made: [Image.Kind: Image] = [:]
            for kind in Image.Kind.allCases { made[kind] = try Image(kind, isShared: isShared) }
            images.append(made)
        }
    }

    /// Returns the exit code.
    func run() throws -> Int32 {
        var statistics = Statistics()
        let began = Clock.realTime
        for seed in options.seeds {
            // Named before it runs: it may trap.
            setenv("VAULT_SEED", "\(seed)", 1)
            let (simulation, failure) = try run(Plan(seed, keeping: options.kept), isTraced: options.isTraced)
            statistics.add(simulation.world.statistics)
            if let failure { return try report(seed, failure) }
            if options.isRepeated {
                let again = try run(Plan(seed, keeping: options.kept)).0
                guard again.world.digest == simulation.world.digest else {
                    print("seed \(seed): two runs are not equal")
                    return 1
                }
            }
        }
        let seconds = Double(Clock.realTime - began) / 1e9
        print(statistics.text)
        print("\(Int(Double(statistics.steps) / seconds)) steps a second, no violation")
        return 0
    }

    private func run(_ plan: Plan, isTraced: Bool = false) throws -> (Simulation, String?) {
        guard let image = images[plan.machines == 1 ? 0 : 1][plan.image] else { fatalError("no image") }
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
