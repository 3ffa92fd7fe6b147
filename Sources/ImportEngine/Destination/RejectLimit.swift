import ImportModel
import ImportSources

/// How many rejects a job may have before it stops, in source order.
package struct RejectLimit: Sendable {
    private enum Rule {
        case none
        /// So many may be committed.
        case count(Int64, by: Bound)
        /// The first records may not all be rejects.
        case notAllOfFirst(Int64)
    }

    /// What forbids a reject.
    fileprivate enum Bound {
        /// None may be: the first one stops the import.
        case onError
        /// So many may be, from 0.
        case maxErrors(Int64)
    }

    /// A job all of whose first records are rejected has most likely been given the wrong model.
    package static let firstRecords: Int64 = 1_000

    private let rule: Rule

    package init(_ job: StoredJob) {
        switch (job.options.onError, job.options.maxErrors) {
        case (.stop, _): rule = .count(0, by: .onError)
        case (_, .count(let count)?): rule = .count(count, by: .maxErrors(count))
        case (_, .percent?), (_, .unlimited?): rule = .none
        // Records that were rejected once are likely to be again, one by one.
        case (_, nil): rule = job.retry == nil ? .notAllOfFirst(Self.firstRecords) : .none
        }
    }

    /// - Parameters:
    ///   - rejects: of the batch that is to be committed, in source order.
    ///   - before: how many rejects are committed.
    /// - Throws: `Excess` with the first reject that is too many.
    package func check(_ rejects: [RowBatch.Reject], after before: Int64) throws {
        switch rule {
        case .none:
            return
        case .count(let limit, let bound):
            let allowed = max(limit - before, 0)
            guard rejects.count > allowed else { return }
            throw Excess(reject: rejects[Int(allowed)], bound: bound, committed: before + allowed)
        case .notAllOfFirst(let count):
            let index = count - 1 - before
            guard index >= 0, index < rejects.count, rejects[Int(index)].ordinal == count else { return }
            throw Excess(reject: rejects[Int(index)], bound: nil, committed: before + index)
        }
    }

    /// A batch had one reject too many, and was not committed.
    package struct Excess: Error {
        /// The first that is too many.
        package let reject: RowBatch.Reject
        /// What forbids it; nil where nobody asked.
        fileprivate let bound: Bound?
        /// How many rejects there are before it.
        fileprivate let committed: Int64

        /// What it means to a person.
        package func error(in source: String) -> ImportError {
            let position = ImportError.Position(
                byteOffset: reject.byteOffset,
                record: reject.ordinal,
                keyPath: reject.errors.first?.keyPath
            )
            let more = reject.errors.count > 1 ? " (and \(reject.errors.count - 1) more)" : ""
            let what = reject.errors.first.map { "\(Self.text($0))\(more)" } ?? "no error is known"
            guard let bound else {
                return ImportError(
                    .allRejected,
                    at: source,
                    position: position,
                    "the first \(reject.ordinal.grouped) records were all rejected; the error of the last one: \(what)",
                    advice: """
                        The \(committed.grouped) before it are kept: \(call: .rejects) lists their errors.
                        Restart with \(.restart) and a model that matches, or import what is not rejected:
                        \(call: .resuming(maxErrors: "none")).
                        """
                )
            }
            return ImportError(
                .tooManyRejects,
                at: source,
                position: position,
                "the import stops before record \(reject.ordinal.grouped) (byte \(reject.byteOffset.grouped))"
                    + "\(Self.rule(bound)): \(what)",
                advice: """
                    Everything before it is imported. Correct the source from there on, then \(.sameAgain).
                    \(Self.otherwise(bound))
                    """
            )
        }

        /// What else there is to do.
        private static func otherwise(_ bound: Bound) -> MessageText {
            switch bound {
            case .maxErrors: "To allow more: \(call: .resuming(maxErrors: "N")), or none for no limit."
            case .onError: "Or restart with \(.restart) and other options."
            }
        }

        /// Which limit that is; the store keeps this, and so it has nobody's words for it.
        private static func rule(_ bound: Bound) -> String {
            switch bound {
            case .maxErrors(let count): ", as at most \(count.grouped) may be rejected"
            case .onError: ""
            }
        }

        private static func text(_ error: RecordError) -> String {
            let path = error.keyPath.isEmpty ? "$" : error.keyPath
            return "\(path): \(error.words()) (byte \(error.byteOffset.grouped))"
        }
    }

    /// Judges a job that has read everything.
    ///
    /// A number is exceeded here only where rejects turned out to be so at the end, or it was given when there were more.
    ///
    /// - Throws: `ImportError` when more were rejected than `limit` allows.
    package static func judge(rejected: Int64, of read: Int64, by limit: ErrorLimit) throws {
        let isExceeded =
            switch limit {
            case .unlimited: false
            case .count(let count): rejected > count
            // A part in 10^12 makes up for binary fractions: 2.3 % of 1,000 are 23.
            case .percent(let percent): Double(rejected) * 100 > percent * Double(read) * (1 + 1e-12)
            }
        guard isExceeded else { return }
        throw ImportError(
            .tooManyRejects,
            "\(rejected.grouped) of \(read.grouped) records were rejected, and at most \(limit) may be",
            advice: """
                Everything else is imported. \(call: .status) sums up their errors, and \(call: .rejects) lists them.
                To accept the result: \(call: .resuming(maxErrors: "none")).
                """
        )
    }
}
