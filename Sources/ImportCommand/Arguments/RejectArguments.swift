import ArgumentParser
import Importer

/// Which rejects are meant.
struct RejectArguments: ParsableArguments {
    @Option(help: ArgumentHelp("Only the rejects of this job.", valueName: "n"))
    var job: Int64?

    @Option(help: ArgumentHelp("Only the rejects of this entity.", valueName: "name"))
    var entity: String?

    var selection: RejectSelection { RejectSelection(job: job, entity: entity) }

    /// Which rejects they are, in words that follow the noun; empty for all.
    var words: String { (job.map { " of job \($0)" } ?? "") + (entity.map { " of entity \($0)" } ?? "") }

    /// The options that were given.
    var given: [String] { (job == nil ? [] : ["--job"]) + (entity == nil ? [] : ["--entity"]) }
}
