import ImportEngine
import ImportModel
import ImportSources

/// The statements on the links of one relationship, seen from the side that states it.
///
/// Made once and kept, with the texts of the statements that records need.
package final class LinkStatements {
    package let relationship: Int
    /// The one that owns its storage, among the layout's.
    package let owner: Int
    package let description: RelationshipDescription
    /// The indexes of the entities that state it, and that it leads to.
    package let entity: Int
    package let destination: Int
    /// `order.lines`.
    package let name: String
    package let isJoin: Bool
    let isPositional: Bool
    package let isOneToOne: Bool
    package let isSymmetric: Bool
    /// True if the columns are of the object that states it, and refer to others by their row ids.
    let isReferring: Bool
    /// True if it is a one-to-one that is its own inverse, so that both partners have columns.
    let isMirrored: Bool
    /// True if its columns are `@parent` in the identifier of the rows that have them.
    package let isParent: Bool
    /// The index of the other side's relationship, where that is another one.
    package let inverse: Int?
    let hasPosition: Bool
    package let deletesOrphans: Bool
    /// The columns by which what it leads to is referred to.
    let destinationKey: [String]
    /// The same of the side that has the columns.
    let holderKey: [String]
    /// The columns of the destination that scalars name instead of its identifier; none where they name that.
    package let names: [String]

    package let table: String
    package let references: [String]
    package let position: String?
    /// In a join table, the columns of this side, and of the other.
    package let own: [String]
    package let other: [String]
    /// The table of what it leads to, and what holds of these rows in it.
    let destinationTable: String
    let isDestination: String

    /// - Parameter holder: the entity whose table has the columns, where several do; nil for the one that the layout has.
    package init(_ relationship: Int, _ layout: ModelLayout, holder: Int? = nil) {
        let placement = layout.relationships[relationship]
        self.relationship = relationship
        owner = placement.owner
        description = placement.description
        entity = placement.entity
        destination = placement.destination
        name = layout.name(of: relationship)
        isJoin = placement.shape == .join
        isPositional = layout.hierarchy.identifier(of: placement.destination).isEmpty
        isOneToOne = placement.shape == .oneToOne
        isParent =
            layout.hierarchy.identifier(of: placement.destination).contains(EntityDescription.parentIdentifier)
            && layout.parentRelationship(of: placement.destination) == placement.owner
        isReferring =
            placement.owner == relationship && (isOneToOne || placement.shape == .oneToMany) && isPositional
        isSymmetric = isJoin && placement.inverse == relationship
        isMirrored = isOneToOne && placement.inverse == relationship
        inverse = placement.inverse == relationship ? nil : placement.inverse
        let isOwned = layout.hierarchy.isOwned(placement.destination)
        deletesOrphans = (description.orphans ?? (isOwned ? .delete : .keep)) == .delete
        destinationKey = layout.keyColumns(of: placement.destination)
        holderKey = placement.holder.map { layout.keyColumns(of: $0) } ?? []
        names = Self.names(of: placement, layout)
        destinationTable = layout.table(of: placement.destination).quotedIdentifier
        isDestination = Self.condition(on: placement.destination, layout)
        if let links = LinkTable(relationship, layout) {
            table = links.table.quotedIdentifier
            own = links.own.map(\.name.quotedIdentifier)
            other = links.other.map(\.name.quotedIdentifier)
            position = links.position?.quotedIdentifier
            references = []
        } else {
            table = layout.table(of: holder ?? placement.holder ?? placement.entity).quotedIdentifier
            references = layout.references(of: relationship).map(\.name.quotedIdentifier)
            position = layout.positionColumn(of: relationship)?.quotedIdentifier
            (own, other) = ([], [])
        }
        hasPosition = position != nil
    }

    /// The forms of a relationship in all tables that have its columns.
    ///
    /// A to-one without inverse is inherited by entities that have tables of their own.
    package static func all(_ relationship: Int, _ layout: ModelLayout) -> [(holder: Int, form: LinkStatements)] {
        let placement = layout.relationships[relationship]
        guard placement.shape == .source else {
            return [(placement.holder ?? placement.entity, LinkStatements(relationship, layout))]
        }
        var tables: Set<String> = []
        let holders = layout.hierarchy.subentities(of: placement.entity).filter { entity in
            layout.hasTable(entity) && tables.insert(layout.table(of: entity)).inserted
        }
        return holders.map { ($0, LinkStatements(relationship, layout, holder: $0)) }
    }

    /// The columns of the attributes that a relationship names its destination by; none where they are its identifier.
    private static func names(of placement: RelationshipStorage, _ layout: ModelLayout) -> [String] {
        let hierarchy = layout.hierarchy
        let by = placement.description.by.map(BytewiseString.init)
        guard !by.isEmpty, by != hierarchy.identifier(of: placement.destination).map(BytewiseString.init) else {
            return []
        }
        let attributes = hierarchy.attributes(of: placement.destination)
        return by.compactMap { name in attributes.first { BytewiseString($0.name) == name }?.column.quotedIdentifier }
    }

    /// What holds of the rows of an entity in its table.
    private static func condition(on entity: Int, _ layout: ModelLayout) -> String {
        guard let column = layout.entityColumn(of: entity) else { return "1" }
        let subentities = layout.hierarchy.subentities(of: entity).map { subentity in
            layout.entities[subentity].name.quoted(by: "'", with: "''")
        }
        return "\(column.quotedIdentifier) IN (\(subentities.joined(separator: ", ")))"
    }

    package func equal(_ columns: [String]) -> String { all(columns, "= ?") }

    /// What holds where each of the columns fulfils a condition.
    func all(_ columns: [String], _ condition: String) -> String {
        columns.map { "\($0) \(condition)" }.joined(separator: " AND ")
    }

    /// What holds where one of the columns does.
    func any(_ columns: [String], _ condition: String) -> String {
        columns.map { "\($0) \(condition)" }.joined(separator: " OR ")
    }

    package func sets(_ columns: [String], _ value: String = "?") -> String {
        columns.map { "\($0) = \(value)" }.joined(separator: ", ")
    }
    package var columns: [String] { references + [position].compactMap { $0 } }

    /// The rows that are linked to an object: row id, position and key; of a join table the position and the other side's
    /// key.
    package private(set) lazy var selectRows: String = {
        if isJoin {
            return
                "SELECT \((["\(position ?? "NULL")"] + other).joined(separator: ", ")) FROM \(table) WHERE \(equal(own))"
        }
        let key = isPositional ? [] : destinationKey
        return "SELECT \((["rowid", position ?? "-1"] + key).joined(separator: ", ")) FROM \(table) "
            + "WHERE \(equal(references)) ORDER BY \(position ?? "rowid"), rowid"
    }()

    /// The row with an identifier.
    private(set) lazy var findRow = "SELECT rowid FROM \(table) WHERE \(equal(destinationKey))"

    /// The row of an element without identifier.
    private(set) lazy var findElement = "SELECT rowid FROM \(destinationTable) WHERE rowid = ?"

    /// Links a row, if it is not linked so already.
    private(set) lazy var setRow =
        "UPDATE \(table) SET \(sets(columns)) WHERE rowid = ? AND (\(any(columns, "IS NOT ?")))"

    /// Links a row that is not linked.
    private(set) lazy var setIfNull =
        "UPDATE \(table) SET \(sets(columns)) WHERE rowid = ? AND \(all(references, "IS NULL"))"

    /// Gives a row its place among those that are linked to the same.
    private(set) lazy var placeIfSame: String = {
        let position = position ?? "rowid"
        return "UPDATE \(table) SET \(position) = ? WHERE rowid = ? AND \(equal(references)) AND \(position) IS NULL"
    }()

    private(set) lazy var clearRow = "UPDATE \(table) SET \(sets(columns, "NULL")) WHERE rowid = ?"

    /// Clears all others that are linked to an object.
    private(set) lazy var clearOthers =
        "UPDATE \(table) SET \(sets(columns, "NULL")) WHERE \(equal(references)) AND rowid <> ?"

    /// The rows that refer to an object: row id and key.
    private(set) lazy var selectOwners =
        "SELECT \((["rowid"] + holderKey).joined(separator: ", ")) FROM \(table) WHERE \(equal(references))"

    /// The object without identifier that a row refers to.
    private(set) lazy var findReferred =
        "SELECT target.rowid FROM \(table) AS link JOIN \(destinationTable) AS target ON target.rowid = link.\(references[0]) "
        + "WHERE link.rowid = ?"

    private(set) lazy var setOwn = "UPDATE \(table) SET \(sets(references)) WHERE rowid = ?"

    // MARK: Settling

    /// Whether something is linked to what it leads to: by row id, or by key in a join table.
    package var isLinked: String {
        if isReferring { return "SELECT 1 FROM \(table) WHERE \(references[0]) = ? LIMIT 1" }
        if isJoin { return "SELECT 1 FROM \(table) WHERE \(equal(other)) LIMIT 1" }
        return "SELECT 1 FROM \(table) WHERE rowid = ? AND \(all(references, "IS NOT NULL"))"
    }

    /// The rows whose reference leads to nothing, as a table with a condition.
    package func dangling(in layout: ModelLayout, destination: Int) -> String {
        unmet(isJoin ? other : references, destinationKey, of: destination, layout)
    }

    /// The rows whose columns refer to an object that is not there, as a table with a condition.
    private func unmet(_ columns: [String], _ key: [String], of target: Int, _ layout: ModelLayout) -> String {
        let pairs = zip(columns, key).map { "link.\($0) = target.\($1)" }.joined(separator: " AND ")
        return
            "\(table) AS link WHERE \(all(columns.map { "link.\($0)" }, "IS NOT NULL")) AND NOT EXISTS (SELECT 1 FROM "
            + "\(layout.table(of: target).quotedIdentifier) AS target WHERE \(pairs))"
    }

    var danglingKey: String { (isJoin ? other : references).joined(separator: ", ") }

    /// The order in which stubs are made: that of the referring rows.
    var danglingOrder: String { isJoin ? (own + [position ?? other[0]]).joined(separator: ", ") : "rowid" }

    /// Removes references that lead to nothing.
    package func removal(of dangling: String) -> String {
        isJoin
            ? "DELETE FROM \(dangling)"
            : "UPDATE \(table) SET \(sets(columns, "NULL")) WHERE rowid IN (SELECT rowid FROM \(dangling))"
    }

    /// The rows that refer to an object that is not there, from the side that has no columns, as a table with a condition.
    package func lost(in layout: ModelLayout) -> String {
        let (target, references) = isJoin ? (entity, own) : (layout.target(of: relationship), references)
        return unmet(references, layout.keyColumns(of: target), of: target, layout)
    }

    /// How many rows refer to what another one refers to.
    package var countOfShared: String {
        "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(all(references, "IS NOT NULL")) "
            + "GROUP BY \(references.joined(separator: ", ")) HAVING count(*) > 1)"
    }

    /// How many rows refer to nothing.
    var countOfEmpty: String {
        "SELECT count(*) FROM \(table) WHERE \(any(references, "IS NULL"))"
    }

    // MARK: Join tables

    private(set) lazy var deleteLink = "DELETE FROM \(table) WHERE \(equal(own)) AND \(equal(other))"

    private(set) lazy var selectLink = "SELECT 1 FROM \(table) WHERE \(equal(own)) LIMIT 1"

    private(set) lazy var insertLink = insertion(
        own + other + [position].compactMap(\.self),
        position.map { "DO UPDATE SET \($0) = excluded.\($0) WHERE \($0) IS NOT excluded.\($0)" } ?? "DO NOTHING"
    )

    /// The other direction of a link that is its own inverse.
    private(set) lazy var insertSymmetricLink = insertion(own + other, "DO NOTHING")

    /// Adds a link that is not there.
    private(set) lazy var insertNamedLink = insertion(own + other + [position].compactMap(\.self), "DO NOTHING")

    private func insertion(_ columns: [String], _ onConflict: String) -> String {
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places)) ON CONFLICT \(onConflict)"
    }

    /// The parameter for the position in a list, if there is a column for it.
    func place(_ position: Int64) -> [LinkStatementCache.Parameter] { hasPosition ? [.number(position)] : [] }
}
