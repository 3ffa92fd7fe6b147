import ImportModel

/// Reads predicates: `or` binds least, then `and`, then `not`.
struct PredicateParser {
    private let text: String
    private let tokens: [PredicateToken]
    private var arguments: ArraySlice<JSONValue>
    private var position = 0
    private var depth = 0
    private var values = 0

    /// Parentheses and `not` in each other; the parser calls itself for each.
    private static let mostLevels = 100
    /// SQLite takes 32,766 arguments (`SQLITE_MAX_VARIABLE_NUMBER`); some values are bound twice.
    private static let mostValues = 16_000

    /// What `text` says.
    ///
    /// - Parameter arguments: the values for each `?`, in order; an array is one after `in`.
    /// - Throws: `RecordPredicateError` where it is no predicate.
    static func parse(_ text: String, arguments: [JSONValue]) throws -> PredicateNode {
        var parser = PredicateParser(
            text: text,
            tokens: try PredicateScanner.tokens(of: text),
            arguments: arguments[...]
        )
        let node = try parser.alternatives()
        guard parser.next.kind == .end else {
            throw parser.unexpected("expected and, or, or the end")
        }
        guard parser.arguments.isEmpty else {
            throw parser.error("there are more values than ?", at: parser.next.place, advice: oneEach)
        }
        return node
    }

    private init(text: String, tokens: [PredicateToken], arguments: ArraySlice<JSONValue>) {
        self.text = text
        self.tokens = tokens
        self.arguments = arguments
    }

    // MARK: Conditions

    private mutating func alternatives() throws -> PredicateNode {
        var nodes = [try conditions()]
        while take("or") { nodes.append(try conditions()) }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private mutating func conditions() throws -> PredicateNode {
        var nodes = [try condition()]
        while take("and") { nodes.append(try condition()) }
        return nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private mutating func condition() throws -> PredicateNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.mostLevels else {
            throw error("it is nested too deeply", at: next.place, advice: "Write it with fewer parentheses.")
        }
        if next.isWord("not"), !isName(at: position) {
            position += 1
            return .not(try condition())
        }
        if take(symbol: "(") {
            let node = try alternatives()
            try expect(")")
            return node
        }
        return try test()
    }

    private mutating func test() throws -> PredicateNode {
        let left = try operand()
        if case .symbol(let symbol) = next.kind, let comparison = PredicateNode.Comparison(symbol: symbol) {
            position += 1
            return .comparison(left, comparison, try operand())
        }
        if take("is") {
            let isNegative = take("not")
            guard take("null") else { throw unexpected("expected null") }
            return isNegative ? .not(.isNull(left)) : .isNull(left)
        }
        let isNegative = take("not")
        if let node = try restOfTest(left) { return isNegative ? .not(node) : node }
        if !isNegative, case .attribute = left.content, endsCondition { return .truth(left) }
        if isNegative { throw unexpected("expected in, between, like, contains, begins with or ends with") }
        throw unexpected("expected a comparison, as in age > 30")
    }

    private mutating func restOfTest(_ left: PredicateNode.Operand) throws -> PredicateNode? {
        if take("between") {
            let low = try operand()
            guard take("and") else { throw unexpected("expected and, as in between 1 and 9") }
            return .between(left, low, try operand())
        }
        if take("in") { return .membership(left, try list()) }
        if take("like") { return .text(left, .like, try operand()) }
        if take("contains") { return .text(left, .contains, try operand()) }
        if take("beginswith") { return .text(left, .beginsWith, try operand()) }
        if take("endswith") { return .text(left, .endsWith, try operand()) }
        if next.isWord("begins") || next.isWord("ends") {
            let test: PredicateNode.TextTest = next.isWord("begins") ? .beginsWith : .endsWith
            position += 1
            guard take("with") else { throw unexpected("expected with") }
            return .text(left, test, try operand())
        }
        return nil
    }

    private mutating func list() throws -> [PredicateNode.Operand] {
        if next.kind == .argument, case .array(let elements) = arguments.first {
            let place = next.place
            position += 1
            arguments = arguments.dropFirst()
            try count(elements.count, at: place)
            return elements.map { PredicateNode.Operand(content: .literal($0), place: place) }
        }
        guard take(symbol: "(") else {
            throw error(
                "expected a list after in",
                at: next.place,
                advice: "Write it in parentheses: in ('Oslo', 'Rome')."
            )
        }
        var operands: [PredicateNode.Operand] = []
        repeat { operands.append(try operand()) } while take(symbol: ",")
        try expect(")")
        return operands
    }

    private mutating func operand() throws -> PredicateNode.Operand {
        let token = next
        let content: PredicateNode.Operand.Content
        switch token.kind {
        case .string(let text): content = .literal(.string(text))
        case .number(let digits): content = .literal(.number(digits))
        case .argument:
            guard let value = arguments.popFirst() else {
                throw error("there is no value for this ?", at: token.place, advice: Self.oneEach)
            }
            content = .literal(value)
        case .name(let name, let isQuoted):
            content = isQuoted ? .attribute(name, isQuoted: true) : word(name)
            if !isQuoted, ["and", "or"].contains(name.asciiLowercased) {
                throw unexpected("expected an attribute or a value")
            }
        case .symbol, .end:
            throw unexpected("expected an attribute or a value")
        }
        if case .literal = content { try count(1, at: token.place) }
        position += 1
        return PredicateNode.Operand(content: content, place: token.place)
    }

    private func word(_ name: String) -> PredicateNode.Operand.Content {
        switch name.asciiLowercased {
        case "null": .literal(.null)
        case "true": .literal(.boolean(true))
        case "false": .literal(.boolean(false))
        default: .attribute(name, isQuoted: false)
        }
    }

    // MARK: Words

    private var next: PredicateToken { tokens[min(position, tokens.count - 1)] }

    /// True if the condition could end here.
    private var endsCondition: Bool {
        next.kind == .end || next.kind == .symbol(")") || next.isWord("and") || next.isWord("or")
    }

    /// True if `not` is where a comparison makes it a name.
    private func isName(at position: Int) -> Bool {
        guard tokens.indices.contains(position + 1), case .symbol(let symbol) = tokens[position + 1].kind else {
            return false
        }
        return PredicateNode.Comparison(symbol: symbol) != nil
    }

    private mutating func take(_ word: String) -> Bool {
        guard next.isWord(word) else { return false }
        position += 1
        return true
    }

    private mutating func take(symbol: String) -> Bool {
        guard next.kind == .symbol(symbol) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ symbol: String) throws {
        guard take(symbol: symbol) else { throw unexpected("expected \(symbol)") }
    }

    private mutating func count(_ number: Int, at place: Range<Int>) throws {
        values += number
        guard values <= Self.mostValues else {
            throw error(
                "it has more than \(Self.mostValues.grouped) values",
                at: place,
                advice: "Ask for some of the values, and then for the others."
            )
        }
    }

    // MARK: Errors

    private func unexpected(_ message: String) -> RecordPredicateError {
        switch next.kind {
        case .end: error(message + ", but the predicate ends", at: next.place)
        case .symbol(let symbol): error(message + ", not \(symbol)", at: next.place)
        default: error(message, at: next.place)
        }
    }

    private static let oneEach = "Give one value for each ?, or write the value itself."

    private func error(
        _ message: String,
        at place: Range<Int>,
        advice: String = RecordPredicateError.example
    ) -> RecordPredicateError {
        RecordPredicateError(message, in: text, at: place, advice: advice)
    }
}
