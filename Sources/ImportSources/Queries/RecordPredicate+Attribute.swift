import ImportModel

extension RecordPredicate {
    /// An attribute to compare with a value or another attribute: `RecordPredicate.attribute("age") > 3`.
    ///
    /// The attribute and the types of values are checked when the predicate is used.
    public static func attribute(_ name: String) -> Attribute { Attribute(name: name) }

    /// One side of a comparison.
    public struct Attribute: Sendable {
        package let name: String

        /// True for records in which the attribute is null.
        public var isNull: RecordPredicate { RecordPredicate("\(text) is null", [], .isNull(operand)) }

        /// True for records in which the attribute, a boolean, is true.
        public var isTrue: RecordPredicate { RecordPredicate(text, [], .truth(operand)) }

        /// True for records in which the attribute is one of the given values.
        public func isIn(_ values: [some RecordPredicateValue]) -> RecordPredicate {
            let values = values.map(\.predicateValue)
            let operands = values.map { value($0, after: " in ") }
            return RecordPredicate("\(text) in ?", [.array(values)], .membership(operand, operands))
        }

        /// True for records in which the attribute is in a range that includes both bounds.
        public func isBetween(_ low: some RecordPredicateValue, _ high: some RecordPredicateValue) -> RecordPredicate {
            let (low, high) = (low.predicateValue, high.predicateValue)
            return RecordPredicate(
                "\(text) between ? and ?",
                [low, high],
                .between(operand, value(low, after: " between "), value(high, after: " between ? and "))
            )
        }

        /// True for records in which the text of the attribute contains a part, byte by byte.
        public func contains(_ part: String) -> RecordPredicate { tested(.contains, part) }

        /// True for records in which the text of the attribute begins with a prefix, byte by byte.
        public func hasPrefix(_ prefix: String) -> RecordPredicate { tested(.beginsWith, prefix) }

        /// True for records in which the text of the attribute ends with a suffix, byte by byte.
        public func hasSuffix(_ suffix: String) -> RecordPredicate { tested(.endsWith, suffix) }

        /// True for records in which the text of the attribute matches a pattern, where `%` is any text and `_` any character.
        public func isLike(_ pattern: String) -> RecordPredicate { tested(.like, pattern) }

        // MARK: Parts

        private var text: String { RecordPredicate.quoted(name) }

        private var operand: PredicateNode.Operand {
            PredicateNode.Operand(content: .attribute(name, isQuoted: true), place: 0..<text.utf8.count)
        }

        /// The value of a `?` after these words.
        private func value(_ json: JSONValue, after words: String) -> PredicateNode.Operand {
            let start = text.utf8.count + words.utf8.count
            return PredicateNode.Operand(content: .literal(json), place: start..<start + 1)
        }

        private func tested(_ test: PredicateNode.TextTest, _ part: String) -> RecordPredicate {
            let words = " \(test.rawValue) "
            return RecordPredicate(
                "\(text)\(words)?",
                [.string(part)],
                .text(operand, test, value(.string(part), after: words))
            )
        }

        fileprivate func compared(
            _ comparison: PredicateNode.Comparison,
            _ other: some RecordPredicateValue
        ) -> RecordPredicate {
            let words = " \(comparison.rawValue) "
            let json = other.predicateValue
            return RecordPredicate(
                "\(text)\(words)?",
                [json],
                .comparison(operand, comparison, value(json, after: words))
            )
        }

        fileprivate func compared(_ comparison: PredicateNode.Comparison, to other: Attribute) -> RecordPredicate {
            let words = " \(comparison.rawValue) "
            let right = other.operand.moved(by: text.utf8.count + words.utf8.count)
            return RecordPredicate("\(text)\(words)\(other.text)", [], .comparison(operand, comparison, right))
        }
    }
}

extension RecordPredicate.Attribute {
    /// True for records in which the attribute equals the value, or is null if the value is nil.
    public static func == (one: Self, other: some RecordPredicateValue) -> RecordPredicate {
        one.compared(.equal, other)
    }

    /// True for records in which the attribute differs from the value, or is not null if the value is nil.
    public static func != (one: Self, other: some RecordPredicateValue) -> RecordPredicate {
        one.compared(.different, other)
    }

    /// True for records in which the attribute is less than the value.
    public static func < (one: Self, other: some RecordPredicateValue) -> RecordPredicate { one.compared(.less, other) }

