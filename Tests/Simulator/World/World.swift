import CSimulator
import CSodium
import Glibc
import LinuxSystem
import TestSupport

/// The machines of a simulation: disks, open files, locks, time and randomness.
///
/// Sendable although unchecked: see ``Scheduler``.
final class World: @unchecked Sendable {
    let scheduler: Scheduler
    /// The disk of each machine, and the last one, which all share.
    var disks: [Disk]
    /// nil if no process has a server.
    private(set) var sockets: ServerSockets?
    var openFiles: [Int32: OpenFile] = [:]
    var metadata: [FileKey: Metadata] = [:]
    /// What the next flush of a record takes, and that of the vault's folder, before it succeeds or fails.
    var hang: Process.Hang?
    var folderHang: Process.Hang?
    /// Until when flushes of files and folders hang.
    var hanging: [FileKey: Int64] = [:]
    /// How often each machine has lost power.
    var powerLosses: [Int]
    /// Kills a process, or takes its machine's power.
    var onEnd: (Process, Process.End) -> Void = { _, _ in }
    /// Called when a flush begins to hang.
    var onHang: (Process, Process.Hang) -> Void = { _, _ in }
    /// Called when the first bytes of a record are written.
    var onRecord: (Process, FileKey, WrittenRecord) -> Void = { _, _, _ in }
    /// How many bytes the files of a disk may take in all; nil for no limit.
    var room: Int?
    var statistics = Statistics()
    var isTraced = false
    /// nil if none is asked for.
    var events: EventLog?
    /// Sums up all steps: equal for equal runs.
    private(set) var digest: UInt64 = 14_695_981_039_346_656_037
    private var lastNumber: Int32 = 1_000
    private var lastProcess = 0
    private var flown: Int64 = 0
    /// What the system gives as random bytes.
    private var random: SeededGenerator
    /// What happens to disks and files.
    var chance: SeededGenerator

    /// The folder of a machine's own disk, and of the shared one.
    static let home = "/simulated/home"
    static let share = "/simulated/share"
    /// The folder of what a machine remembers.
    static let memory = home + "/state"

    /// - Parameter database: where the vault is; nil if it is in a file.
    init(_ seed: Int, machines: Int, _ database: Database? = nil) {
        scheduler = Scheduler(seed &* 3)
        random = SeededGenerator(seed &* 3 + 1)
        chance = SeededGenerator(seed &* 3 + 2)
        disks = (0...machines).map { Disk(root: $0 == machines ? World.share : World.home) }
        powerLosses = [Int](repeating: 0, count: machines)
        World.present = self
        if let database {
            sockets = ServerSockets(self, database)
            scheduler.onTurn = { [unowned self] in sockets?.waitUntilQuiet() }
        }
    }

    // MARK: Processes

    func startProcess(on machine: Int) -> Process {
        lastProcess += 1
        World.lastProcessID += 1
        let process = Process(World.lastProcessID, number: lastProcess, machine)
        events?.note(process, "start \(machine)")
        return process
    }

    /// Of all worlds: no process of one shares anything with one of another.
    nonisolated(unsafe) private static var lastProcessID: Int32 = 100

    /// kill -9: its files and connections are closed, its locks released.
    func kill(_ process: Process) {
        sockets?.cut { $0 === process }
        if !process.isDead { events?.note(process, "killed") }
        process.isDead = true
        openFiles = openFiles.filter { $0.value.process !== process }
    }

    func numberForFile() -> Int32 {
        lastNumber += 1
        return lastNumber
    }

    /// Prints what happens, if that is asked for.
    func trace(_ event: @autoclosure () -> Any, _ path: String = "") {
        guard isTraced else { return }
        let thread = scheduler.current.map { "\($0.process.number).\($0.number)" } ?? "world"
        print("\(scheduler.steps) \(scheduler.clock / 1_000) us \(thread): \(event())", path.lastPathComponent)
    }

    func note(_ event: Int) {
        digest = (digest ^ UInt64(truncatingIfNeeded: event)) &* 1_099_511_628_211
    }

    // MARK: In place of the system

    nonisolated(unsafe) private static var present: World?
    /// A day in 2026, in nanoseconds since 1970.
    private static let epoch: Int64 = 1_790_000_000_000_000_000

    /// Has time, sleep, process ids and random bytes come from the present world.
    static func replaceSystem() {
        vault_simulation_install(
            vault_simulation_hooks(
                now: { clock in
                    let now = World.present?.time ?? 0
                    // The coarse clock goes in steps of 4 ms.
                    if clock == CLOCK_MONOTONIC_COARSE { return now / 4_000_000 * 4_000_000 + 1_000_000_000 }
                    return now + (clock == CLOCK_REALTIME ? World.epoch : 1_000_000_000)
                },
                sleep: { World.present?.scheduler.sleep($0) },
                process: { World.present?.scheduler.current?.process.id ?? 1 },
                fillWithRandomBytes: { World.present?.fill($0, $1) },
                pause: { World.present?.scheduler.pause($0) },
                startThread: { World.present?.scheduler.startThread($0, $1) ?? EAGAIN },
                waitForMutex: { World.present?.scheduler.waitForMutex() },
                send: { World.present?.sockets?.send(on: $0) },
                receive: { World.present?.sockets?.receive(on: $0) },
                waitForServer: { World.present?.sockets?.wait(for: $0, $1, $2) },
                close: { World.present?.sockets?.close($0) },
                connect: { World.present?.sockets?.connect($0) == false ? 0 : 1 }))
        randomness.implementation_name = { UnsafePointer(World.name) }
        randomness.random = { UInt32(truncatingIfNeeded: World.present?.random.next() ?? 0) }
        randomness.buf = { bytes, count in if let bytes { World.present?.fill(bytes, count) } }
        randombytes_set_implementation(&randomness)
    }

    /// A killed process sees the time fly, and gives up.
    private var time: Int64 {
        guard scheduler.current?.process.isDead == true else { return scheduler.clock }
        flown += 60_000_000_000
        return scheduler.clock + flown
    }

    private func fill(_ bytes: UnsafeMutableRawPointer, _ count: Int) {
        var rest = UnsafeMutableRawBufferPointer(start: bytes, count: count)
        while !rest.isEmpty {
            withUnsafeBytes(of: random.next()) { rest.copyMemory(from: .init(rebasing: $0.prefix(rest.count))) }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(8))
        }
    }

    nonisolated(unsafe) private static var randomness = randombytes_implementation()
    nonisolated(unsafe) private static let name: UnsafeMutablePointer<CChar> = strdup("simulated")
    static var now: Int64 { (present?.scheduler.clock ?? 0) + epoch }
}

/// A file of one disk.
struct FileKey: Hashable {
    let disk: Int
    let node: Disk.Node
    /// Of a folder; empty for a file.
    var path = ""
}

struct Metadata {
    var inode: UInt64
    var mode: UInt32
    var contentsChanged: Int64
    var changed: Int64
}

/// An open file or folder, until it is released.
final class OpenFile: @unchecked Sendable {
    let key: FileKey
    /// With which it was opened, or to which it was renamed since.
    var path: String
    let process: Process
    var lock: LockKind?
    /// The failed flushes of the file that this opener need not be told about.
    var knownFailures = 0

    init(_ key: FileKey, _ path: String, _ process: Process) {
        self.key = key
        self.path = path
        self.process = process
    }
}
