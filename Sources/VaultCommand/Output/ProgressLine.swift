import LinuxSystem
import Vault

/// A line at the terminal with the progress of a long call: shown after a second, removed when the call is over.
final class ProgressLine: Sendable {
    private struct State {
        var isOver = false
        var isDrawn = false
    }

    private static let pause: UInt32 = 200_000
    /// The number of pauses before the line is first shown.
    private static let patience = 5

    let progress = UpkeepProgress()
    private let title: String
    private let state = Mutex(State())

    /// - Returns: nil if there is no terminal, or no thread to write to it.
    init?(_ title: String) {
        self.title = title
        guard StandardError.isTerminal, (try? DetachedThread.start(named: "progress") { [self] in draw() }) != nil
        else {
            return nil
        }
    }

    private func draw() {
        for round in 1... {
            Clock.sleep(microseconds: ProgressLine.pause)
            let isOver = state.withLock { state in
                guard !state.isOver, round >= ProgressLine.patience else { return state.isOver }
                // The next output overwrites this line.
                StandardError.write("\(title): \(Int(progress.fraction * 100)) %\r")
                state.isDrawn = true
                return false
            }
            if isOver { return }
        }
    }

    /// Removes the line.
    func end() {
        state.withLock { state in
            if state.isDrawn { StandardError.write("\u{1b}[K") }
            state = State(isOver: true)
        }
    }
}
