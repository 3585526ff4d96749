import Glibc

/// The command line:
/// `VaultSimulator [--database] [--seeds FROM..<TO | --seed SEED [--keep NUMBERS]] [--twice] [--survey] [--trace]`.
struct Options {
    var seeds = 0..<100
    /// The actions of the one seed that are made; nil for all.
    var kept: Set<Int>?
    var isTraced = false
    /// Whether the vault is in the database of a server, which is started for that.
    var isInDatabase = false
    /// Whether each seed runs twice, to see that both runs are equal.
    var isRepeated = false
    /// Whether to go on after a seed that fails, without reducing it.
    var isSurvey = false

    init(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            switch option {
            case "--trace": isTraced = true
            case "--database": isInDatabase = true
            case "--twice": isRepeated = true
            case "--survey": isSurvey = true
            case "--seeds":
                let bounds = (rest.popFirst() ?? "").split(separator: "..<").compactMap { Int($0) }
                guard bounds.count == 2, bounds[0] < bounds[1] else { Options.fail("--seeds takes 0..<100") }
                seeds = bounds[0]..<bounds[1]
            case "--seed":
                guard let seed = Int(rest.popFirst() ?? "") else { Options.fail("--seed takes a number") }
                seeds = seed..<seed + 1
            case "--keep":
                kept = Set((rest.popFirst() ?? "").split(separator: ",").compactMap { Int($0) })
            default: Options.fail("there is no option \(option)")
            }
        }
    }

    private static func fail(_ reason: String) -> Never {
        print("VaultSimulator: \(reason)")
        exit(2)
    }
}
