/// What the tables are called in which a job's rows are staged.
enum StagingName {
    /// What the names of all begin with.
    static func prefix(of job: Int64) -> String { "_import_stage_\(job)_" }

    /// The table of an entity's rows.
    static func rows(of job: Int64, _ entity: Int) -> String { "\(prefix(of: job))\(entity)" }

    /// The table of rows of identified objects that have said nothing new.
    static func unchanged(of job: Int64) -> String { "\(prefix(of: job))u" }
}
