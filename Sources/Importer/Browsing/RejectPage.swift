import ImportSQLite

/// Some rejects of a group, and where the next ones are.
package struct RejectPage: Sendable {
    /// In source order, job by job.
    package let rejects: [StoreInspection.Reject]
    /// Where the next page begins; nil where there is none.
    package let next: String?
}
