extension ImportError {
    /// Why something failed: one for each cause that a program may treat in its own way.
    ///
    /// More may come; so a `switch` has a `default`, which `code` is good for.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        // MARK: What was asked for

        /// A setting has a value that it cannot have.
        case optionInvalid
        /// Settings that do not go together.
        case optionsConflict
        /// A resume has other settings than the import was started with.
        case optionsDiffer
        /// An attribute that the entity does not have.
        case unknownAttribute
        /// A relationship that the entity does not have.
        case unknownRelationship
        /// An attribute that could be of several entities.
        case attributeAmbiguous
        /// An entity that the model does not have.
        case unknownEntity
        /// Nothing says which entity the records are.
        case entityUnnamed
        /// The table's name is reserved, or is that of an index or a view of the store.
        case nameTaken
        /// The identifier is another one than the entity has.
        case identifierMismatch
        /// Records could be at several record paths.
        case recordsAmbiguous
        /// A source that can be read once only, where it is read more often.
        case sourceReadOnce
        /// The sources are imported already, or look like those that are.
        case alreadyImported
        /// Another import of the store has to be finished first.
        case jobUnfinished
        /// Rejects would go.
        case lossNotAllowed
        /// Another import has run since, so that this one cannot be undone any more.
        case jobSuperseded
        /// The rejects are of jobs whose models or settings differ.
        case jobsDiffer
        /// Rows of an import cannot be told from those that were there before.
        case rowsIndistinct
        /// The pipeline has been run before.
        case pipelineSpent
        /// A file is to be read and written at once.
        case sameFile

        // MARK: What was read

        /// The source is empty, or white space alone.
        case sourceEmpty
        /// The source is not JSON from some byte on.
        case notJSON
        /// The source is not UTF-8.
        case notUTF8
        /// The compressed bytes are damaged.
        case cannotDecompress
        /// The archive has no file.
        case archiveEmpty
        /// The archive has several files, of which one cannot be chosen.
        case archiveAmbiguous
        /// No record is where the records are said to be.
        case recordsNotFound
        /// Records that a program gives end with an error, or cannot be encoded.
        case recordsFailed
        /// The source is not what was imported from it before.
        case sourceChanged
        /// More records are rejected than may be.
        case tooManyRejects
        /// All of the first records are rejected.
        case allRejected
        /// The model says what no model can say.
        case modelInvalid
        /// A name that the store cannot have.
        case nameInvalid
        /// The store cannot be brought to the model without loss, or not now.
        case migrationRefused
        /// The model is not the store's, and the store has to be brought to it first.
        case modelDiffers
        /// The store's table does not take what the model has.
        case tableUnsuitable
        /// Rows that are there have the same identifier.
        case identifierNotUnique
        /// Records without their identifier.
        case identifierMissing
        /// A row that the import has written is another one now.
        case rowChanged
        /// A table of the import's bookkeeping is not the importer's.
        case storeForeign
        /// The chunks' manifest is not as it was written.
        case manifestDamaged
        /// The chunks' manifest is of another version of the importer.
        case manifestOfOtherVersion
        /// Other chunks than those that the import was started with.
        case chunksChanged
        /// The split that made the chunks was not finished.
        case splitUnfinished
        /// Lines of a repair file that cannot be retried.
        case repairFileInvalid
        /// What is to be read as a change set is none, or is not whole.
        case changeSetInvalid
        /// Nothing tells which objects of an entity are the same.
        case identifierUnknown
        /// Two stores have entities of one name that cannot be compared.
        case storesIncomparable
        /// What is to be compared is no SQLite database.
        case notSQLite
        /// The store is not what a change set leads from, or has changed since what is to be undone.
        case changesConflict
        /// What a job has changed was not kept, so that it cannot be undone.
        case notUndoable
        /// Another job has written to the entities of a mirror since it was finished.
        case mirrorSuperseded
        /// A mirror has deleted nothing though something was to be.
        case deletionsWithheld

        // MARK: What is not there

        /// There is no such file.
        case fileNotFound
        /// The file may not be read.
        case notPermitted
        /// A directory where a file is asked for.
        case isDirectory
        /// The descriptor is not open.
        case fileNotOpen
        /// The file cannot be opened for another reason.
        case fileUnreadable
        /// The archive has no such file any more.
        case archiveMemberNotFound
        /// Records that a program has given and has to give again.
        case recordsNotGiven
        /// There are no chunks.
        case chunksNotFound
        /// There is no such store.
        case storeNotFound
        /// The store has no import, or no model.
        case storeEmpty
        /// Another store than the one that was read before.
        case storeReplaced
        /// The store has no such entity.
        case entityNotFound
        /// The store has no such job.
        case jobNotFound

