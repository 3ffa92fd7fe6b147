/// Why a date format or a time zone of a model cannot be used.
package struct DateFormatError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The format or the zone as it was given.
    package let text: String
    /// Which of its characters (Unicode scalars) is meant, from 1; nil if it is the whole.
    package let position: Int?
    /// What is wrong there.
    package let reason: String

    init(_ text: String, position: Int? = nil, reason: String) {
        self.text = text
        self.position = position
        self.reason = reason
    }

    /// The text, the position and the reason, for people.
    package var description: String {
        var description = "\""
        for scalar in text.unicodeScalars {
            if scalar.isInvisible {
                scalar.appendEscape(to: &description)
            } else {
                description.unicodeScalars.append(scalar)
            }
        }
        description += "\""
        if let position { description += ", character \(position)" }
        return description + ": " + reason
    }
}
