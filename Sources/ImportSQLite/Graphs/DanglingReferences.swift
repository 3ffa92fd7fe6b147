import GRDB
import GRDBSQLite
import ImportModel

/// The references that make rejects of their records, as they lead to nothing when the job ends.
///
/// While records are written, those are kept that lead to nothing then, each with the last record that has stated it. What is
/// still open when all records are there is known by that to be of a record, and noted; the job is done again without it.
package struct DanglingReferences {
    package let job: Int64

    /// Keeps a reference that a record has stated.
    ///
    /// - Parameter table: that of the row whose columns have it, `holder` being the row id; empty where a link has it, from an object
    ///   whose key `holder` is.
    package func note(
        _ relationship: String,
        table: String,
        holder: RowKey,
        target: [UInt8],
        ordinal: Int64,
        _ statements: LinkStatementCache
    ) throws {
        try statements.run(
            """
            INSERT INTO _import_reference (job, relationship, table_name, holder, target, ordinal)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ordinal = excluded.ordinal
            """,
            [
                .number(job), .text(relationship), .text(table), .bytes(holder.bytes), .bytes(target),
                .number(ordinal),
            ]
        )
    }

    /// What makes rejects of the records from one ordinal to another: relationships and what they lead to, by ordinal.
    package func targets(_ ordinals: ClosedRange<Int64>, _ statements: LinkStatementCache) throws -> [Int64:
        DanglingTargets]
    {
        var found: [Int64: DanglingTargets] = [:]
        try statements.run(
            "SELECT ordinal, relationship, target FROM _import_unmet WHERE job = ? AND ordinal BETWEEN ? AND ?",
            [.number(job), .number(ordinals.lowerBound), .number(ordinals.upperBound)]
        ) {
            let relationship = String(cString: sqlite3_column_text($0, 1))
            found[sqlite3_column_int64($0, 0), default: DanglingTargets()].add($0.bytes(of: 2), of: relationship)
        }
        return found
    }

    /// Notes the records whose references lead to nothing, when all records are there.
    ///
    /// - Returns: whether there are any.
    package func find(_ layout: ModelLayout, _ statements: LinkStatementCache, check: () throws -> Void) throws -> Bool
    {
        var found = 0
        for index in layout.relationships.indices
        where layout.relationships[index].description.unresolved == .reject {
            try check()
            let placement = layout.relationships[index]
            if placement.hasReferences(index) {
                for (_, form) in LinkStatements.all(index, layout) {
                    let holder = form.isJoin ? form.own : ["rowid"]
                    let (width, all) = (Int32(holder.count), holder + [form.danglingKey])
                    let dangling = form.dangling(in: layout, destination: placement.destination)
                    try statements.run("SELECT \(all.joined(separator: ", ")) FROM \(dangling)") {
                        let target = RowKey($0, columns: width..<width + Int32(form.destinationKey.count))
                        let holder = RowKey($0, columns: 0..<width)
                        found += try add(form, form.isJoin ? "" : form.table, holder.bytes, target.bytes, statements)
                    }
                }
            }
            let form = LinkStatements(index, layout)
            try statements.run("SELECT source, target FROM _import_link WHERE relationship = ?", [.text(form.name)]) {
                found += try add(form, "", $0.bytes(of: 0), $0.bytes(of: 1), statements)
            }
        }
        return found > 0
    }

    private func add(
        _ form: LinkStatements,
        _ table: String,
        _ holder: [UInt8],
        _ target: [UInt8],
        _ statements: LinkStatementCache
    ) throws -> Int {
        try statements.run(
            """
            INSERT OR IGNORE INTO _import_unmet (job, ordinal, relationship, target)
            SELECT job, ordinal, relationship, target FROM _import_reference
            WHERE job = ? AND relationship = ? AND table_name = ? AND holder = ? AND target = ?
            """,
            [.number(job), .text(form.name), .text(table), .bytes(holder), .bytes(target)]
        )
    }
}

/// What the references of one record lead to that is not there, by their relationships.
package struct DanglingTargets {
    private var targets: [String: Set<[UInt8]>] = [:]

    package mutating func add(_ target: [UInt8], of relationship: String) {
        targets[relationship, default: []].insert(target)
    }

    package func contains(_ target: [UInt8], of relationship: String) -> Bool {
        targets[relationship]?.contains(target) ?? false
    }
}
