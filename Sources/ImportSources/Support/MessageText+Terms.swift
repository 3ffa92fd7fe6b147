extension MessageText {
    /// A setting that a text may name: a property of `JobOptions` or `RunOptions`, or an argument of a call.
    public enum Setting: String, Sendable, Hashable, CaseIterable {
        // What a result depends on.
        case sources
        case include
        case exclude
        case encoding
        case fileColumn
        case onBadSource
        case reading
        case headerRow
        case shape
        case prefix
        case parse
        case entityBy
        case nullTexts
        case detectsTypes
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
        case altersTables
        case trustsTriggers
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
        case replacesSources
        case restart
        case follows
        case indexes
        /// The directory that a split writes its chunks to.
        case splitDirectory
        /// True if an existing file is overwritten.
        case overwrites
        /// True if a migration may lose values.
        case allowsLoss
        /// True if an import migrates the store to its model first.
        case migrates
        /// How a patch handles conflicts.
        case conflicts
        /// True if changes without old values are applied.
        case isUnchecked
        /// True if the job can be undone.
        case keepsUndo
    }

    /// A call that a text may advise.
    public enum Call: Sendable, Hashable {
        /// A new import.
        case importing
        /// The resume of a store's interrupted import, optionally with a limit of rejects.
        case resuming(store: String? = nil, maxErrors: String? = nil)
        /// A store's jobs and the errors of their records.
        case status
        /// A list of the sources of a store.
        case sources
        /// A list of rejects.
        case rejects
        /// A repair file of rejects, optionally of one job or entity.
        case exportingRejects(of: RejectedPart = .all)
        /// A split.
        case splitting
        /// A model of some sources, or of all sources of the import if none is named.
        case inferring(from: [String] = [])
        /// A check of a model file.
        case checkingModel
        /// A migration of a store to a model.
        case migrating(store: String)
        /// The deletions that a mirror has withheld.
        case mirroring(store: String, job: Int64)
        /// Undoing a job.
        case undoing(store: String, job: Int64? = nil)
        /// Joining an import that another process has started.
        case working
    }

    /// The rejects that a repair file should have.
    public enum RejectedPart: Sendable, Hashable {
        case all
        case job
        case entity
    }
}

extension MessageText.Term {
    /// The name in Swift.
    public var name: String {
        switch self {
        case .setting(let setting), .choice(of: let setting): "`\(setting.rawValue)`"
        case .value(let value, of: let setting): "`\(setting.rawValue): \(value)`"
        case .call(let call): "`\(call.name)`"
        case .sameAgain: "make the same call again"
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
        case .sources: "StoreInspection.forEachSource(of:includingOutside:_:)"
        case .rejects: "StoreInspection.forEachReject(_:_:)"
        case .exportingRejects: "StoreInspection.exportRejects(as:toFile:)"
        case .splitting: "ImportPipeline.split(sources:to:)"
        case .inferring: "ImportPipeline.infer(sources:)"
        case .checkingModel: "ModelDescription.check(transformers:)"
        case .migrating: "ModelMigration.run()"
        case .mirroring: "ImportPipeline(mirroring:in:options:run:)"
        case .undoing: "UndoPipeline.run()"
        case .working: "PostgreSQLWorker.run()"
        }
    }
}
