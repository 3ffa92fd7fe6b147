extension String {
    /// A path, or what was given for one, as messages have it.
    ///
    /// Control characters in it are escaped: it may go to a terminal.
    package var shownPath: String {
        guard self != "-" else { return "standard input" }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.properties.generalCategory == .control {
                text += scalar.escaped(asASCII: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
