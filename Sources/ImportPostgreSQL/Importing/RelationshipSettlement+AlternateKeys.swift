import ImportModel
import Importer

/// Objects that records name by other attributes than the identifier.
extension RelationshipSettlement {
    /// Finds which are meant, and links them; what stored links decide is left for later.
    func findNamed(_ statements: RelationshipStatements, _ connection: PGConnection) throws
        -> [AlternateKeyStatements]
    {
        try statements.tables.names.map { AlternateKeyStatements(statements: statements, naming: $0) }.filter { names in
            guard try connection.execute(names.isNeeded).first?.bool(0) == true else { return false }
            for statement in names.finding + names.linking + names.copying { _ = try connection.execute(statement) }
            let copies = names.countOfCopies.map { [(LedgerKind.duplicateLink, $0)] } ?? []
            for (kind, sql) in [(.ambiguous, names.ambiguous)] + copies {
                try note(kind, connection.execute(sql).first?.integer(0) ?? 0, names.number, connection)
            }
            for statement in names.waiting { _ = try connection.execute(statement) }
            try task.interruption.check()
            return true
        }
    }
}
