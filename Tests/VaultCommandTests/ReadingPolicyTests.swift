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
        let isAdded = (try? ReadingPolicy.checkInput(["policy": policy, "url": "x"], addedTo: "bank")) != nil
        #expect(isAdded == (policy == "run"))
    }

    @Test func aRefusalSaysHowToLiftIt() {
        let error = #expect(throws: VaultError.self) {
            try ReadingPolicy.check(["policy": "run"], of: "bank", for: "get")
        }
        #expect(
            error.map { CommandError($0) }
                == .refused("Only `vault run` may read \"bank\". To remove the policy, run `vault attr bank policy=`."))
    }
}
