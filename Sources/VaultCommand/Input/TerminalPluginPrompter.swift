import Age
import LinuxSystem
import Sealing

/// Shows the messages and questions of age plugins at the terminal. A plugin's text is shown in quotation marks and on
/// one line, so that it cannot imitate the messages of another program.
struct TerminalPluginPrompter: PluginPrompter {
    func message(_ text: String, from plugin: String) -> Bool {
        TerminalLine.show("age-plugin-\(plugin) says \(text.quoted)\n")
    }

    func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool? {
        let choices = no.map { "y: \(yes.quoted), n: \($0.quoted)" } ?? "y: \(yes.quoted)"
        switch (try? TerminalLine.ask("\(question(text, plugin))(\(choices)) "))?.lowercased() {
        case "y", "yes": return true
        case "n", "no": return no == nil ? nil : false
        default: return nil
        }
    }

    func requestPublic(_ text: String, from plugin: String) -> String? { try? TerminalLine.ask(question(text, plugin)) }

    func requestSecret(_ text: String, from plugin: String) -> SecretBytes? {
        // `try?` would return a nested optional here, because a noncopyable result is not flattened.
        do { return try PassphrasePrompt.ask(question(text, plugin)) } catch { return nil }
    }

    private func question(_ text: String, _ plugin: String) -> String { "age-plugin-\(plugin) asks \(text.quoted) " }

    func waiting(forPlugin plugin: String) {
        OtherProgram.reportWaiting("Waiting for age-plugin-\(plugin). Touch the device")
    }

    func waiting(forCommand command: String) {
        OtherProgram.reportWaiting("Waiting for the command \(command.quoted). Answer its prompt if it shows one")
    }
}
