import Age
import LinuxSystem
import Sealing

/// Shows at the terminal what age plugins say, and asks there what they ask. Their words are in quotation marks, on one
/// line: none passes for another program's.
struct TerminalPluginPrompter: PluginPrompter {
    func message(_ text: String, from plugin: String) -> Bool {
        TerminalLine.show("age-plugin-\(plugin) says \(text.quoted)\n")
    }

    func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool? {
        let choices = no.map { "y: \(yes.quoted), n: \($0.quoted)" } ?? "y: \(yes.quoted)"
        switch TerminalLine.ask("\(question(text, plugin))(\(choices)) ")?.lowercased() {
        case "y", "yes": return true
        case "n", "no": return no == nil ? nil : false
        default: return nil
        }
    }

    func requestPublic(_ text: String, from plugin: String) -> String? { TerminalLine.ask(question(text, plugin)) }

    func requestSecret(_ text: String, from plugin: String) -> SecretBytes? {
        // Swift flattens no optional of what cannot be copied.
        do { return try PassphrasePrompt.ask(question(text, plugin)) } catch { return nil }
    }

    private func question(_ text: String, _ plugin: String) -> String { "age-plugin-\(plugin) asks \(text.quoted) " }

    // MARK: Waiting

    func waiting(forPlugin plugin: String) {
        OtherProgram.tellWaiting("Waiting for age-plugin-\(plugin). Touch the device")
    }

    func waiting(forCommand command: String) {
        OtherProgram.tellWaiting("Waiting for the command \(command.quoted). Answer it if it asks")
    }
}
