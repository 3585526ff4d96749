/// Times of two pieces of work that took turns, so that what else the machine does strikes both alike.
struct Pairs {
    static let warmUp = 3

    /// Seconds, by round.
    private var times: [Double] = []
    private var floors: [Double] = []

    /// - Parameter prepare: runs before each round, unmeasured.
    static func measure(
        rounds: Int, prepare: () throws -> Void = {}, _ work: () throws -> Void, floor: () throws -> Void
    ) throws -> Pairs {
        var pairs = Pairs()
        for round in -warmUp..<rounds {
            try prepare()
            let time = try ContinuousClock().measure(work)
            pairs.add(time, try ContinuousClock().measure(floor), round)
        }
        return pairs
    }

    /// Does the same for work that awaits.
    static func measure(
        rounds: Int, _ work: () async throws -> Void, floor: () throws -> Void
    ) async throws -> Pairs {
        var pairs = Pairs()
        for round in -warmUp..<rounds {
            let time = try await ContinuousClock().measure(work)
            pairs.add(time, try ContinuousClock().measure(floor), round)
        }
        return pairs
    }

    private mutating func add(_ time: Duration, _ bare: Duration, _ round: Int) {
        guard round >= 0 else { return }
        times.append(time / .seconds(1))
        floors.append(bare / .seconds(1))
    }

    var median: Double { Self.median(times) }
    var medianOfFloor: Double { Self.median(floors) }

    /// The median of the ratios within a round.
    var medianRatio: Double { Self.median(zip(times, floors).map { $0 / $1 }) }

    /// Prints a line, its fields parted by tabs: label, operations per second, the floor's per second, and the median
    /// ratio of the times that one takes.
    func report(_ label: String, operations: Int, floorOperations: Int) {
        let ours = Int(Double(operations) / median)
        let bare = Int(Double(floorOperations) / medianOfFloor)
        let ratio = medianRatio * Double(floorOperations) / Double(operations)
        print(label, ours, bare, ratio, separator: "\t")
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
