import LinuxSystem
import TestSupport
import Vault

/// A vault that somebody without a key has put in place, or changed.
struct Attack {
    /// Whether it is an older vault, or another one: nobody who has seen the newer one may write to it.
    let isRollback: Bool
    /// When a vault that was open before has looked at its path again, by the scheduler's clock: it does so every 50
    /// ms, as the coarse clock counts them.
    let noticedAt: Int64
}

extension Simulation {
    /// Makes the faults whose step has come. Called at each step.
    func makeFaults() {
        if world.scheduler.failure != nil { return endProcesses() }
        while let fault = faults.first, fault.step <= world.scheduler.steps {
            // Who exchanges the file does so between two writes: what he does during one is no rollback, but a loss.
            if fault.kind.isAttack, attempts.contains(where: { $0.operation.kind.writesVault }) { return }
            faults.removeFirst()
            let isMade = make(fault)
            world.trace("fault \(fault.number): \(fault.kind)\(isMade ? "" : ", not possible now")")
            if isMade { world.statistics.count(fault: "\(fault.kind)") }
        }
    }

    private func make(_ fault: Plan.Fault) -> Bool {
        let index = Int(fault.choices[0] * Double(sessions.count))
        switch fault.kind {
        case .kill: kill(index)
        case .powerLoss: return losePower(of: Int(fault.choices[0] * Double(plan.machines)))
        case .failingCall:
            let kind = Process.Failing.allCases[Int(fault.choices[1] * Double(Process.Failing.allCases.count))]
            sessions[index].process.failing[kind] = 1 + Int(fault.choices[2] * 3)
        case .failingFlushes:
            let process = sessions[index].process
            process.failing[.vaultFlush] = 1 + Int(fault.choices[1] * 3)
            // The power goes out once they are over.
            if fault.choices[2] < 0.3 { process.end = Process.End(flushes: 2, calls: 0, isPowerLoss: true) }
        case .failingFolderFlush: sessions[index].process.failing[.vaultFolderFlush] = 1
        case .hangingFlush: hang(fault.choices)
        case .killAtFlush, .powerLossAtFlush:
            sessions[index].process.end = Process.End(
                flushes: Int(fault.choices[2] * 2), calls: Int(fault.choices[1] * 10),
                isPowerLoss: fault.kind == .powerLossAtFlush)
        case .fullDisk: world.room = world.room == nil ? Int(fault.choices[1] * fault.choices[1] * 20_000) : nil
        case .sizeLimit:
            // Around where the log ends.
            guard !location.isInDatabase else { return false }
            let size = (world.contents(location.vault)?.lastIndex { $0 != 0 } ?? 0) + Int(fault.choices[1] * 1_000)
            let process = sessions[index].process
            process.sizeLimit = process.sizeLimit == nil ? size : nil
        case .stall:
            sessions[index].process.stalledUntil =
                world.scheduler.clock + Int64(fault.choices[1] * fault.choices[1] * 15e9)
        case .writeBack, .failingWriteBack: writeBack(fault.choices, isFailing: fault.kind == .failingWriteBack)
        case .backUp: return takeBackUp()
        case .restoreBackUp:
            return attack == nil ? exchange(for: .backUp, since: backUpTime, fault.choices) : endAttack()
        case .changeByte: return attack == nil ? changeByte(fault.choices) : endAttack()
        case .exchangeVault: return attack == nil ? exchange(for: .foreign, since: -1, fault.choices) : endAttack()
        case .cut:
            sessions[index].process.cut = (Int(fault.choices[1] * 6), losesAnswer: fault.choices[2] < 0.6)
        case .crash: world.sockets?.crash()
        case .dump: return takeDump()
        case .restoreDump: return restoreDump()
        case .serverDown: world.sockets?.goDown(for: Int64(1e8 + fault.choices[1] * fault.choices[1] * 2e10))
        }
        return true
    }

    // MARK: Accidents

    /// A flush takes long, as on a disk that is about to fail. Most such flushes fail.
    private func hang(_ choices: [Double]) {
        let isOfFolder = choices[1] < 0.3
        let hang = drawHang(isFailing: choices[0] < 0.8, beside: choices)
        if isOfFolder { world.folderHang = hang } else { world.hang = hang }
    }

