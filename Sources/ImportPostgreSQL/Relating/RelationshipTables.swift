import ImportModel
import Importer

/// The tables of entities that relate to one another, as a server has them.
struct RelationshipTables {
    let graph: GraphPlan
    /// The entities that have a table of their own, in which those that inherit from them may have their rows, too.
    let homes: [Int]
    /// By entity what the table of its rows is described by: it has an attribute for each column but `row_id`.
    let entities: [EntityDescription]
    /// By entity the columns of that table, in the order of the attributes.
    let columns: [[PGColumn]]
    /// By entity the index of each attribute of its rows among these columns.
    let places: [[Int]]

    init(_ graph: GraphPlan) {
        self.graph = graph
        let layout = graph.layout
        homes = graph.nodes.indices.filter { layout.home(of: $0) == $0 && layout.hasTable($0) }
        let tables = graph.nodes.indices.map { Self.table(of: layout.home(of: $0), graph) }
        entities = tables
        columns = tables.map(PGColumn.all)
        places = graph.nodes.enumerated().map { index, node in
            let names = tables[index].attributes.map { BytewiseString($0.column.asciiLowercased) }
            return node.rows.entity.attributes.map {
                names.firstIndex(of: BytewiseString($0.column.asciiLowercased)) ?? 0
            }
        }
    }

    /// An entity with the columns of all whose rows are in its table.
    private static func table(of home: Int, _ graph: GraphPlan) -> EntityDescription {
        let layout = graph.layout
        var entity = graph.nodes[home].rows.entity
        guard layout.isShared(home), let table = layout.tables.first(where: { $0.name == entity.table }) else {
            return entity
        }
        let attributes = layout.hierarchy.subentities(of: home).flatMap { graph.nodes[$0].rows.entity.attributes }
        entity.attributes = table.columns.compactMap { column in
            let name = BytewiseString(column.name.asciiLowercased)
            return attributes.first { BytewiseString($0.column.asciiLowercased) == name }
        }
        return entity
    }

    var layout: ModelLayout { graph.layout }

    /// The entity whose table has the rows of an entity.
    func home(of entity: Int) -> Int { layout.home(of: entity) }

    /// The entities whose rows are in the table of one.
    func subentities(of entity: Int) -> [Int] {
        let home = home(of: entity)
        return layout.isShared(home) ? layout.hierarchy.subentities(of: home) : [home]
    }

    /// The index of the column that says which entity a row is of; nil where the table has rows of one only.
    func subentityColumn(of entity: Int) -> Int? { graph.nodes[entity].rows.entityColumn.map { places[entity][$0] } }

    /// How the rows of an entity's table say of which entity they are; nil where the table has rows of one only.
    func stagedSubentities(of entity: Int) -> StagedEntity.Subentities? {
        subentityColumn(of: entity).map { place in
            StagedEntity.Subentities(
                column: place,
                numbers: subentities(of: entity).map { (layout.entities[$0].name, $0) }
            )
        }
    }

    /// The tables that have objects of several entities with one identifier: what one of them is stored ones and earlier records
    /// say, too.
    var shared: [Int] { homes.filter { layout.isShared($0) && !isKeyless($0) } }

    /// The indexes of the columns that are the identifier of an entity.
    func keyPlaces(of entity: Int) -> [Int] { graph.plans[entity].identifier.map { places[entity][$0] } }

    /// The name of an entity's table, in double quotes.
    func table(of entity: Int) -> String { PGTables.quoted(layout.table(of: entity)) }

    /// True if an entity's rows have no identifier.
    func isKeyless(_ entity: Int) -> Bool { graph.plans[entity].identifier.isEmpty }

    /// The column that is the key of rows without identifier; nil where nothing needs one.
    func rowID(of entity: Int) -> PGColumn? {
        guard isKeyless(entity), let name = layout.rowIDColumn(of: entity) else { return nil }
        let attribute = AttributeDescription(name: name, type: .integer64, from: [])
        return PGColumn(name: name, type: .bigint, attribute: attribute)
    }

