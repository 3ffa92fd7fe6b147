/// Finds the column of a table that a key means.
package struct ColumnMatcher {
    /// How near a column's name is to that of a key.
    package enum Nearness: Int, Comparable, Sendable {
        case same
        /// But for the case of its letters.
        case folded
        /// The same words: `countryCode`, `country_code`, `CountryCode`.
        case words

        package static func < (one: Nearness, other: Nearness) -> Bool { one.rawValue < other.rawValue }
    }

    private var exact: [[UInt8]: Int] = [:]
    private var folded: [[UInt8]: Int] = [:]
    /// Nil where several columns have the same words.
    private var words: [[String]: Int?] = [:]

    /// - Parameter columns: of which no two are the same but for the case of ASCII letters.
    package init(_ columns: [String]) {
        for (index, column) in columns.enumerated() {
            exact[Array(column.utf8)] = index
            folded[Array(column.lowercased().utf8)] = index
            let words = Self.words(of: column)
            if !words.isEmpty { self.words.updateValue(self.words[words] == nil ? index : nil, forKey: words) }
        }
    }

    /// The index of the column that the value at these keys goes into: for several keys, one with all their names.
    package func column(for keys: [String]) -> (index: Int, nearness: Nearness)? {
        let name = ColumnNames.wanted(for: keys)
        if let index = exact[Array(name.utf8)] { return (index, .same) }
        if let index = folded[Array(name.lowercased().utf8)] { return (index, .folded) }
        guard let found = words[keys.flatMap(Self.words)], let index = found else { return nil }
        return (index, .words)
    }

    /// The words of a name in lower case; digits are words of their own.
    static func words(of name: String) -> [String] {
        enum Kind {
            case lower, upper, digit, other
        }
        let letters = Array(name)
        let kinds = letters.map { letter -> Kind in
            letter.isNumber ? .digit : letter.isUppercase ? .upper : letter.isLetter ? .lower : .other
        }
        var words: [String] = []
        for (index, kind) in kinds.enumerated() where kind != .other {
            let before = index > 0 ? kinds[index - 1] : .other
            let isLower = index + 1 < kinds.count && kinds[index + 1] == .lower
            // `HTMLBody` is `HTML` and `Body`.
            let begins = kind != before && !(kind == .lower && before == .upper) || kind == .upper && isLower
            if begins || words.isEmpty { words.append("") }
            words[words.count - 1] += letters[index].lowercased()
        }
        return words
    }
}
