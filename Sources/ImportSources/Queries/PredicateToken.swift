import ImportModel

/// A word of a predicate, with its position in the text.
struct PredicateToken: Sendable {
    enum Kind: Sendable, Equatable {
        /// An attribute's name, or one of the language's words if it is not quoted.
        case name(String, isQuoted: Bool)
        /// A text in single quotes.
        case string(String)
        /// The digits as written.
        case number(String)
        /// A comparison, a parenthesis or a comma.
        case symbol(String)
        /// A `?`, for a value that is handed in.
        case argument
        case end
    }

    let kind: Kind
    /// Where it is, in bytes of UTF-8.
    let place: Range<Int>

    /// True if it is this word of the language, in any case.
    func isWord(_ word: String) -> Bool {
        guard case .name(let text, isQuoted: false) = kind else { return false }
        return text.asciiLowercased == word
    }
}

/// Cuts a predicate into words.
struct PredicateScanner {
    private let text: String
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    /// All words, and then the end.
    ///
    /// - Throws: `RecordPredicateError` for what is no word.
    static func tokens(of text: String) throws -> [PredicateToken] {
        var scanner = PredicateScanner(text)
        var tokens: [PredicateToken] = []
        repeat { tokens.append(try scanner.next()) } while tokens.last?.kind != .end
        return tokens
    }

    private mutating func next() throws -> PredicateToken {
        while position < bytes.count, bytes[position] == 0x20 || (0x09...0x0D).contains(bytes[position]) {
            position += 1
        }
        let start = position
        guard position < bytes.count else { return PredicateToken(kind: .end, place: start..<start) }
        let kind = try scan()
        return PredicateToken(kind: kind, place: start..<position)
    }

    private mutating func scan() throws -> PredicateToken.Kind {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "'"):
            return .string(try quoted(by: byte))
        case UInt8(ascii: "\""), UInt8(ascii: "`"):
            return try name()
        case UInt8(ascii: "?"):
            position += 1
            return .argument
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","):
            position += 1
            return .symbol(String(UnicodeScalar(byte)))
        case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "!"):
            return try comparison()
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
            return try number()
        default:
            guard Self.isNamePart(byte) else { throw unexpectedCharacter() }
            return try name()
        }
    }

    /// Two of the quotes stand for one.
    private mutating func quoted(by quote: UInt8) throws -> String {
        let start = position
        var content: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == quote {
                guard position < bytes.count, bytes[position] == quote else {
                    return String(decoding: content, as: UTF8.self)
                }
                position += 1
            }
            content.append(byte)
        }
        let mark = String(UnicodeScalar(quote))
        throw RecordPredicateError(
            "the quote is not closed",
            in: text,
            at: start..<bytes.count,
            advice: "End it with \(mark). Within quotes, write \(mark) twice."
        )
    }

    private mutating func comparison() throws -> PredicateToken.Kind {
        for symbol in ["==", "!=", "<>", "<=", ">=", "=", "<", ">"] where bytes[position...].starts(with: symbol.utf8) {
            position += symbol.utf8.count
            return .symbol(symbol)
        }
        throw unexpectedCharacter()
    }

    /// Everything that is together with the digits belongs to the number, so that `12abc` is none.
    private mutating func number() throws -> PredicateToken.Kind {
        let start = position
        position += 1
        while position < bytes.count {
            let isExponentSign =
                (bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-"))
                && bytes[position - 1] | 0x20 == UInt8(ascii: "e")
            guard Self.isNamePart(bytes[position]) || isExponentSign else { break }
            position += 1
        }
        let digits = String(decoding: bytes[start..<position], as: UTF8.self)
        guard DecimalText.isNumber(digits) else {
            throw RecordPredicateError(
                "\(digits) is not a number",
                in: text,
                at: start..<position,
                advice: "Numbers are written as in JSON (-12, 0.5, 1e6), texts in single quotes."
            )
        }
        return .number(digits)
    }

    /// A name, parts of which may be quoted: `customer."zip code"`.
    private mutating func name() throws -> PredicateToken.Kind {
        var name = ""
        var isQuoted = false
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "`") {
                guard name.isEmpty || name.utf8.last == UInt8(ascii: ".") else { break }
                name += try quoted(by: bytes[position])
                isQuoted = true
                guard position < bytes.count, bytes[position] == UInt8(ascii: ".") else { break }
            } else {
                guard Self.isNamePart(bytes[position]) else { break }
                name += word()
                guard name.utf8.last == UInt8(ascii: ".") else { break }
            }
        }
        return .name(name, isQuoted: isQuoted)
    }

    private mutating func word() -> String {
        let start = position
        while position < bytes.count, Self.isNamePart(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Letters, digits, everything beyond ASCII, and what names of attributes often have.
    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."),
            UInt8(ascii: "@"), UInt8(ascii: "#"), 0x80...:
            true
        default: false
        }
    }

    private func unexpectedCharacter() -> RecordPredicateError {
        let rest = String(decoding: bytes[position...], as: UTF8.self)
        let character = rest.first.map(String.init) ?? ""
        let words: [String: String] = ["&": "and", "|": "or", "!": "not"]
        return RecordPredicateError(
            "\(character) has no meaning here",
            in: text,
            at: position..<position + max(character.utf8.count, 1),
            advice: words[character].map { "Write \($0)." } ?? RecordPredicateError.example
        )
    }
}
