import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// What must hold of nested objects and of references.
extension StoreInspection {
    package func relationshipChecks(of job: StoredJob, _ report: ImportReport, _ database: Database) throws -> [Check] {
        guard let model = job.model, !model.isFlat else { return [] }
        let layout = try ModelLayout(importing: model)
        let subject = "job \(job.id)"
        var checks = [Self.nestedCheck(subject, report)]
        let later = try StoredJob.after(job.id, database)
        guard job.state == .finished, later.allSatisfy({ $0.model?.isFlat == true }),
            try !MigrationHistory.isSuperseded(job.id, database),
            try layout.tables.allSatisfy({ try database.tableExists($0.name) })
        else { return checks }
        let statements = try LinkStatementCache(database)
        checks.append(try elementCheck(subject, layout, job.id, statements))
        guard later.isEmpty else { return checks }
        checks.append(try referenceCheck(subject, layout, report, statements))
        checks.append(try partnerCheck(subject, layout, statements))
        return checks
    }

    /// Whether counts of nested objects add up.
    package static func nestedCheck(_ subject: String, _ report: ImportReport) -> Check {
        let wrong = report.entities.sorted { $0.key < $1.key }.first { _, counts in
            let effects = [
                counts.nestedInserted, counts.nestedUpdated, counts.nestedUnchanged, counts.nestedIgnored,
                counts.linked,
            ]
            return counts.nested != effects.compactMap(\.self).reduce(0) { $0.addingClamped($1) }
        }
        let sums = report.entities.values.reduce(into: (Int64(0), Int64(0))) { sums, counts in
            sums.0 = sums.0.addingClamped(counts.nested ?? 0)
            sums.1 = sums.1.addingClamped(counts.linked ?? 0)
        }
        return Check(
            "nested = inserted + updated + unchanged + ignored + linked, of each entity",
            of: subject,
            holds: wrong == nil,
            detail: wrong.map { "\($0.key) has \($0.value.nested ?? 0)" }
                ?? "\(sums.0) nested, \(sums.1) of them linked"
        )
    }

    private func referenceCheck(
        _ subject: String,
        _ layout: ModelLayout,
        _ report: ImportReport,
        _ statements: LinkStatementCache
    ) throws -> Check {
        var (open, counted): (Int64, Int64) = (0, 0)
        for relationship in layout.relationships.indices {
            let placement = layout.relationships[relationship]
            let form = LinkStatements(relationship, layout)
            counted = counted.addingClamped(report.unresolved?[form.name] ?? 0)
            if placement.shape == .join || placement.owner == relationship && placement.shape != .ownedDestination {
                for (_, form) in LinkStatements.all(relationship, layout) {
                    open += try statements.countOfDangling(form, layout, to: placement.destination)
                }
            }
            open += try statements.countOfWaiting(form)
        }
        return Check(
            "every reference leads to a row or is counted as unresolved",
            of: subject,
            holds: open == counted,
            detail: "\(open) and \(counted)"
        )
    }

    private func elementCheck(
        _ subject: String,
        _ layout: ModelLayout,
        _ job: Int64,
        _ statements: LinkStatementCache
    ) throws -> Check {
        let links = LinkWriter(layout, statements, job: job)
        let lost = try links.lost().map { index, count in
            "\(layout.name(of: index).printable) has \(count), which "
                + (links.isNamedByRowID(index) ? "the next import removes" : "a record of their object removes")
        }
        return Check(
            "no element of a list is without its object",
            of: subject,
            holds: lost.isEmpty,
            detail: lost.isEmpty ? "0" : lost.joined(separator: "; ")
        )
    }

    private func partnerCheck(_ subject: String, _ layout: ModelLayout, _ statements: LinkStatementCache) throws
        -> Check
    {
        var shared: Int64 = 0
        for (relationship, placement) in layout.relationships.enumerated()
        where placement.shape == .oneToOne && placement.owner == relationship {
            shared += try statements.integer(LinkStatements(relationship, layout).countOfShared) ?? 0
        }
        return Check(
            "no two objects share the partner of a one-to-one",
            of: subject,
            holds: shared == 0,
            detail: "\(shared)"
        )
    }
}
