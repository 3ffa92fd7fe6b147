extension MessageText {
    /// A setting that a text may name: a property of `JobOptions` or `RunOptions`, or an argument of a call.
    public enum Setting: String, Sendable, Hashable, CaseIterable {
        // What a result depends on.
        case sources
        case model
        case entity
        case records
        case identifier = "identifiers"
        case types
        case storages
        case client
        case nested
        case nestedDepth
        case nestedOnly
        case onConflict
        case onError
        case nul
        case maxErrors
        case isLossless
        case skip
        case limit
        case maxRecordBytes
        case maxDepth
        case mirror
        case mirrorScope
        case allowsEmpty
        case despiteRejects
        case maxDelete
        // What may differ from run to run.
        case workers
        case chunkDirectory
        case again
        case restart
        case indexes
        /// The directory that a split writes its chunks to.
        case splitDirectory
        /// Whether a file that is there is written over.
        case overwrites
        /// Whether a migration may lose values.
        case allowsLoss
        /// Whether an import brings the store to its model first.
        case migrates
        /// What a patch does where the store is not what it leads from.
        case conflicts
        /// Whether changes without old values are applied.
        case isUnchecked
        /// Whether what undo needs is kept.
        case keepsUndo
    }

    /// Something that a text may advise to call.
    public enum Call: Sendable, Hashable {
        /// A new import.
        case importing
        /// The resume of a store's interrupted import, with a limit of rejects where one is to be given.
        case resuming(store: String? = nil, maxErrors: String? = nil)
        /// A store's jobs and what is wrong with their records.
        case status
        /// A list of rejects.
        case rejects
        /// A repair file of rejects; of one job or entity where that is to be given.
        case exportingRejects(of: RejectedPart = .all)
        /// A split.
        case splitting
        /// A model of some sources; all sources of the import where none is named.
        case inferring(from: [String] = [])
        /// A check of a model file.
        case checkingModel
        /// A migration of a store to a model.
        case migrating(store: String)
        /// The deletions that a mirror has withheld.
        case mirroring(store: String, job: Int64)
        /// Taking back what a job has done.
        case undoing(store: String, job: Int64? = nil)
        /// Taking part in an import that another process has begun.
        case working
    }

    /// Which rejects a repair file is advised to have.
    public enum RejectedPart: Sendable, Hashable {
        case all
        case job
        case entity
    }
}

extension MessageText.Term {
    /// What a program calls it.
    public var name: String {
        switch self {
        case .setting(let setting), .choice(of: let setting): "`\(setting.rawValue)`"
        case .value(let value, of: let setting): "`\(setting.rawValue): \(value)`"
        case .call(let call): "`\(call.name)`"
        }
    }
}

extension MessageText.Call {
    fileprivate var name: String {
        switch self {
        case .importing: "ImportPipeline(sources:into:job:run:)"
        case .resuming(_, maxErrors: nil): "ImportPipeline(resuming:run:)"
        case .resuming: "ImportPipeline(resuming:run:maxErrors:)"
        case .status: "StoreInspection.status()"
        case .rejects: "StoreInspection.forEachReject"
        case .exportingRejects: "StoreInspection.exportRejects(as:toFile:)"
        case .splitting: "ImportPipeline.split"
        case .inferring: "ImportPipeline.infer"
        case .checkingModel: "ModelDescription.check(transformers:)"
        case .migrating: "ModelMigration.run"
        case .mirroring: "ImportPipeline(mirroring:in:options:run:)"
        case .undoing: "UndoPipeline.run"
        case .working: "PostgreSQLWorker.run"
        }
    }
}
