import ImportModel
import Importer

/// Finds where records state references that lead to nothing: it decodes them once more, some together.
///
/// Belongs to one transaction, in which the table of such references is.
final class DanglingReferenceErrors {
    /// A reference that a record states.
    private struct Reference: Hashable {
        let ordinal: Int64
        let relationship: Int
        let key: EncodedKey
    }

    private let tables: RelationshipTables
    private let secondPass: SecondPassDecoder
    private let connection: PGConnection
    private let relationships: Set<Int>
    /// By relationship, rows of the references that the server is asked for.
    private var asked: [Int: ChunkRows] = [:]
    /// In the order in which they are numbered.
    private var waiting: [Reference] = []
    private var seen: Set<Reference> = []
    private var dangling: Set<Reference> = []

    /// Makes the tables that it needs.
    init(
        _ statements: RelationshipStatements,
        _ options: JobOptions,
        subentities: any SubentityLookup,
        _ connection: PGConnection
    ) throws {
        tables = statements.tables
        secondPass = SecondPassDecoder(plan: tables.graph, options: options, subentities: subentities)
        self.connection = connection
        relationships = Set(tables.layout.relationships.indices.filter(statements.rejectsDangling))
        for relationship in relationships {
            let key = tables.key(of: tables.layout.relationships[relationship].destination)
            let numbers = ["_ordinal", "_child"]
            let columns =
                numbers.map { "\($0) bigint" } + key.enumerated().map { "c\($0) \($1.type.declaration)" }
            let name = Self.table(relationship)
            _ = try connection.execute(
                """
                CREATE TEMPORARY TABLE IF NOT EXISTS \(name) (\(columns.joined(separator: ", "))) ON COMMIT DROP; TRUNCATE \(name)
                """
            )
            asked[relationship] = try RelationshipStagingTables.Table(name: name, numbers: numbers, columns: key).rows(
                options
            )
        }
    }

    private static func table(_ relationship: Int) -> String { "_import_stated_\(relationship)" }

    /// Looks up which references of some records of a batch lead to nothing.
    func find(_ records: [Int], _ batch: borrowing RowBatch, _ late: LateRejects, source: Int) throws {
        dangling.removeAll(keepingCapacity: true)
        guard !records.isEmpty else { return }
        for index in records {
            _ = try decode(index, batch, late, source: source) { reference, cells, values in
                self.ask(reference, cells, values)
                return false
            }
        }
        for relationship in asked.keys.sorted() {
            guard let rows = asked[relationship], rows.count > 0 else { continue }
            _ = try connection.copy(rows.statement) { try rows.write(to: &$0) }
            asked[relationship]?.begin()
            let name = Self.table(relationship)
            let key = tables.key(of: tables.layout.relationships[relationship].destination).indices.map { "a.c\($0)" }
            let found = try connection.execute(
                """
                SELECT a._child FROM \(name) AS a JOIN \(RelationshipStatements.danglingTable) AS u
                ON u.ordinal = a._ordinal AND u.relationship = \(relationship)
                    AND u.target = json_build_array(\(key.joined(separator: ", ")))::text
                """
            )
            for row in found { dangling.insert(waiting[Int(try row.integer(0))]) }
            _ = try connection.execute("TRUNCATE \(name)")
        }
        waiting.removeAll(keepingCapacity: true)
        seen.removeAll(keepingCapacity: true)
    }

    private func ask(_ reference: Reference, _ cells: [Cell], _ values: RowValues) {
        guard seen.insert(reference).inserted else { return }
        let numbers = ChunkRows.numbers(reference.ordinal, Int64(waiting.count))
        // What the server cannot have is named by none.
        guard asked[reference.relationship]?.append(numbers, cells, CellSource(values)) == nil else { return }
        waiting.append(reference)
    }

    /// What is wrong with a record whose references were looked up.
    func errors(
        of index: Int,
        _ batch: borrowing RowBatch,
        _ late: LateRejects,
        source: Int
    ) throws -> [ImportModel.RecordError] {
        let own = try decode(index, batch, late, source: source) { [dangling] reference, _, _ in
            dangling.contains(reference)
        }
        if let reject = own.rejects.first { return reject.errors }
        let row = batch.rows[batch.graph.records[index].row]
        let entity = tables.layout.entities[Int(row.entity)].name
        return [.unresolved(in: entity, byteOffset: batch.places[index].byteOffset)]
    }

    private func decode(
        _ index: Int,
        _ batch: borrowing RowBatch,
        _ late: LateRejects,
        source: Int,
        _ isDangling: @escaping (Reference, [Cell], RowValues) -> Bool
    ) throws -> RowBatch {
        let ordinal = batch.rows[batch.graph.records[index].row].ordinal
        secondPass.isDangling = { [relationships] relationship, cells, isNamed, values in
            guard !isNamed, relationships.contains(relationship), !cells.contains(where: { $0.tag == .null }) else {
                return false
            }
            let key = EncodedKey(cells, values)
            return isDangling(Reference(ordinal: ordinal, relationship: relationship, key: key), cells, values)
        }
        defer { secondPass.isDangling = nil }
        return try secondPass.decode(index, batch, late, source: source)
    }
}

/// Knows of no stored object: where each record says of which entity its objects are, nobody needs to.
final class EmptySubentityLookup: SubentityLookup {
    func storedEntity(of entity: Int, _ key: [Cell], _ values: RowValues) -> Int? { nil }
}
