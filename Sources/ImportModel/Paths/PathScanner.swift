/// Reads the parts that record paths and attribute paths have in common: names and quoted keys.
struct PathScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    var isAtEnd: Bool { index == scalars.count }

    /// Passes over `scalar` if it comes next.
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard index < scalars.count, scalars[index] == scalar else { return false }
        index += 1
        return true
    }

    /// An error at the next character, or `back` characters before it.
    func error(_ reason: String, back: Int = 0) -> PathSyntaxError {
        PathSyntaxError(position: index + 1 - back, reason: reason)
    }

    /// What follows `$key` to the end: nothing, or `[1]`, `[2]` …; nil for all else.
    mutating func keyLevel() -> Int? {
        if isAtEnd { return 0 }
        guard take("["), let end = scalars.last, end == "]", scalars.count - index < 5 else { return nil }
        let digits = String(String.UnicodeScalarView(scalars[index..<scalars.count - 1]))
        guard let level = Int(digits), level > 0, "\(level)" == digits else { return nil }
        index = scalars.count
        return level
    }

    /// A name that needs no quotes: letters, digits, `_`, `-`.
    mutating func name() throws(PathSyntaxError) -> String {
        var name = String.UnicodeScalarView()
        while index < scalars.count, Self.isNameScalar(scalars[index]) {
            name.append(scalars[index])
            index += 1
        }
        guard !name.isEmpty else {
            throw error(isAtEnd ? "a key is missing" : "a key with this character is written in ['…']")
        }
        return String(name)
    }

    /// What follows a `[`: a quoted key and `]`.
    mutating func bracketedKey() throws(PathSyntaxError) -> String {
        if let next = index < scalars.count ? scalars[index] : nil, next.value >= 0x30, next.value < 0x3A {
            throw error("positions in arrays are not supported")
        }
        let quote: Unicode.Scalar
        if take("'") {
            quote = "'"
        } else if take("\"") {
            quote = "\""
        } else {
            throw error("a key in quotes is missing")
        }
        var key = String.UnicodeScalarView()
        while !take(quote) {
            guard index < scalars.count else { throw error("the closing quote is missing") }
            let scalar = scalars[index]
            guard scalar.value >= 0x20 else { throw error("a control character must be written as \\u00XX") }
            index += 1
            key.append(scalar == "\\" ? try escaped() : scalar)
        }
        guard take("]") else { throw error("] is missing") }
        return String(key)
    }

    /// What follows a backslash.
    private mutating func escaped() throws(PathSyntaxError) -> Unicode.Scalar {
        guard index < scalars.count else { throw error("the path ends after a backslash") }
        let scalar = scalars[index]
        index += 1
        switch scalar {
        case "'", "\"", "\\", "/": return scalar
        case "b", "f", "n", "r", "t":
            return Unicode.Scalar(JSONUnescaper.character(forEscape: UInt8(truncatingIfNeeded: scalar.value)))
        case "u":
            let unit = try codeUnit()
            var value = unit
            if unit & 0xFC00 == 0xD800, index + 1 < scalars.count, scalars[index] == "\\", scalars[index + 1] == "u" {
                index += 2
                let low = try codeUnit()
                guard low & 0xFC00 == 0xDC00 else { throw error("half of a surrogate pair", back: 12) }
                value = 0x10000 + (unit & 0x3FF) << 10 | low & 0x3FF
            }
            guard let scalar = Unicode.Scalar(value) else { throw error("half of a surrogate pair", back: 6) }
            return scalar
        default: throw error("an unknown escape", back: 2)
        }
    }

    private mutating func codeUnit() throws(PathSyntaxError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard index < scalars.count, scalars[index].isASCII,
                let digit = hexadecimalDigit(UInt8(truncatingIfNeeded: scalars[index].value))
            else { throw error("\\u needs four hexadecimal digits") }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }

    /// True if a character may be in a name without quotes; those that cannot be seen may not.
    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: scalar.value > 0x7F && !scalar.isSpaceOrInvisible
        }
    }

    /// True if `key` is written without quotes.
    ///
    /// Digits at the beginning and hyphens are taken without them, but written
    /// with, as RFC 9535 has it.
    static func isPlainName(_ key: String) -> Bool {
        guard let first = key.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return key.unicodeScalars.allSatisfy { isNameScalar($0) && $0 != "-" }
    }

    /// Appends `key` in single quotes and brackets.
    static func appendBracketed(_ key: String, to text: inout String) {
        text += "['"
        for scalar in key.unicodeScalars {
            switch scalar {
            case "'": text += "\\'"
            case "\\": text += "\\\\"
            default:
                if scalar != " ", scalar.isSpaceOrInvisible {
                    scalar.appendEscape(to: &text)
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        text += "']"
    }
}
