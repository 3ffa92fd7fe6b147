import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The first of a patch's passes: reads the whole change set and compares it with the store, and writes nothing.
package struct PatchDryRun {
    /// What was found.
    package struct Findings {
        package var header: ChangeSetHeader
        /// Just past the last change.
        var endOffset: Int64 = 0
        package var report: ImportReport
        /// Conflicts under a policy that stops.
        var stops: Int64 = 0
        /// What is wrong where a change set breaks off of which what is whole is applied.
        var breakOff: ImportError?
    }

    package let store: String
    package let options: PatchOptions
    package let interruption: Interruption
    var delegate: (any PatchDelegate)?

    /// - Parameters:
    ///   - path: the change set's.
    ///   - name: what messages call it.
    ///   - compares: whether the store's values are compared, and not only the change set read.
    /// - Throws: `ImportError` with `.badInput` when the change set is none, is not whole, or is about what the store lacks.
    package func run(_ path: String, named name: String, compares: Bool) throws -> Findings {
        let reader = try ChangeSetReader(path: path, named: name)
        reader.isPartial = options.isPartial
        if !options.isUnchecked,
            reader.header.options.contains(where: { $0.name == "old" && $0.value == .string("none") })
        {
            throw ImportError(
                .changeSetInvalid,
                at: name,
                "it was made without old values, so the store cannot be compared with it",
                advice: "Make it with old values, or apply it without comparing (\(.isUnchecked))."
            )
        }
        let compared = try ComparedStore(store, identifiers: options.identifiers)
        return try compared.read { database in
            let schema = try PatchSchema(reader.header, compared.schema, database)
            reader.read(by: ChangeLineReader(schema.described, delegate?.reading))
            let comparison = ChangeComparison(schema, try PatchStatements(database), options, delegate)
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
            (findings.endOffset, findings.breakOff) = (reader.endOffset, reader.breakOff)
            findings.report = tally.report(path)
            return findings
        }
    }
}

extension PatchSchema {
    /// Makes sure that the store has the entities of a change.
    package func check(_ change: ObjectChange) throws {
        _ = try index(change.entity)
        for part in change.relationships {
            guard case .objects(let changes) = part.content else { continue }
            for inner in changes { try check(inner) }
        }
    }
}
