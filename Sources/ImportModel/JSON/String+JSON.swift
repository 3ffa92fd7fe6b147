extension String {
    /// Appends a string as JSON, in quotes (RFC 8259, section 7); characters that nobody would see are escaped, too.
    package mutating func appendJSON(_ string: String) {
        self += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": self += "\\\""
            case "\\": self += "\\\\"
            case "\n": self += "\\n"
            case "\r": self += "\\r"
            case "\t": self += "\\t"
            default:
                if scalar.isInvisible {
                    scalar.appendEscape(to: &self)
                } else {
                    unicodeScalars.append(scalar)
                }
            }
        }
        self += "\""
    }
}
