extension StandardError {
    /// Writes a message of one line as progress in `mode` has them.
    static func write(message: String, mode: ProgressMode) {
        guard mode != .quiet else { return }
        let json = mode == .json ? try? ProgressLine.json(message: message) : nil
        write(json ?? "importer: " + TerminalText.escaped(message) + "\n")
    }
}
