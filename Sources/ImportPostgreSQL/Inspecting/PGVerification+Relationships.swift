import ImportModel
import Importer

/// What must hold of nested objects and of references, as in a SQLite store.
extension PGVerification {
    func relationshipChecks(_ report: ImportReport, _ connection: PGConnection) throws -> [StoreInspection.Check] {
        guard job.model?.isFlat == false else { return [] }
        var checks = [StoreInspection.nestedCheck("job \(job.id)", report)]
        guard job.state == .finished, let tables = try PGModel(stored: job, label: store.label)?.related,
            try StoredJob.last(connection, label: store.label)?.id == job.id
        else { return checks }
        func check(_ rule: String, _ holds: Bool, _ detail: String) {
            checks.append(StoreInspection.Check(rule, of: "job \(job.id)", holds: holds, detail: detail))
        }
        func count(_ sql: [String]) throws -> Int64 {
            try sql.reduce(0) { try $0 + (connection.execute($1).first?.integer(0) ?? 0) }
        }
        let statements = RelationshipStatements(
            staged: RelationshipStagingTables(job: job.id, tables: tables),
            filled: [],
            filledJoins: []
        )
        let open = try count(statements.dangling.map(\.count) + ["SELECT count(*) FROM _import_link"])
        let counted = report.unresolved?.values.reduce(0, +) ?? 0
        check(
            "every reference leads to a row or is counted as unresolved",
            open == counted,
            "\(open) and \(counted)"
        )
        let owned = tables.elements.filter { tables.layout.relationships[$0.owner].shape == .ownedDestination }
        let alone = try count(owned.map(statements.countOfLost))
        check("no element of a list is without its object", alone == 0, "\(alone)")
        let shared = try count(tables.references.filter(\.isOneToOne).map(statements.countOfShared))
        check("no two objects share the partner of a one-to-one", shared == 0, "\(shared)")
        return checks
    }
}