    /// Row ids that nobody else gets, for an entity without identifier; the highest first.
    func rowIDs(of entity: Int, _ connection: PGConnection) throws -> [Int64] {
        guard let column = rowID(of: entity) else { return [] }
        return try connection.execute(
            """
            SELECT nextval(pg_get_serial_sequence($1, $2)) AS number FROM generate_series(1, 2000) ORDER BY number DESC
            """,
            [.text(table(of: entity)), .text(column.name)]
        ).map { try $0.integer(0) }
    }

    /// The columns by which an entity's rows are referred to, in the order of the columns that refer to them.
    func key(of entity: Int) -> [PGColumn] {
        if isKeyless(entity) { return [rowID(of: entity)].compactMap(\.self) }
        return keyPlaces(of: entity).map { columns[entity][$0] }
    }

    /// A relationship in columns: those of the rows that have them.
    struct Reference {
        /// Its index among the layout's.
        let owner: Int
        /// The entity whose rows have the columns, and the one that they lead to.
        let holder: Int
        let target: Int
        /// Their indexes among the holder's columns, and that of the row's index in a list.
        let columns: Range<Int>
        let position: Int?
        /// The relationship, of the target, that lists the rows; nil where the JSON has no such list.
        ///
        /// Of a one-to-one it is the other side, which an object that says whom it belongs to speaks for, too.
        let list: Int?
        let isOneToOne: Bool
        /// True if the columns are `@parent` in the identifier of the rows.
        let isParent: Bool
        /// True if a list has objects from where it is stated on, and not only from where they are written: of several lists of one
        /// record the last one counts, whichever has the object itself.
        let isClaimed: Bool
    }

    /// All relationships in columns, in the order of their indexes.
    var references: [Reference] { layout.relationships.indices.flatMap(references) }

    /// The columns of a relationship that owns them; nil where it owns none.
    func reference(_ owner: Int) -> Reference? { references(owner).first }

    /// The same in each table that has them: a to-one without inverse is inherited by entities that have tables of their own.
    func references(_ owner: Int) -> [Reference] {
        let placement = layout.relationships[owner]
        guard placement.owner == owner, let holder = placement.holder else { return [] }
        guard placement.shape == .source else { return [reference(owner, in: holder)].compactMap(\.self) }
        var tables: Set<Int> = []
        return layout.hierarchy.subentities(of: holder)
            .filter { layout.hasTable($0) && tables.insert(home(of: $0)).inserted }
            .compactMap { reference(owner, in: $0) }
    }

    private func reference(_ owner: Int, in holder: Int) -> Reference? {
        let placement = layout.relationships[owner]
        guard let range = graph.nodes[holder].rows.references[owner] else { return nil }
        let first = places[holder][range.lowerBound]
        let isOneToOne = placement.shape == .oneToOne
        let list = isOneToOne ? placement.inverse : layout.list(of: owner)
        let isParent =
            layout.hierarchy.identifier(of: holder).contains(EntityDescription.parentIdentifier)
            && layout.parentRelationship(of: holder) == owner
        return Reference(
            owner: owner,
            holder: holder,
            target: layout.target(of: owner),
            columns: first..<first + range.count,
            position: graph.nodes[holder].rows.positions[owner].map { places[holder][$0] },
            list: isOneToOne
                ? list
                : list.flatMap { layout.relationships[$0].description.from.isEmpty ? nil : $0 },
            isOneToOne: isOneToOne,
            isParent: isParent,
            isClaimed: placement.shape == .oneToMany || isOneToOne
        )
    }

