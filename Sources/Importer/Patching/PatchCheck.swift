import Foundation
import GRDB
import ImportModel

/// The first of a patch's passes: reads the whole change set and compares it with the store, and writes nothing.
struct PatchCheck {
    /// What was found.
    struct Findings {
        var header: ChangeSetHeader
        /// Just past the last change.
        var endOffset: Int64 = 0
        var report: ImportReport
        /// Conflicts under a policy that stops.
        var stops: Int64 = 0
    }

    let store: String
    let options: PatchOptions
    let interruption: Interruption

    /// - Parameters:
    ///   - path: the change set's.
    ///   - compares: whether the store's values are compared, and not only the change set read.
    /// - Throws: `ImportError` with `.badInput` when the change set is none, is not whole, or is about what the store lacks.
    func run(_ path: String, compares: Bool) throws -> Findings {
        let reader = try ChangeSetReader(URL(filePath: path))
        reader.isPartial = options.isPartial
        if !options.isUnchecked,
            reader.header.options.contains(where: { $0.name == "old" && $0.value == .string("none") })
        {
            throw ImportError(
                .changeSetInvalid,
                at: path,
                "it was made without old values, so the store cannot be compared with it",
                advice: "Make it with old values, or say that the store is not to be compared (\(.isUnchecked))."
            )
        }
        let compared = try ComparedStore(store, identifiers: options.identifiers)
        return try compared.read { database in
            let schema = try PatchSchema(reader.header, compared.schema, database)
            reader.read(as: schema.described)
            let comparison = ChangeComparison(schema, try PatchStatements(database), options)
            var tally = ChangeTally()
            var findings = Findings(header: reader.header, report: tally.report(path))
            while let change = try reader.next() {
                try interruption.check()
                guard compares else {
                    try schema.check(change)
                    continue
                }
                let plan = try comparison.plan(change)
                findings.stops += Int64(plan.policies.filter { $0 == .stop }.count)
                tally.add(change, plan)
            }
            findings.endOffset = reader.endOffset
            findings.report = tally.report(path)
            return findings
        }
    }
}

extension PatchSchema {
    /// Makes sure that the store has the entities of a change.
    func check(_ change: ObjectChange) throws {
        _ = try index(change.entity)
        for part in change.relationships {
            guard case .objects(let changes) = part.content else { continue }
            for inner in changes { try check(inner) }
        }
    }
}
