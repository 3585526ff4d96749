import Glibc

/// The command line:
/// `VaultSimulator [--database | --objects] [--seeds FROM..<TO | --seed SEED [--keep NUMBERS]] [--twice] [--survey]
/// [--trace] [--events PATH]`.
struct Options {
    var seeds = 0..<100
    /// Whether a seed was given, and not a range.
    private var isOneSeed = false
    /// The actions of the one seed that are made; nil for all.
    var kept: Set<Int>?
    var isTraced = false
    /// Where the vaults are.
    var site = Plan.Site.files
    /// Whether each seed runs twice, to see that both runs are equal.
    var isRepeated = false
    /// Whether to go on after a seed that fails, without reducing it.
    var isSurvey = false
    /// The file for the calls of the one seed, or the folder for those of each; nil for none.
    var events: String?

    init(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            switch option {
            case "--trace": isTraced = true
            case "--database": site = .database
            case "--objects": site = .objects
            case "--twice": isRepeated = true
            case "--survey": isSurvey = true
            case "--events":
                events = rest.popFirst()
                guard events != nil else { Options.fail("--events takes a path") }
            case "--seeds":
                let bounds = (rest.popFirst() ?? "").split(separator: "..<").compactMap { Int($0) }
                guard bounds.count == 2, bounds[0] < bounds[1] else { Options.fail("--seeds takes 0..<100") }
                seeds = bounds[0]..<bounds[1]
            case "--seed":
                guard let seed = Int(rest.popFirst() ?? "") else { Options.fail("--seed takes a number") }
                seeds = seed..<seed + 1
                isOneSeed = true
            case "--keep":
                kept = Set((rest.popFirst() ?? "").split(separator: ",").compactMap { Int($0) })
            default: Options.fail("there is no option \(option)")
            }
        }
    }

    /// Returns where the calls of a seed are written.
    func eventPath(_ seed: Int) -> String? { events.map { isOneSeed ? $0 : "\($0)/\(seed).events" } }

    private static func fail(_ reason: String) -> Never {
        print("VaultSimulator: \(reason)")
        exit(2)
    }
}