    /// A join table.
    struct Join {
        /// The relationship that makes it, and the other side of that.
        let making: Int
        let inverse: Int?
        /// In double quotes.
        let table: String
        /// The entities at its ends.
        let source: Int
        let destination: Int
        /// The columns that refer to them.
        let sourceColumns: [PGColumn]
        let destinationColumns: [PGColumn]
        /// The columns of the indexes in the lists of either side, in double quotes.
        let position: String?
        let inversePosition: String?
        /// True if the relationship is its own inverse, so that there is a row for each direction.
        let isSymmetric: Bool
    }

    /// All join tables, in the order of the relationships that make them.
    var joins: [Join] {
        layout.relationships.indices.compactMap { index in
            let placement = layout.relationships[index]
            return placement.shape == .join && placement.owner == index ? join(index) : nil
        }
    }

    /// The join table that a relationship makes.
    func join(_ making: Int) -> Join {
        let (placement, join) = (layout.relationships[making], layout.join(of: making))
        let named = join.source + join.destination
        let positions = [join.position, join.inversePosition].compactMap(\.self)
        let names = PGNames.columns(named.map(\.name) + positions)
        let columns = zip(named, names).map { column, name in
            PGColumn(name: name, type: PGType(column.attribute), attribute: column.attribute)
        }
        let rest = names.dropFirst(named.count).map(PGNames.quoted)
        return Join(
            making: making,
            inverse: placement.inverse == making ? nil : placement.inverse,
            table: PGTables.quoted(join.table),
            source: placement.entity,
            destination: placement.destination,
            sourceColumns: Array(columns.prefix(join.source.count)),
            destinationColumns: Array(columns.dropFirst(join.source.count)),
            position: join.position == nil ? nil : rest.first,
            inversePosition: join.inversePosition == nil ? nil : rest.last,
            isSymmetric: placement.inverse == making
        )
    }

    /// The relationships that lists state whose elements have no identifier: a list replaces them whole.
    var elements: [Reference] { references.filter { isKeyless($0.holder) && $0.list != nil } }

    /// Lists of objects that are identified within the one that has them: what lacks the rest of its identifier is told by its
    /// place, as elements are.
    var unnamed: [Reference] { references.filter { $0.isParent && $0.list != nil && $0.position != nil } }

    /// Those whose links are in columns of rows that have an identifier and are listed, too.
    var listed: [Reference] { references.filter { !isKeyless($0.holder) && $0.list != nil } }

    /// The tables of entities without identifier, those first in whose rows others are nested.
    var keyless: [Int] {
        var (ordered, rest) = ([Int](), homes.filter(isKeyless))
        let ends = elements.map { (holder: home(of: $0.holder), target: home(of: $0.target)) }
        while let next = rest.first(where: { entity in
            !ends.contains { $0.holder == entity && rest.contains($0.target) }
        }) {
            ordered.append(next)
            rest.removeAll { $0 == next }
        }
        // Those that may be nested in their own kind are settled otherwise.
        return ordered + rest
    }

    /// True if rows of an entity's table, which have no identifier, may be nested in their own kind.
    func isInCircle(_ entity: Int) -> Bool {
        let ends = elements.map { (holder: home(of: $0.holder), target: home(of: $0.target)) }
        var (reached, open) = (Set<Int>(), [home(of: entity)])
        while let next = open.popLast() {
            for end in ends where end.target == next && reached.insert(end.holder).inserted { open.append(end.holder) }
        }
        return reached.contains(home(of: entity))
    }

    /// True if what lists of a relationship leave out is deleted, unless something links it again.
    func deletesOrphans(_ relationship: Int) -> Bool {
        let placement = layout.relationships[relationship]
        let isOwned = layout.hierarchy.isOwned(placement.destination)
        return (placement.description.orphans ?? (isOwned ? .delete : .keep)) == .delete
    }

    /// True if lists of a relationship only add to what is there.
    func isUnion(_ relationship: Int) -> Bool { layout.relationships[relationship].description.list == .union }

    /// `order.lines`.
    func name(of relationship: Int) -> String { layout.name(of: relationship) }
}
