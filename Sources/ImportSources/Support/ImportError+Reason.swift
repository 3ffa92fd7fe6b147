extension ImportError {
    /// The cause of an error, for programs that handle causes differently.
    ///
    /// Later versions may add reasons: give a `switch` a `default`, which can use `code`.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        // MARK: What was asked for

        /// A setting has an invalid value.
        case optionInvalid
        /// Settings contradict each other.
        case optionsConflict
        /// A resume has other settings than the import was started with.
        case optionsDiffer
        /// The entity has no such attribute.
        case unknownAttribute
        /// The entity has no such relationship.
        case unknownRelationship
        /// Several entities have an attribute of this name.
        case attributeAmbiguous
        /// The model has no such entity.
        case unknownEntity
        /// The entity of the records is not known.
        case entityUnnamed
        /// The table's name is reserved, or is that of an index or a view of the store.
        case nameTaken
        /// The identifier differs from the entity's.
        case identifierMismatch
        /// There are several possible record paths.
        case recordsAmbiguous
        /// A source that can be read only once would be read again.
        case sourceReadOnce
        /// The sources are already imported, or look like imported ones.
        case alreadyImported
        /// Another import of the store has to be finished first.
        case jobUnfinished
        /// Open rejects would be lost.
        case lossNotAllowed
        /// Another import has run since, so that this one cannot be undone any more.
        case jobSuperseded
        /// The rejects are of jobs whose models or settings differ.
        case jobsDiffer
        /// Rows of an import cannot be distinguished from earlier ones.
        case rowsIndistinct
        /// The pipeline has been run before.
        case pipelineSpent
        /// A file would be read and written at once.
        case sameFile

        // MARK: What was read

        /// The source is empty, or only white space.
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
        /// Some sources are not JSON from some byte on, or damaged; all others are imported.
        case sourcesBad
        /// There are no records at the record paths.
        case recordsNotFound
        /// A program's records end with an error, or cannot be encoded.
        case recordsFailed
        /// The source has changed since records of it were imported.
        case sourceChanged
        /// More records are rejected than allowed.
        case tooManyRejects
        /// All of the first records are rejected.
        case allRejected
        /// The model has mistakes.
        case modelInvalid
        /// The store cannot have this name.
        case nameInvalid
        /// The store cannot be migrated to the model without loss, or not now.
        case migrationRefused
        /// The model differs from the store's, which must be migrated first.
        case modelDiffers
        /// The store's table cannot store the model's entity.
        case tableUnsuitable
        /// Existing rows have the same identifier.
        case identifierNotUnique
        /// Records lack their identifier.
        case identifierMissing
        /// A row that the import has written has been changed.
        case rowChanged
        /// A bookkeeping table is not the importer's.
        case storeForeign
        /// The chunks' manifest is damaged.
        case manifestDamaged
        /// The chunks' manifest is of another version of the importer.
        case manifestOfOtherVersion
        /// The chunks differ from those that the import was started with.
        case chunksChanged
        /// The split that made the chunks was not finished.
        case splitUnfinished
        /// Lines of a repair file cannot be retried.
        case repairFileInvalid
        /// The file is not a change set, or is truncated.
        case changeSetInvalid
        /// The identifier of an entity is not known.
        case identifierUnknown
        /// Two stores have entities of the same name that cannot be compared.
        case storesIncomparable
        /// The file to compare is not an SQLite database.
        case notSQLite
        /// The store differs from the old state of a change set, or has changed since the job to undo.
        case changesConflict
        /// The job cannot be undone, as its old values were not stored.
        case notUndoable
        /// Another job has written to the entities of a mirror since the mirror was finished.
        case mirrorSuperseded
        /// A mirror has withheld its deletions.
        case deletionsWithheld

        // MARK: What is not there

        /// There is no such file.
        case fileNotFound
        /// The user is not permitted to read the file.
        case notPermitted
        /// The path is a directory, not a file.
        case isDirectory
        /// The descriptor is not open.
        case fileNotOpen
        /// The file cannot be opened for another reason.
        case fileUnreadable
        /// The archive no longer has the file.
        case archiveMemberNotFound
        /// The program must pass its records again.
        case recordsNotGiven
        /// There are no chunks.
        case chunksNotFound
        /// There is no such store.
        case storeNotFound
        /// The store has no import, or no model.
        case storeEmpty
        /// The store was replaced by another one.
        case storeReplaced
        /// The store has no such entity.
        case entityNotFound
        /// The store has no such job.
        case jobNotFound
        /// The store has no object with the identifier or row id.
        case objectNotFound

        // MARK: What cannot be made

        /// A file cannot be created.
        case cannotCreate
        /// The path cannot be written to.
        case pathUnusable
        /// The file exists already.
        case fileExists
        /// The directory has files that the import has not created.
        case chunkDirectoryTaken
        /// The directory is not the one that the import has created.
        case chunkDirectoryReplaced
        /// The file cannot be a store.
        case storeUnusable
        /// The store is read-only.
        case storeReadOnly
        /// The store is of another version of the importer.
        case formatUnknown
        /// The store cannot enter WAL mode.
        case noWALMode
        /// The name of the store's lock is taken by something else.
        case lockTaken
        /// A trigger ends the whole transaction.
        case transactionEnded
        /// The table has no row id left.
        case rowIDsUsedUp
        /// No port is free, or the address does not belong to this machine.
        case cannotListen

        // MARK: What breaks off

        /// The disk is full, or will be.
        case diskFull
        /// The file to read is not a store.
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
        /// Since the import began, the store's file was replaced or deleted.
        case storeFileReplaced
        /// A chunk is damaged.
        case chunkDamaged
        /// Another program or import uses the store.
        case storeInUse
        /// The server of a store cannot be reached, or accepts no more connections.
        case serverUnavailable
        /// The server of a store refuses the login.
        case loginRefused
        /// The user lacks a permission that the import needs.
        case permissionMissing
        /// The system provides no descriptor.
        case noDescriptors
        /// The system provides no thread.
        case noThreads
        /// An internal error of the importer.
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
    /// The exit code for this reason.
    public var code: ImportError.Code {
        switch self {
        case .optionInvalid, .optionsConflict, .optionsDiffer, .unknownAttribute, .unknownRelationship,
            .attributeAmbiguous,
            .unknownEntity, .entityUnnamed, .nameTaken, .identifierMismatch, .recordsAmbiguous, .sourceReadOnce,
            .alreadyImported,
            .jobUnfinished, .lossNotAllowed, .jobSuperseded, .jobsDiffer, .rowsIndistinct, .pipelineSpent, .sameFile:
            .usage
        case .notJSON, .notUTF8, .cannotDecompress, .archiveEmpty, .archiveAmbiguous, .sourcesBad, .recordsNotFound,
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
            .entityNotFound, .jobNotFound, .objectNotFound:
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
