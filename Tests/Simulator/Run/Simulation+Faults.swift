import LinuxSystem
import TestSupport
import Vault

/// A vault file that somebody without a key has put in place, or changed.
struct Attack {
    let former: Disk.Node
    let formerBytes: [UInt8]
    let bytes: [UInt8]
    /// Whether it is an older vault, or another one: nobody who has seen the newer one may write to it.
    let isRollback: Bool
    /// When a vault that was open before has looked at its path again, by the scheduler's clock: it does so every 50 ms,
    /// as the coarse clock counts them.
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
        case .fullDisk: world.room = world.room == nil ? Int(fault.choices[1] * fault.choices[1] * 20_000) : nil
        case .sizeLimit:
            // Around where the log ends.
            let size = (world.contents(places.vault)?.lastIndex { $0 != 0 } ?? 0) + Int(fault.choices[1] * 1_000)
            let process = sessions[index].process
            process.sizeLimit = process.sizeLimit == nil ? size : nil
        case .stall:
            sessions[index].process.stalledUntil =
                world.scheduler.clock + Int64(fault.choices[1] * fault.choices[1] * 15e9)
        case .writeBack: writeBack(fault.choices)
        case .backUp: return takeBackUp()
        case .restoreBackUp: return attack == nil ? restore(fault.choices) : endAttack()
        case .changeByte: return attack == nil ? changeByte(fault.choices) : endAttack()
        case .exchangeVault: return attack == nil ? exchange(fault.choices) : endAttack()
        }
        return true
    }

    // MARK: Accidents

    private func kill(_ index: Int) {
        let process = sessions[index].process
        for attempt in attempts where attempt.session.process === process {
            if let write = attempt.write, write.latest == .max { attempt.model.abandon(write) }
        }
        attempts.removeAll { $0.session.process === process }
        world.kill(process)
        restart(index)
    }

    private func losePower(of machine: Int) -> Bool {
        // The machine would have to remember what the attack hides.
        guard attack == nil else { return false }
        for index in sessions.indices where plan.programs[index].machine == machine { kill(index) }
        world.disks[machine] = world.disks[machine].afterPowerLoss(&world.chance)
        remembered[machine] = nil
        preferences[machine].losePower()
        if plan.machines == 1 { vault.losePower() }
        return true
    }

    /// The system writes to the disk what nobody has flushed yet.
    private func writeBack(_ choices: [Double]) {
        let disk = Int(choices[0] * Double(world.disks.count))
        let paths = world.disks[disk].names.keys.sorted()
        guard case .some(let path) = paths.dropFirst(Int(choices[1] * Double(paths.count))).first else { return }
        switch world.disks[disk].names[path] {
        case .file(let number)?: world.disks[disk].flush(number)
        case .folder?: world.disks[disk].flushFolder(path)
        case nil: break
        }
    }

    // MARK: Attacks

    private var aside: String { places.vault + ".aside" }
    private var vaultDisk: Int { plan.machines == 1 ? 0 : world.disks.count - 1 }

    private func takeBackUp() -> Bool {
        guard attack == nil, let bytes = world.contents(places.vault) else { return false }
        backUp = (bytes, vault.tick())
        return true
    }

    /// Whether every machine remembers something newer.
    private func isNoticed(since time: Int) -> Bool {
        (0..<plan.machines).allSatisfy { remembered[$0].map { $0 > time } ?? false }
    }

    private func restore(_ choices: [Double]) -> Bool {
        guard let backUp, isNoticed(since: backUp.time) else { return false }
        return replace(with: backUp.bytes, inPlace: choices[1] < 0.3, isRollback: true)
    }

    private func exchange(_ choices: [Double]) -> Bool {
        guard !image.otherVault.isEmpty, isNoticed(since: -1) else { return false }
        return replace(with: image.otherVault, inPlace: choices[1] < 0.3, isRollback: true)
    }

    private func changeByte(_ choices: [Double]) -> Bool {
        guard var bytes = world.contents(places.vault) else { return false }
        // Small steps: most of the file is zeros ahead of the log.
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        let index = Int(choices[1] * Double(end))
        bytes[index] ^= 1 << UInt8(choices[2] * 8)
        return replace(with: bytes, inPlace: true, isRollback: false)
    }

    private func replace(with bytes: [UInt8], inPlace: Bool, isRollback: Bool) -> Bool {
        let disk = vaultDisk
        guard let node = world.disks[disk].names[places.vault], case .file(let number) = node,
            let former = world.disks[disk].files[number]?.written
        else { return false }
        attack = Attack(
            former: node, formerBytes: former, bytes: bytes, isRollback: isRollback,
            noticedAt: world.scheduler.clock + 60_000_000)
        exchanges += 1
        if inPlace {
            world.disks[disk].overwrite(number, bytes)
            world.touch(FileKey(disk: disk, node: node))
        } else {
            world.disks[disk].rename(places.vault, to: aside)
            let new = world.disks[disk].create(places.vault)
            world.disks[disk].overwrite(new, bytes)
            // An attack that power loss ends or brings back would be another one.
            world.disks[disk].flushFolder(places.vault.parentFolder)
            world.touchFolder(disk, places.vault)
        }
        return true
    }

    /// Puts back what was there before.
    @discardableResult
    func endAttack() -> Bool {
        guard let attack, case .file(let number) = attack.former else { return false }
        let disk = vaultDisk
        exchanges += 1
        if world.disks[disk].names[aside] != nil {
            world.disks[disk].rename(aside, to: places.vault)
            world.disks[disk].flushFolder(places.vault.parentFolder)
        } else if world.disks[disk].names[places.vault] != attack.former {
            // A compaction has copied the changed byte.
            isDamagedForGood = true
        } else if attack.isRollback {
            world.disks[disk].overwrite(number, attack.formerBytes)
        } else {
            undoChanges(attack, in: number)
        }
        world.touchFolder(disk, places.vault)
        world.touch(FileKey(disk: disk, node: attack.former))
        self.attack = nil
        return true
    }

    /// Undoes the changed byte, and leaves what was written since.
    private func undoChanges(_ attack: Attack, in number: Int) {
        guard var bytes = world.disks[vaultDisk].files[number]?.written else { return }
        for index in attack.formerBytes.indices where attack.formerBytes[index] != attack.bytes[index] {
            if bytes[index] == attack.bytes[index] { bytes[index] = attack.formerBytes[index] }
        }
        world.disks[vaultDisk].overwrite(number, bytes)
    }
}

extension Plan.Fault.Kind {
    /// Whether it exchanges the vault file, or ends that.
    var isAttack: Bool { [.backUp, .restoreBackUp, .changeByte, .exchangeVault].contains(self) }
}