    private func drawHang(isFailing: Bool, beside choices: [Double] = []) -> Process.Hang {
        let length = Double.random(in: 0..<1, using: &world.chance)
        let pause = Double.random(in: 0..<2e9, using: &world.chance)
        let isPausing = Int.random(in: 0..<4, using: &world.chance) == 0
        return Process.Hang(
            nanoseconds: Int64(1e8 + length * length * 4e9), pause: isPausing ? Int64(pause) : 0, isFailing: isFailing,
            choices: choices)
    }

    /// A flush begins to hang. The flushes of other programs take long beside it, too, or end the programs.
    func besetOthers(than process: Process, _ choices: [Double]) {
        guard choices.count == 4, choices[2] < 0.8 else { return }
        let isOfFolder = choices[1] < 0.3
        for session in sessions where session.process !== process {
            if choices[2] < 0.4 {
                session.process.hang = drawHang(isFailing: choices[3] < 0.2)
            } else {
                session.process.end = Process.End(
                    flushes: 0, calls: Int(choices[3] * choices[3] * 10),
                    isPowerLoss: choices[2] < (isOfFolder ? 0.75 : 0.5))
            }
        }
    }

    /// Ends a process whose time has come during one of its calls.
    func end(_ process: Process, _ end: Process.End) {
        guard world.scheduler.failure == nil, let index = sessions.firstIndex(where: { $0.process === process }) else {
            return
        }
        if !end.isPowerLoss { kill(index) } else if !losePower(of: process.machine) { return }
        world.trace(end.isPowerLoss ? "power loss" : "killed")
    }

    private func kill(_ index: Int) {
        let process = sessions[index].process
        restores.silenced.insert(process.machine)
        for attempt in attempts where attempt.session.process === process { attempt.abandon() }
        attempts.removeAll { $0.session.process === process }
        world.kill(process)
        restart(index)
    }

    private func losePower(of machine: Int) -> Bool {
        // The machine would have to remember what the attack hides.
        guard attack == nil else { return false }
        for index in sessions.indices where plan.programs[index].machine == machine { kill(index) }
        noteLosses(of: machine)
        world.powerLosses[machine] += 1
        world.events?.notePowerLoss(of: machine)
        world.disks[machine] = world.disks[machine].afterPowerLoss(&world.chance)
        remembered[machine] = nil
        preferences[machine].losePower()
        if plan.machines == 1 { vault.losePower() }
        return true
    }

    /// The system writes to the disk what nobody has flushed yet. If that fails, the next flushes report it.
    private func writeBack(_ choices: [Double], isFailing: Bool) {
        let disk = Int(choices[0] * Double(world.disks.count))
        let paths = world.disks[disk].names.keys.sorted()
        guard case .some(let path) = paths.dropFirst(Int(choices[1] * Double(paths.count))).first,
            let node = world.disks[disk].names[path]
        else { return }
        world.flush(FileKey(disk: disk, node: node, path: node == .folder ? path : ""), isFailing: isFailing)
    }

    // MARK: Attacks

    private func takeBackUp() -> Bool {
        guard attack == nil, storage.takeBackUp() else { return false }
        backUpTime = vault.tick()
        return true
    }

    /// Whether every machine remembers something newer.
    private func isNoticed(since time: Int) -> Bool {
        (0..<plan.machines).allSatisfy { remembered[$0].map { $0 > time } ?? false }
    }

    private func exchange(for other: OtherVault, since time: Int?, _ choices: [Double]) -> Bool {
        guard let time, isNoticed(since: time), storage.exchange(for: other, overwriting: choices[1] < 0.3) else {
            return false
        }
        begin(isRollback: true)
        return true
    }

    private func changeByte(_ choices: [Double]) -> Bool {
        guard storage.changeByte(at: choices[1], bit: choices[2]) else { return false }
        begin(isRollback: false)
        return true
    }

    private func begin(isRollback: Bool) {
        attack = Attack(isRollback: isRollback, noticedAt: world.scheduler.clock + 60_000_000)
        exchanges += 1
    }

    /// Puts back what was there before.
    @discardableResult
    func endAttack() -> Bool {
        guard attack != nil else { return false }
        exchanges += 1
        if !storage.putBack() { isDamagedForGood = true }
        attack = nil
        return true
    }
}

extension Plan.Fault.Kind {
    /// Whether it exchanges the vault file, or ends that.
    var isAttack: Bool { [.backUp, .restoreBackUp, .changeByte, .exchangeVault].contains(self) }
}
