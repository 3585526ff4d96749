import SealedFormat
import TestSupport

extension World {
    /// Makes a request to an object store. Others have their turn before it, and it or its answer may be lost.
    func make(_ request: Bucket.Request) throws(LogError) {
        // The requests for the image of a run are nobody's.
        guard let process = scheduler.current?.process else { return }
        if !process.isDead {
            scheduler.step()
            note(process.number << 8 | 0xFE)
            statistics.calls += 1
            trace("\(request)")
        }
        guard !process.isDead else { throw LogError(.unavailable, "The process is dead.") }
        guard let cut = process.cut else { return }
        if cut.flights > 0 {
            if request != .answer { process.cut?.flights -= 1 }
        } else if !cut.losesAnswer || request != .put {
            process.cut = nil
            process.connectionLostAt = scheduler.clock
            throw LogError(.unavailable, "The connection was lost.")
        }
    }
}
