import Vault

/// An operation that is under way.
final class Attempt {
    let operation: Plan.Operation
    /// The index of the program.
    let program: Int
    let session: Simulation.Session
    let model: Model
    /// What there was of these when it began.
    let exchanges: Int
    let faultsMet: Int
    let memoryFaultsMet: Int
    let clock: Int64
    let step: Int
    /// What it has begun to write.
    private(set) var writes: [(write: Model.Write, model: Model)] = []

    init(
        _ operation: Plan.Operation, of program: Int, _ session: Simulation.Session, in simulation: Simulation
    ) {
        self.operation = operation
        self.program = program
        self.session = session
        model = operation.kind.isOfPreferences ? simulation.preferences[session.process.machine] : simulation.vault
        exchanges = simulation.exchanges
        faultsMet = session.process.faultsMet
        memoryFaultsMet = session.process.memoryFaultsMet
        clock = simulation.world.scheduler.clock
        step = simulation.world.scheduler.steps
    }

    /// Begins a write of the attempt's store, or of another model.
    func begin(_ values: [String: String?], in other: Model? = nil) -> Model.Write {
        let write = (other ?? model).begin(values)
        writes.append((write, other ?? model))
        return write
    }

    /// When a write takes effect is not decided by the end of the attempt.
    func forget(_ write: Model.Write) { writes.removeAll { $0.write === write } }

    /// The process was killed: nobody learns what has become of its writes.
    func abandon() { for (write, model) in writes where write.latest == .max { model.abandon(write) } }

    var isVault: Bool { !operation.kind.isOfPreferences }
    var hasMetFault: Bool { session.process.faultsMet != faultsMet }
    /// Whether what the machine remembers could not be read.
    var hasLostMemory: Bool { session.process.memoryFaultsMet != memoryFaultsMet }
    var hasLostConnection: Bool { session.process.connectionLostAt.map { $0 + offlineTime >= clock } ?? false }
    /// Whether the server could not be connected to for a part of the time.
    func hasMissedServer(of world: World) -> Bool {
        world.sockets.map { $0.downUntil > 0 && $0.downUntil + offlineTime > clock } ?? false
    }
    /// For how many nanoseconds a process does not ask the server again, once one of its threads could not connect.
    private var offlineTime: Int64 { session.allowsOffline ? 10_000_000_000 : 0 }
    var name: String { "a/\(Int(operation.choices[0] * 6))" }

    var value: String {
        let largest = operation.choices[2] > 0.95 ? 70_000.0 : 2_500
        let size = Int(operation.choices[1] * operation.choices[1] * largest)
        return "v\(operation.number) " + String(repeating: "x", count: size)
    }
}
