import ImportModel
import Importer

/// A condition for `WHERE` on a server, which holds for the same records as in a SQLite store; values are parameters.
///
/// Texts are compared by their bytes, whatever the database's collation says.
struct PGPredicate {
    private let predicate: RecordPredicate
    private(set) var parameters: [PGValue] = []
    private(set) var sql = ""

    /// - Throws: `RecordPredicateError` where it makes no sense for the entity, or the server cannot tell.
    init(_ predicate: RecordPredicate, for entity: PGEntity) throws {
        self.predicate = predicate
        sql = try sql(predicate.checked { name throws(UnknownAttribute) in try entity.term(named: name) })
    }

    private mutating func sql(_ checked: ResolvedPredicate<PGAttribute>) throws -> String {
        switch checked {
        case .all(let parts): return try parts.map { try sql($0) }.joinedConditions(by: "AND", empty: "TRUE")
        case .any(let parts): return try parts.map { try sql($0) }.joinedConditions(by: "OR", empty: "FALSE")
        case .not(let part): return "(NOT \(try sql(part)))"
        case .isNull(let term): return "(\(term.column.quoted) IS NULL)"
        case .isTrue(let term): return term.column.quoted
        case .always(let term): return always(term, true)
        case .never(let term): return always(term, false)
        case .comparison(let term, let comparison, let value): return try sql(term, comparison, value)
        case .terms(let one, let comparison, let other): return sql(one, comparison, other)
        case .membership(let term, let values):
            let sought = values.filter { !Self.hasNUL($0) }
            guard !sought.isEmpty else { return values.isEmpty ? "FALSE" : always(term, false) }
            let list = try sought.map { try bind($0, for: term) }.joined(separator: ", ")
            return "(\(compared(term, .equal)) IN (\(list)))"
        case .text(let term, let test, let text): return sql(term, test, text)
        }
    }

    /// What all values are, and no null is.
    private func always(_ term: PGAttribute, _ truth: Bool) -> String {
        "(CASE WHEN \(term.column.quoted) IS NOT NULL THEN \(truth ? "TRUE" : "FALSE") END)"
    }

    /// Adds a parameter.
    ///
    /// - Returns: its placeholder.
    private mutating func bind(_ value: PGValue, _ type: String) -> String {
        parameters.append(value)
        return "$\(parameters.count)::\(type)"
    }

    // MARK: Values

    private mutating func sql(
        _ term: PGAttribute,
        _ comparison: PredicateNode.Comparison,
        _ value: Record.Value
    ) throws -> String {
        guard Self.hasNUL(value), case .text(let text) = value else {
            return "(\(compared(term, comparison)) \(comparison.rawValue) \(try bind(value, for: term)))"
        }
        // No text of a server has U+0000: it comes right after what is before that, and before all that goes on otherwise.
        guard !comparison.isEquality else { return always(term, comparison == .different) }
        let head = String(decoding: text.utf8.prefix { $0 != 0 }, as: UTF8.self)
        let isLess = comparison == .less || comparison == .lessOrEqual
        return "(\(term.text) \(isLess ? "<=" : ">") \(bind(.text(head), "text")))"
    }

    private static func hasNUL(_ value: Record.Value) -> Bool {
        guard case .text(let text) = value else { return false }
        return text.utf8.contains(0)
    }

    /// A term with the collation by which it is compared: for whether texts are the same, an index of the column's own will do.
    private func compared(_ term: PGAttribute, _ comparison: PredicateNode.Comparison) -> String {
        guard term.isText else { return term.sql }
        return comparison.isEquality && term.column.isExact ? term.sql : term.text
    }

    private mutating func bind(_ value: Record.Value, for term: PGAttribute) throws -> String {
        switch (value, term.column.type) {
        case (.null, _): return "NULL"
        case (.integer(let number), .boolean): return bind(.boolean(number != 0), "boolean")
        case (.integer(let number), _): return bind(.integer(number), "bigint")
        // A date between two whole seconds.
        case (.real(let number), .integer): return bind(.text("\(number)"), "numeric")
        case (.real(let number), _): return bind(.double(number), "double precision")
        case (.text(let text), .uuid): return bind(.text(text), "uuid")
        case (.text(let text), .timestamptz), (.text(let text), .timestamptz6): return bind(.text(text), "timestamptz")
        case (.text(let text), .timestamp), (.text(let text), .timestamp6): return bind(.text(text), "timestamp")
        case (.text(let text), .numeric):
            guard NumericEncoder.holds(text) else {
                throw predicate.error(
                    "a server has no numbers as large, or with as many digits, as \(text.prefix(40))",
                    advice: "Compare \(term.attribute.name) with another number."
                )
            }
            return bind(.text(text), "numeric")
        case (.text(let text), _): return bind(.text(text), "text")
        case (.blob(let bytes), _): return bind(.bytes(bytes), "bytea")
        }
    }

    // MARK: Two attributes

    private func sql(_ one: PGAttribute, _ comparison: PredicateNode.Comparison, _ other: PGAttribute) -> String {
        let isOne = [.real, .double].contains(one.column.type)
        let isOther = [.real, .double].contains(other.column.type)
        switch one.attribute.type.family {
        case .number where isOne != isOther:
            let (integer, real) = isOne ? (other, one) : (one, other)
            let order = Self.order(of: integer.column.quoted, and: real.column.quoted)
            return "(\(order) \((isOne ? comparison.flipped : comparison).rawValue) 0)"
        case .text: return "(\(one.text) \(comparison.rawValue) \(other.text))"
        default: return "(\(one.sql) \(comparison.rawValue) \(other.sql))"
        }
    }

    /// Whether an integer is less than a float (-1), the same (0) or greater (1), exactly: the server would round it to a float.
    private static func order(of integer: String, and real: String) -> String {
        """
        (CASE WHEN \(integer) IS NULL OR \(real) IS NULL THEN NULL WHEN \(real) >= 9223372036854775808 THEN -1 \
        WHEN \(real) < -9223372036854775808 THEN 1 WHEN \(integer) < floor(\(real))::bigint THEN -1 \
        WHEN \(integer) > floor(\(real))::bigint THEN 1 WHEN \(real) > floor(\(real)) THEN -1 ELSE 0 END)
        """
    }

    // MARK: Texts

    private mutating func sql(_ term: PGAttribute, _ test: PredicateNode.TextTest, _ text: String) -> String {
        guard !text.utf8.contains(0) else { return always(term, false) }
        switch test {
        // In this collation only ASCII letters have a case, as for SQLite, whose LIKE has no escapes.
        case .like: return "(lower(\(term.text)) LIKE \(bind(.text(text.asciiLowercased), "text")) ESCAPE '')"
        case .contains: return "(strpos(\(term.text), \(bind(.text(text), "text"))) > 0)"
        case .beginsWith: return "starts_with(\(term.text), \(bind(.text(text), "text")))"
        case .endsWith:
            let end = bind(.text(text), "text")
            return "(right(\(term.text), char_length(\(end))) = \(end))"
        }
    }
}
