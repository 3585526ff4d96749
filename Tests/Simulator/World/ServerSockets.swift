import CSimulator
import Glibc
import LinuxSystem

/// The connections of a world's processes to a real server.
///
/// The server carries out what it is sent while the sending thread has its turn. Before another thread has one, all
/// that was sent is answered, or waits for a lock that another connection holds. So a run depends on its seed alone.
///
/// Sendable although unchecked: see ``Scheduler``.
final class ServerSockets: @unchecked Sendable {
    private struct Connection {
        let process: Process
        /// Whether something was sent whose answer was not taken.
        var isAwaiting = false
        /// Whether that answer is to be lost, with the connection.
        var losesAnswer = false
        /// Whether it leads nowhere any more.
        var isCut = false
    }

    private unowned let world: World
    private let database: Database
    private var connections: [Int32: Connection] = [:]
    /// Until when no server can be connected to.
    private(set) var downUntil: Int64 = 0
    /// Whether processes of the server may go on for connections that were closed.
    private var hasOrphans = false

    /// A server sends larger answers in parts, while it goes on.
    private static let partSize = 8 << 10
    /// How long the server may take for anything, in milliseconds of ours.
    private static let patience = 60_000

    init(_ world: World, _ database: Database) {
        self.world = world
        self.database = database
    }

    // MARK: Calls

    /// Returns whether there is a server. A new connection can be cut before anything is sent on it.
    func connect(_ socket: Int32) -> Bool {
        guard !isDown else { return false }
        if let process = world.scheduler.current?.process, !process.isDead {
            connections[socket] = Connection(process: process)
        }
        return true
    }

    /// Lets others send before. A killed process sends in vain.
    func send(on socket: Int32) {
        guard let process = world.scheduler.current?.process, !process.isDead else { return }
        let connection = connections[socket] ?? Connection(process: process)
        connections[socket] = connection
        if !connection.isAwaiting {
            world.scheduler.step()
            world.note(process.number << 8 | 0xFF)
            world.statistics.calls += 1
            world.trace("sends")
            if process.cut?.flights == 0 { interrupt(process, socket) }
            process.cut?.flights -= 1
        }
        guard !process.isDead else { return }
        markAsAwaiting(socket, of: process)
    }

    func wait(for socket: Int32, _ events: Int16, _ nanoseconds: Int64) {
        guard let process = world.scheduler.current?.process else { return }
        let end = world.scheduler.clock + nanoseconds
        if events & Int16(POLLOUT) != 0 {
            // The server takes it soon: it waits for no lock when it is sent much.
            _ = isReady(socket, events, ServerSockets.patience)
            return
        }
        // What was sent last may be carried out, and its answer never arrive.
        if connections[socket]?.isAwaiting == true { world.scheduler.step() }
        if nanoseconds > 0, connections[socket] != nil { markAsAwaiting(socket, of: process) }
        while !process.isDead {
            waitUntilQuiet()
            if isReady(socket) { return take(socket, of: process) }
            guard world.scheduler.clock < end else { return }
            world.scheduler.wait(until: end) { [unowned self] in isReady(socket) }
        }
    }

    /// libpq reads also while it sends: where the server is quick, nobody waits for its answer.
    func receive(on socket: Int32) {
        guard let process = world.scheduler.current?.process, !process.isDead,
            connections[socket]?.isAwaiting == true, isReady(socket)
        else { return }
        world.scheduler.step()
        if !process.isDead { take(socket, of: process) }
    }

    private func take(_ socket: Int32, of process: Process) {
        connections[socket]?.isAwaiting = false
        if connections[socket]?.losesAnswer == true { cut { $0 === process } }
    }

    private func markAsAwaiting(_ socket: Int32, of process: Process) {
        var connection = connections[socket] ?? Connection(process: process)
        connection.isAwaiting = !connection.isCut
        connections[socket] = connection
    }

    func close(_ socket: Int32) {
        guard connections.removeValue(forKey: socket) != nil else { return }
        hasOrphans = true
    }

    // MARK: Faults

    /// Cuts a process's connections now, before something is sent on one, or once it was carried out.
    private func interrupt(_ process: Process, _ socket: Int32) {
        if process.cut?.losesAnswer == true {
            connections[socket, default: Connection(process: process)].losesAnswer = true
        } else {
            cut { $0 === process }
        }
        process.cut = nil
    }

    /// Ends the connections of processes. Answers that are under way are lost.
    func cut(where isChosen: (Process) -> Bool) {
        waitUntilQuiet()
        for (socket, connection) in connections where !connection.isCut && isChosen(connection.process) {
            drain(socket)
            shutdown(socket, Int32(SHUT_RDWR))
            connections[socket]?.isCut = true
            connections[socket]?.isAwaiting = false
            connection.process.connectionLostAt = world.scheduler.clock
            world.trace("process \(connection.process.number) loses a connection")
            hasOrphans = true
        }
    }

    var isDown: Bool { downUntil > world.scheduler.clock }

    /// Cuts all connections, and lets none be made for a while.
    func goDown(for nanoseconds: Int64) {
        downUntil = world.scheduler.clock + nanoseconds
        cut { _ in true }
    }

    func comeUp() { downUntil = 0 }

    func crash() {
        cut { _ in true }
        database.crash()
        hasOrphans = false
    }

    private func drain(_ socket: Int32) {
        let isInside = vault_simulation_enter(0)
        defer { vault_simulation_enter(isInside) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// Closes what killed processes have left open.
    func end() {
        for socket in connections.keys { _ = Glibc.close(socket) }
        connections = [:]
        hasOrphans = true
        waitUntilQuiet()
    }

    // MARK: Rest

    /// Waits until the server rests: all was answered, or waits for a lock.
    func waitUntilQuiet() {
        let isInside = vault_simulation_enter(0)
        defer { vault_simulation_enter(isInside) }
        let began = Clock.realTime
        while true {
            let awaiting = connections.filter(\.value.isAwaiting).keys
            let unanswered = awaiting.filter { !isReady($0) }
            let isPartial = awaiting.contains { size(of: $0) >= ServerSockets.partSize }
            guard !unanswered.isEmpty || isPartial || hasOrphans else { return }
            if let first = unanswered.first, isReady(first, Int16(POLLIN), 1) { continue }
            let load = database.load
            let open = connections.count { !$0.value.isCut }
            if load.blocked >= unanswered.count, load.active == 0,
                load.processes - load.blocked <= open - unanswered.count
            {
                hasOrphans = load.processes > open
                return
            }
            guard Clock.realTime - began < UInt64(ServerSockets.patience) * 1_000_000 else {
                return world.scheduler.fail("the server does not come to rest")
            }
        }
    }

    private func isReady(_ socket: Int32, _ events: Int16 = Int16(POLLIN), _ milliseconds: Int = 0) -> Bool {
        let isInside = vault_simulation_enter(0)
        defer { vault_simulation_enter(isInside) }
        var file = pollfd(fd: socket, events: events, revents: 0)
        return poll(&file, 1, Int32(milliseconds)) > 0
    }

    private func size(of socket: Int32) -> Int {
        var count: Int32 = 0
        return ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }
}