    /// True for records in which the attribute is less than or equal to the value.
    public static func <= (one: Self, other: some RecordPredicateValue) -> RecordPredicate {
        one.compared(.lessOrEqual, other)
    }

    /// True for records in which the attribute is greater than the value.
    public static func > (one: Self, other: some RecordPredicateValue) -> RecordPredicate {
        one.compared(.greater, other)
    }

    /// True for records in which the attribute is greater than or equal to the value.
    public static func >= (one: Self, other: some RecordPredicateValue) -> RecordPredicate {
        one.compared(.greaterOrEqual, other)
    }

    /// True for records in which both attributes are equal.
    public static func == (one: Self, other: Self) -> RecordPredicate { one.compared(.equal, to: other) }

    /// True for records in which the attributes differ.
    public static func != (one: Self, other: Self) -> RecordPredicate { one.compared(.different, to: other) }

    /// True for records in which the first attribute is less than the second.
    public static func < (one: Self, other: Self) -> RecordPredicate { one.compared(.less, to: other) }

    /// True for records in which the first attribute is less than or equal to the second.
    public static func <= (one: Self, other: Self) -> RecordPredicate { one.compared(.lessOrEqual, to: other) }

    /// True for records in which the first attribute is greater than the second.
    public static func > (one: Self, other: Self) -> RecordPredicate { one.compared(.greater, to: other) }

    /// True for records in which the first attribute is greater than or equal to the second.
    public static func >= (one: Self, other: Self) -> RecordPredicate { one.compared(.greaterOrEqual, to: other) }
}

extension RecordPredicate {
    /// True for records that match both predicates.
    public static func && (one: RecordPredicate, other: RecordPredicate) -> RecordPredicate {
        let (text, first, second) = joined(one, "and", other)
        // A chain is one level deep, however long it is.
        var nodes = [first]
        if case .all(let firstNodes) = first { nodes = firstNodes }
        return RecordPredicate(text, one.arguments + other.arguments, .all(nodes + [second]))
    }

    /// True for records that match at least one of the predicates.
    public static func || (one: RecordPredicate, other: RecordPredicate) -> RecordPredicate {
        let (text, first, second) = joined(one, "or", other)
        var nodes = [first]
        if case .any(let firstNodes) = first { nodes = firstNodes }
        return RecordPredicate(text, one.arguments + other.arguments, .any(nodes + [second]))
    }

    /// True for records that do not match the predicate.
    ///
    /// As in SQL, a comparison with null is never true, and neither is its opposite.
    public static prefix func ! (one: RecordPredicate) -> RecordPredicate {
        RecordPredicate("not (\(one.text))", one.arguments, .not(one.node.moved(by: "not (".utf8.count)))
    }

    private static func joined(
        _ one: RecordPredicate,
        _ word: String,
        _ other: RecordPredicate
    ) -> (text: String, PredicateNode, PredicateNode) {
        let start = "(\(one.text)) \(word) ("
        return ("\(start)\(other.text))", one.node.moved(by: 1), other.node.moved(by: start.utf8.count))
    }
}

extension PredicateNode.Operand {
    /// The same, further on in a longer text.
    fileprivate func moved(by offset: Int) -> Self {
        Self(content: content, place: place.lowerBound + offset..<place.upperBound + offset)
    }
}

extension PredicateNode {
    /// The same, further on in a longer text.
    fileprivate func moved(by offset: Int) -> PredicateNode {
        switch self {
        case .all(let nodes): .all(nodes.map { $0.moved(by: offset) })
        case .any(let nodes): .any(nodes.map { $0.moved(by: offset) })
        case .not(let node): .not(node.moved(by: offset))
        case .comparison(let one, let comparison, let other):
            .comparison(one.moved(by: offset), comparison, other.moved(by: offset))
        case .between(let operand, let low, let high):
            .between(operand.moved(by: offset), low.moved(by: offset), high.moved(by: offset))
        case .membership(let operand, let values):
            .membership(operand.moved(by: offset), values.map { $0.moved(by: offset) })
        case .text(let operand, let test, let pattern):
            .text(operand.moved(by: offset), test, pattern.moved(by: offset))
        case .isNull(let operand): .isNull(operand.moved(by: offset))
        case .truth(let operand): .truth(operand.moved(by: offset))
        }
    }
}
