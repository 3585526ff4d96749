import LinuxSystem
import SealedLog

/// A line on the terminal that shows the progress of a long call. It appears after a second, and vanishes at the end.
final class ProgressLine: Sendable {
    private enum State { case hidden, drawn, over }

    let progress = UpkeepProgress()
    private let title: String
    private let state = Mutex(State.hidden)

    /// - Returns: nil if there is no terminal for the line, or if the thread that writes it cannot be started.
    init?(_ title: String) {
        self.title = title
        guard StandardError.isTerminal, EscapeSequences.areObeyed,
            (try? startDetachedThread(named: "progress") { [self] in draw() }) != nil
        else { return nil }
    }

    private func draw() {
        for round in 1... {
            Clock.sleep(microseconds: 200_000)
            let isOver = state.withLock { state in
                // The progress line first appears after five rounds of this loop, which take one second.
                if state != .over, round >= 5 {
                    // The carriage return lets the next output overwrite this line.
                    StandardError.write("\(title): \(Int(progress.fraction * 100)) %\r")
                    state = .drawn
                }
                return state == .over
            }
            if isOver { return }
        }
    }

    func end() {
        state.withLock { state in
            if state == .drawn { StandardError.write("\u{1b}[K") }
            state = .over
        }
    }
}
