/// Takes a date pattern apart and says what is wrong with it.
struct DatePatternCompiler {
    private let pattern: String
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var fields: [DatePattern.Field] = []
    /// Where each part of a date is, from 1.
    private var positions: [Part: Int] = [:]
    /// The position of a number that may have any number of digits, if it was the last that was read.
    private var openEnd: Int?

    /// The parts of which a date has one each.
    private enum Part: String {
        case year
        case month
        case day
        case weekday
        case hour
        case halfDay = "AM or PM"
        case minute
        case second
        case fraction
        case zone
    }

    init(_ pattern: String) {
        self.pattern = pattern
        scalars = Array(pattern.unicodeScalars)
    }

    mutating func compile() throws(DateFormatError) -> [DatePattern.Field] {
        while index < scalars.count {
            let scalar = scalars[index]
            if scalar == "'" {
                try addQuoted()
            } else if scalar.isASCII, scalar.properties.isAlphabetic {
                let start = index
                while index < scalars.count, scalars[index] == scalar { index += 1 }
                try addField(scalar, count: index - start, position: start + 1)
            } else {
                addLiteral(scalar)
                index += 1
            }
        }
        try checkWhole()
        return fields
    }

    private mutating func addLiteral(_ scalar: Unicode.Scalar) {
        openEnd = nil
        for byte in String(scalar).utf8 { fields.append(.literal(byte)) }
    }

    /// What is in quotes; two quotes are one, inside of quotes and outside.
    private mutating func addQuoted() throws(DateFormatError) {
        let start = index
        index += 1
        if index < scalars.count, scalars[index] == "'" {
            addLiteral("'")
            index += 1
            return
        }
        while index < scalars.count {
            if scalars[index] == "'" {
                index += 1
                guard index < scalars.count, scalars[index] == "'" else { return }
            }
            addLiteral(scalars[index])
            index += 1
        }
        throw error("this quote is not closed", at: start + 1)
    }

    private mutating func addField(_ letter: Unicode.Scalar, count: Int, position: Int) throws(DateFormatError) {
        let digits = UInt8(count == 1 ? 0 : min(count, 99))
        switch (letter, count) {
        case ("y", 1), ("y", 4): try add(.number(.year, digits: digits), .year, position)
        case ("y", 2): try add(.number(.yearOfCentury, digits: 2), .year, position)
        case ("M", 1...2): try add(.number(.month, digits: digits), .month, position)
        case ("M", 3...4): try add(.monthName(isFull: count == 4), .month, position)
        case ("d", 1...2): try add(.number(.day, digits: digits), .day, position)
        case ("E", 1...4): try add(.weekday(isFull: count == 4), .weekday, position)
        case ("H", 1...2): try add(.number(.hour, digits: digits), .hour, position)
        case ("h", 1...2): try add(.number(.hourOfHalfDay, digits: digits), .hour, position)
        case ("m", 1...2): try add(.number(.minute, digits: digits), .minute, position)
        case ("s", 1...2): try add(.number(.second, digits: digits), .second, position)
        case ("S", 1...99): try add(.fraction(digits: digits), .fraction, position)
        case ("a", 1...3): try add(.halfDay, .halfDay, position)
        case ("Z", 1...3): try add(.zone(.any), .zone, position)
        case ("Z", 5): try add(.zone(.extended(allowsZ: true)), .zone, position)
        case ("X", 1), ("x", 1): try add(.zone(.short(allowsZ: letter == "X")), .zone, position)
        case ("X", 2), ("x", 2): try add(.zone(.basic(allowsZ: letter == "X")), .zone, position)
        case ("X", 3), ("x", 3): try add(.zone(.extended(allowsZ: letter == "X")), .zone, position)
        default:
            let letters = String(repeating: String(letter), count: min(count, 12))
            throw error(Self.advice(on: letter, letters), at: position)
        }
    }

    /// What is wrong with letters that are not read, and what was perhaps meant.
    private static func advice(on letter: Unicode.Scalar, _ letters: String) -> String {
        switch letter {
        case "Y": "\(letters) is the year of a week; the year of a date is y"
        case "D": "\(letters) is the day of the year, which is not read; the day of the month is d"
        case "T": "literal letters are written in quotes: 'T'"
        case "y", "M", "d", "E", "H", "h", "m", "s", "S", "a", "Z", "X", "x":
            "\(letters) is not supported: another number of letters \(letter) may be"
        default: "\(letters) is not a supported part of a date; literal letters are written in quotes"
        }
    }

    private mutating func add(
        _ field: DatePattern.Field,
        _ part: Part,
        _ position: Int
    ) throws(DateFormatError) {
        if let first = positions[part] {
            throw error("the \(part.rawValue) is at character \(first) already", at: position)
        }
        positions[part] = position
        if let openEnd, field.beginsWithDigit {
            throw error("it cannot be told where this number ends: give it a number of digits", at: openEnd)
        }
        openEnd = field.hasOpenEnd ? position : nil
        fields.append(field)
    }

    /// Whether the parts make a date together.
    private func checkWhole() throws(DateFormatError) {
        guard positions[.year] != nil else { throw error("no date without a year (y)", at: nil) }
        // Minutes first: months that are written as minutes are the commonest slip.
        let needs: [(Part, Part, String)] = [
            (.minute, .hour, "an hour (H; the month is M)"), (.day, .month, "a month (M)"),
            (.weekday, .day, "a day (d)"),
            (.second, .minute, "a minute (m)"), (.fraction, .second, "a second (s)"), (.hour, .day, "a day (d)"),
        ]
        for (part, needed, name) in needs {
            guard let position = positions[part], positions[needed] == nil else { continue }
            let article = part == .hour ? "an" : "a"
            throw error("\(article) \(part.rawValue) needs \(name)", at: position)
        }
        let hasHalfDays = fields.contains {
            if case .number(.hourOfHalfDay, _) = $0 { true } else { false }
        }
        if hasHalfDays, positions[.halfDay] == nil, let position = positions[.hour] {
            throw error("hours to 12 (h) need AM or PM (a); hours to 23 are H", at: position)
        }
        if !hasHalfDays, let position = positions[.halfDay] {
            throw error("AM or PM (a) needs hours to 12 (h)", at: position)
        }
    }

    private func error(_ reason: String, at position: Int?) -> DateFormatError {
        DateFormatError(pattern, position: position, reason: reason)
    }
}

extension DatePattern.Field {
    /// True if any number of digits is read.
    fileprivate var hasOpenEnd: Bool {
        switch self {
        case .number(_, 0), .fraction(0), .zone(.short): true
        default: false
        }
    }

    /// True if its text begins with a digit.
    fileprivate var beginsWithDigit: Bool {
        switch self {
        case .number, .fraction: true
        default: false
        }
    }
}
