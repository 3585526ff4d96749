import Testing
import Vault

@testable import VaultCommand

@Suite struct ReadingPolicyTests {
    private func isAllowed(_ attributes: [String: String], _ command: CommandName) -> Bool {
        (try? ReadingPolicy.check(attributes, of: "bank", for: command.rawValue)) != nil
    }

    @Test(arguments: CommandName.allCases) func runAloneLetsNoOtherCommandRead(command: CommandName) {
        #expect(isAllowed(["policy": "run"], command) == (command.rawValue == "run"))
        #expect(isAllowed([:], command) && isAllowed(["policy": ""], command))
    }

    @Test(arguments: CommandName.allCases, ["Run", "run ", "never", "get"])
    func aPolicyThatIsNotKnownLetsNoneRead(command: CommandName, policy: String) {
        #expect(!isAllowed(["policy": policy], command))
    }

    /// Otherwise a command that stores something takes the policy away.
    @Test(arguments: CommandName.allCases) func everyCommandKeepsThem(command: CommandName) throws {
        var invocation = Invocation(command: command)
        invocation.knownLocation = VaultLocation(vault: "/a.vault", keyFile: "/a.key")
        #expect(try invocation.vaultOptions().keepsPolicies)
    }

    @Test(arguments: [("run", true), ("", true), ("Run", false), ("get", false)])
    func onlyAPolicyThatExistsIsSet(policy: String, isValid: Bool) {
        #expect(((try? ReadingPolicy.checkInput(["policy": policy, "url": "x"])) != nil) == isValid)
        let attributes = ["policy": policy, "url": "x"]
        let isAdded = (try? ReadingPolicy.checkInput(attributes, addedTo: "bank", AdvisedCommand())) != nil
        #expect(isAdded == (policy == "run"))
    }

    @Test(arguments: [true, false]) func aRefusalSaysHowToLiftIt(isThere: Bool) {
        let error = #expect(throws: VaultError.self) {
            try ReadingPolicy.check(["policy": "run"], of: "my bank", isThere: isThere, for: "get")
        }
        let advised = AdvisedCommand(vault: ("work", "/work.vault"))
        #expect(
            error.map { CommandError($0, advising: advised) }
                == .refused(
                    "Only `vault run` may read \"my bank\". \(isThere ? "" : "It has expired. Set it again first. ")"
                        + "To remove the policy, run `vault --vault 'work' attr 'my bank' policy=`."))
    }
}