        // MARK: What cannot be made

        /// A file cannot be made.
        case cannotCreate
        /// The path cannot be written to.
        case pathUnusable
        /// A file is there already.
        case fileExists
        /// The directory holds files that the import has not made.
        case chunkDirectoryTaken
        /// The directory is not the one that the import has made.
        case chunkDirectoryReplaced
        /// What is there cannot be a store.
        case storeUnusable
        /// The store may not be written.
        case storeReadOnly
        /// The store is of another version of the importer.
        case formatUnknown
        /// The store cannot be put into WAL mode.
        case noWALMode
        /// The name of the store's lock is taken by something else.
        case lockTaken
        /// A trigger ends the whole transaction.
        case transactionEnded
        /// The table has no row id left.
        case rowIDsUsedUp
        /// No port is free, or the address is none of this machine's.
        case cannotListen

        // MARK: What breaks off

        /// The disk is full, or will be.
        case diskFull
        /// What is there is no store, and one is to be read.
        case notAStore
        /// A source cannot be read any further.
        case readFailed
        /// A file cannot be written any further.
        case cannotWrite
        /// A call of the system fails for another reason.
        case systemCallFailed
        /// SQLite, or the server of a store, fails for another reason.
        case storeFailed
        /// The store is damaged.
        case storeDamaged
        /// The path leads to another file than the store, or to none, since the import began.
        case storeFileReplaced
        /// A chunk is not as it was written.
        case chunkDamaged
        /// Another program or import holds the store.
        case storeInUse
        /// The server of a store cannot be reached, or takes no more connections.
        case serverUnavailable
        /// The server of a store refuses the login.
        case loginRefused
        /// The user may not do there what the import needs.
        case permissionMissing
        /// The system gives no descriptor.
        case noDescriptors
        /// The system gives no thread.
        case noThreads
        /// What should not happen: a fault of the importer.
        case fault

        // MARK: Who asked to stop

        /// `SIGINT`, or a program.
        case interrupted
        /// `SIGTERM`.
        case terminated
        /// `SIGHUP`.
        case hungUp
    }
}

extension ImportError.Reason {
    /// The exit code that belongs to it.
    public var code: ImportError.Code {
        switch self {
        case .optionInvalid, .optionsConflict, .optionsDiffer, .unknownAttribute, .unknownRelationship,
            .attributeAmbiguous,
            .unknownEntity, .entityUnnamed, .nameTaken, .identifierMismatch, .recordsAmbiguous, .sourceReadOnce,
            .alreadyImported,
            .jobUnfinished, .lossNotAllowed, .jobSuperseded, .jobsDiffer, .rowsIndistinct, .pipelineSpent, .sameFile:
            .usage
        case .notJSON, .notUTF8, .cannotDecompress, .archiveEmpty, .archiveAmbiguous, .recordsNotFound,
            .recordsFailed, .sourceChanged, .tooManyRejects, .allRejected, .modelInvalid, .nameInvalid,
            .tableUnsuitable,
            .identifierNotUnique, .identifierMissing, .rowChanged, .storeForeign, .manifestDamaged,
            .manifestOfOtherVersion, .chunksChanged, .splitUnfinished, .repairFileInvalid, .migrationRefused,
            .modelDiffers, .changeSetInvalid, .identifierUnknown, .storesIncomparable,
            .notSQLite, .changesConflict, .notUndoable, .mirrorSuperseded,
            .deletionsWithheld:
            .badInput
        case .sourceEmpty, .fileNotFound, .notPermitted, .isDirectory, .fileNotOpen, .fileUnreadable,
            .archiveMemberNotFound, .recordsNotGiven, .chunksNotFound, .storeNotFound, .storeEmpty, .storeReplaced,
            .entityNotFound,
            .jobNotFound:
            .noInput
        case .cannotCreate, .pathUnusable, .fileExists, .chunkDirectoryTaken, .chunkDirectoryReplaced, .storeUnusable,
            .storeReadOnly, .formatUnknown, .noWALMode, .lockTaken, .transactionEnded, .rowIDsUsedUp,
            .cannotListen:
            .cannotCreate
        case .diskFull, .notAStore, .readFailed, .cannotWrite, .systemCallFailed, .storeFailed, .storeDamaged,
            .storeFileReplaced,
            .chunkDamaged:
            .io
        case .storeInUse: .inUse
        case .serverUnavailable: .unavailable
        case .loginRefused, .permissionMissing: .noPermission
        case .noDescriptors, .noThreads: .noResources
        case .fault: .software
        case .interrupted: .interrupted
        case .terminated: .terminated
        case .hungUp: .hangup
        }
    }
}
