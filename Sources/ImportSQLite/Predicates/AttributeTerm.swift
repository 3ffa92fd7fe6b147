import ImportEngine
import ImportModel
import ImportSources

/// What a name in a predicate or a sort means: an attribute of the record, or of the object that its to-one relationships
/// lead to (`customer.city`), or how many objects a to-many has (`lines.count`).
package struct AttributeTerm: PredicateTerm {
    /// With the whole name.
    package let attribute: AttributeDescription
    /// Its value, in SQL; NULL where a relationship leads nowhere.
    package let sql: String
    /// True if it is an attribute of the record itself.
    package let isOwn: Bool
    /// The tables that its value depends on beside the record's row, in lower case.
    package let reached: Set<BytewiseString>

    package var type: AttributeType { attribute.type }
}

extension FetchedEntity {
    /// A statement may join this many tables, and one is another (<https://www.sqlite.org/limits.html>).
    package static let mostLevels = 60

    /// What a name means; the record's own attributes come first, and `rowid` is the row id.
    package func term(named name: String) throws(UnknownAttribute) -> AttributeTerm {
        if let attribute = description.attribute(named: name) {
            return AttributeTerm(
                attribute: attribute,
                sql: attribute.column.quotedIdentifier,
                isOwn: true,
                reached: []
            )
        }
        var path = RelationshipPath(from: description.table)
        var entity = self
        var rest = name
        while true {
            let known = name.utf8.count - rest.utf8.count
            guard let (link, tail) = entity.link(leading: rest) else {
                throw entity.unknown(rest, after: String(decoding: name.utf8.prefix(known), as: UTF8.self))
            }
            let whole = String(decoding: name.utf8.prefix(known), as: UTF8.self) + link.name
            if link.isToMany {
                guard tail == "count" else {
                    throw UnknownAttribute(
                        message: "\(whole) may be several objects, of which only the number can be asked for",
                        advice: "Write \(whole).count, as in \(whole).count > 3."
                    )
                }
                var attribute = AttributeDescription(name: name, type: .integer64)
                attribute.column = ""
                return path.term(attribute, counting: link)
            }
            path.append(link)
            entity = entity.destination(of: link)
            guard let tail else {
                let first = entity.description.identifier.first ?? entity.description.attributes.first?.name ?? "rowid"
                throw UnknownAttribute(
                    message: "\(whole) is an object of \(entity.description.name), which cannot be compared itself",
                    advice: "Compare one of its attributes, as in \(whole).\(first) is null."
                )
            }
            guard path.count <= Self.mostLevels else {
                throw UnknownAttribute(
                    message: "\(whole) leads through more than \(Self.mostLevels) relationships",
                    advice: "Use a shorter key path."
                )
            }
            if var attribute = entity.description.attribute(named: tail) {
                let column = attribute.column.quotedIdentifier
                attribute.name = name
                return path.term(attribute, column: column)
            }
            rest = tail
        }
    }

    /// - Parameter path: what leads to this entity, with a dot at its end.
    private func unknown(_ name: String, after path: String) -> UnknownAttribute {
        let names = description.attributes.map(\.name)
        let links = self.links
        let (head, tail) = name.cutAtDot
        let near =
            NameSuggestion.nearest(to: name, among: names)
            ?? tail.flatMap { tail in
                NameSuggestion.nearest(to: head, among: links.map(\.name)).map { "\($0).\(tail)" }
            }
        let shown = names.prefix(30).joined(separator: ", ") + (names.count > 30 ? ", …" : "")
        let reached = links.map { $0.isToMany ? "\($0.name).count" : "\($0.name).…" }.joined(separator: ", ")
        return UnknownAttribute(
            message: "\(description.name) has no attribute \(name)"
                + (near.map { "; did you mean \(path)\($0)?" } ?? ""),
            advice: "It has: \(shown)." + (reached.isEmpty ? "" : " Relationships: \(reached)."),
            knownBytes: path.utf8.count,
            hasSuggestion: near != nil
        )
    }
}

/// To-one relationships that lead from a record to another, in SQL.
private struct RelationshipPath {
    private let table: String
    private var tables: [String] = []
    private var conditions: [String] = []
    private var reached: Set<BytewiseString> = []

    /// - Parameter table: that of the record, by whose name a statement knows it.
    init(from table: String) { self.table = table }

    var count: Int { tables.count }

    /// The name of the `number`th table, quoted.
    private func alias(_ number: Int) -> String {
        let name = "@\(number)"
        return (ExistingEntity.folded(name) == ExistingEntity.folded(table) ? "@\(name)" : name).quotedIdentifier
    }

    /// The name of the last table.
    private var last: String { tables.isEmpty ? table.quotedIdentifier : alias(tables.count) }

    mutating func append(_ link: RelationshipJoin) {
        let target = link.target(as: alias(tables.count + 1), where: link.source.map { "\(last).\($0)" })
        tables.append(target.table)
        conditions.append(target.condition)
        reached.formUnion(link.tables)
    }

    /// A column of where it leads.
    func term(_ attribute: AttributeDescription, column: String) -> AttributeTerm {
        AttributeTerm(attribute: attribute, sql: selecting("\(last).\(column)"), isOwn: false, reached: reached)
    }

    /// The number of objects that a relationship has there.
    func term(_ attribute: AttributeDescription, counting link: RelationshipJoin) -> AttributeTerm {
        let count = link.count(as: alias(tables.count + 1), where: link.source.map { "\(last).\($0)" })
        return AttributeTerm(
            attribute: attribute,
            sql: tables.isEmpty ? count : selecting(count),
            isOwn: false,
            reached: reached.union(link.tables)
        )
    }

    private func selecting(_ value: String) -> String {
        "(SELECT \(value) FROM \(tables.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND ")))"
    }
}

extension String {
    /// What is before the first dot, and after it.
    fileprivate var cutAtDot: (head: String, tail: String?) {
        guard let dot = utf8.firstIndex(of: UInt8(ascii: ".")) else { return (self, nil) }
        return (String(self[..<dot]), String(self[utf8.index(after: dot)...]))
    }
}

extension ImportError {
    /// A name that means nothing of an entity.
    package init(_ unknown: UnknownAttribute) {
        self.init(.unknownAttribute, "\(unknown.message)", advice: "\(unknown.advice.printable)")
    }
}
