import LinuxSystem
import TestSupport
import Vault

// A flush that fails leaves clean pages. A later flush of another process succeeds then, and does not write them: a
// reader that trusts it returns what a power loss takes back, and the machine remembers it. No program can know better.

/// A record of the vault file, and the writes that may be in it.
struct RecordOfWrites {
    let file: Int
    let record: WrittenRecord
    let writes: [Model.Write]
}

/// A record that a machine remembers, and that its disk lost before the power went out.
struct Loss {
    let machine: Int
    /// When the older vault was accepted, by the scheduler's steps; nil if it is yet to be.
    var acceptedAt: Int?
}

extension Simulation {
    /// Notes which writes a record may have.
    func note(_ record: WrittenRecord, in key: FileKey, by process: Process) {
        guard case .file(let file) = key.node, plan.machines == 1,
            !records.contains(where: { $0.file == file && $0.record == record })
        else { return }
        let writes = attempts.filter { $0.session.process === process }.flatMap(\.writes)
            .filter { $0.model === vault && $0.write.latest == .max }.map(\.write)
        records.append(RecordOfWrites(file: file, record: record, writes: writes))
    }

    /// Notes what a machine's disk has lost already, just before the power goes out.
    func noteLosses(of machine: Int) {
        guard plan.machines == 1 else { return }
        let disk = world.disks[machine]
        let seen = rememberedRecord(on: disk)
        for found in records {
            guard let file = disk.files[found.file], found.record.isThere(in: file.written),
                file.lostRanges.contains(where: { $0.overlaps(found.record.range) })
            else { continue }
            for write in found.writes { vault.lose(write) }
            guard found.record.authenticator == seen else { continue }
            world.trace("the disk has lost what machine \(machine) remembers")
            world.statistics.count(fault: "remembered record lost")
            losses.append(Loss(machine: machine))
        }
    }

    /// Returns the authenticator of the record that a machine remembers; Format.md, "The rollback memory".
    private func rememberedRecord(on disk: Disk) -> [UInt8]? {
        let path = disk.names.keys.first { $0.hasPrefix(World.memory) && $0.hasSuffix(".seen") }
        guard let bytes = path.flatMap(disk.contents), bytes.count >= 48 else { return nil }
        return Array(bytes[32..<48])
    }

    /// Whether an alarm is true: the machine remembers what its disk has lost, and nobody had accepted that.
    func isExcused(_ attempt: Attempt) -> Bool {
        losses.contains {
            $0.machine == attempt.session.process.machine && ($0.acceptedAt.map { attempt.step <= $0 } ?? true)
        }
    }

    /// Whether a machine's programs accept that the vault is older than it was.
    func acceptsLoss(on machine: Int) -> Bool { losses.contains { $0.machine == machine && $0.acceptedAt == nil } }

    func acceptLosses(on machine: Int) {
        for index in losses.indices where losses[index].machine == machine && losses[index].acceptedAt == nil {
            losses[index].acceptedAt = world.scheduler.steps
        }
    }
}
