import LinuxSystem
import Testing

@Suite("A deadline")
struct DeadlineTests {
    @Test func passesWhenItsTimeIsOver() {
        let deadline = Deadline(after: .milliseconds(20))
        #expect(Deadline(after: .zero).hasPassed && !Deadline(after: .seconds(60)).hasPassed)
        Clock.sleep(microseconds: 21_000)
        #expect(deadline.hasPassed && deadline.millisecondsLeft < 0)
    }

    @Test func tellsHowLongItIsUntilThen() {
        #expect((59_000...60_000).contains(Deadline(after: .seconds(60)).millisecondsLeft))
        #expect((60_000...61_000).contains((Deadline(after: .seconds(60)) + .seconds(1)).millisecondsLeft))
    }

    @Test func isNowAfterANegativeDuration() {
        let now = Deadline.now
        #expect(now + .seconds(-60) == now)
    }

    @Test func isNeverReachedAfterAnyLargeDuration() {
        let never = Deadline(after: .seconds(Int64.max))
        for deadline in [never, never + .seconds(Int64.max)] {
            #expect(!deadline.hasPassed && deadline.millisecondsLeft > 0)
        }
    }
}
