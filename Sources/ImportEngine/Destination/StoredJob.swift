import Foundation
import ImportModel
import ImportSources

/// A job as the store keeps it.
package struct StoredJob: Sendable {
    /// What a job retries.
    package enum Retry: String, Sendable, Hashable, Codable {
        /// A repair file, under the model of the rejects' job.
        case file
        /// A repair file under a model that was given.
        case fileUnderModel
        /// The stored rejects under a model that was given.
        case stored
    }

    /// What a job does to objects that are there, where its source is a change set or what another job has kept.
    package struct Change: Sendable, Hashable, Codable {
        package enum Kind: String, Sendable, Hashable, Codable {
            case patch, undo
        }

        package let kind: Kind
        package var options: PatchOptions
        /// Just past the last change in the source.
        package var endOffset: Int64 = 0
        /// The job that is undone; nil for a patch.
        package var undoes: Int64?
        /// True if a program's delegate has a say, which is not kept.
        package var hasDelegate: Bool?

        package init(
            kind: Kind,
            options: PatchOptions,
            endOffset: Int64 = 0,
            undoes: Int64? = nil,
            hasDelegate: Bool? = nil
        ) {
            self.kind = kind
            self.options = options
            self.endOffset = endOffset
            self.undoes = undoes
            self.hasDelegate = hasDelegate
        }
    }

    /// One of its sources.
    package struct Source: Sendable, Codable {
        package var description: SourceDescription
        package let shape: SourceShape
        /// Per record path the name of its entity.
        package var entities: [String]
        /// In a retry, the names of the columns that rows had.
        private var retriedColumns: [[String]]?

        /// Per record path the names of the columns of rows that had a header row; nil where none had.
        package var columns: [[String]]? { retriedColumns ?? shape.headers }

        package init(
            description: SourceDescription,
            shape: SourceShape,
            entities: [String],
            columns: [[String]]? = nil
        ) {
            self.description = description
            self.shape = shape
            self.entities = entities
            retriedColumns = columns
        }
    }

    package var id: Int64 = 0
    /// Tells this job's chunk directory from any other.
    package var token = UUID().uuidString.lowercased()
    package var state = ImportReport.State.running
    package var message: String?
    /// True if it was undone before it was finished, so that its sources were not read to their ends.
    package var isEnded = false
    /// What its result depends on.
    package var options: JobOptions
    /// True if the chunks were cut before, by `split`, and are not this job's to remove.
    package var takesChunks = false
    /// What it retries; nil where it is an import of its own.
    package var retry: Retry?
    /// How it changes what is there; nil where it imports records.
    package var change: Change?
    /// True if an import keeps what is needed to undo it.
    package var keepsUndo = false
    package var sources: [Source]
    /// What was given for its sources, with absolute paths, where folders or patterns are among it; else nil.
    package var given: [String]?
    /// What is known now of its sources in earlier jobs, to be kept when it begins or is resumed.
    package var updates: [SourceUpdate] = []
    /// What was wrong with sources that are in already as far as they go; not kept.
    package var badBefore: [String] = []
    /// True if an earlier job was given the same names of attributes; not kept.
    package var areNamesKnown = false
    /// The indexes that no earlier job was to build, nil where that was not asked; not kept.
    package var newIndexes: StoreIndexes?
    /// The model that it imports with; nil until it is inferred.
    package var model: ModelDescription?
    /// True if an inferred model was inferred from all records, and not only from those before a fault.
    package var isModelFinal = true
    package var chunkDirectory: String

    /// The tables of its entities; none before it has a model.
    package var tables: [String] { model?.tables ?? [] }

    package init(
        options: JobOptions,
        takesChunks: Bool = false,
        retry: Retry? = nil,
        change: Change? = nil,
        sources: [Source],
        model: ModelDescription?,
        chunkDirectory: String
    ) {
        self.options = options
        self.takesChunks = takesChunks
        self.retry = retry
        self.change = change
        self.sources = sources
        self.model = model
        self.chunkDirectory = chunkDirectory
    }

    /// True if records may turn out to be rejects when all have been read: nothing depends on knowing it at once.
    package var mayRejectLate: Bool {
        if case .count? = options.maxErrors { return false }
        return options.onError != .stop && retry == nil
    }

    /// True if what a job has done is taken back: by an undo that is not undone itself.
    package static func isUndone(_ job: Int64, _ jobs: [StoredJob]) -> Bool {
        undo(of: job, jobs) != nil
    }

    /// The undo that takes back what a job has done; nil where none does.
    package static func undo(of job: Int64, _ jobs: [StoredJob]) -> StoredJob? {
        jobs.first { $0.change?.undoes == job && $0.id > job && !isUndone($0.id, jobs) }
    }

    /// True if rows of earlier versions of its sources are to go.
    package var replacesSources: Bool { sources.contains { $0.description.replaces != nil } }

    /// True if records can be read again when all have been read.
    package var isReadableAgain: Bool { !takesChunks && sources.allSatisfy(\.description.isRepeatable) }

    /// What is said where its rows are to be removed, and a later job has come into one of its tables.
    package func overtaken(in table: String) -> ImportError {
        ImportError(
            .jobSuperseded,
            "another import into \(table) has run since, so the rows of this one cannot be removed",
            advice: isModelFinal
                ? "Finish it with \(call: .resuming())." : "Import the source into another table or store."
        )
    }
}

extension ModelDescription {
    /// The tables of its entities: that of an ancestor, where their rows are in it.
    ///
    /// Join tables are not among them.
    package var tables: [String] {
        guard !isFlat, let layout = try? ModelLayout(importing: self) else { return entities.map(\.table) }
        var tables: [String] = []
        for entity in entities.indices where layout.hasTable(entity) && !tables.contains(layout.table(of: entity)) {
            tables.append(layout.table(of: entity))
        }
        return tables
    }
}
