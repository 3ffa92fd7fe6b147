import ImportModel
import ImportSources

/// What follows the import phase, in this order. Where one of them fails, it is as if it had not begun, and a resume comes to it again.
extension JobRun {
    private static let unresolved: MessageText =
        "some references lead to missing objects: importing again without their records"

    /// Finds records that become rejects when all are there, as what they refer to is not.
    ///
    /// - Returns: whether the import begins once more, without records that are noted now.
    /// - Throws: `ImportError`.
    package func takesBackUnresolved() throws -> Bool {
        try context.interruption.check()
        guard let merge = try journal.takeBackUnresolved(job, context.interruption) else { return false }
        context.merges.enqueue(merge)
        context.progress.update {
            // Each round may find more.
            if !$0.messages.contains(Self.unresolved) { $0.messages.append(Self.unresolved) }
        }
        return true
    }

    /// Makes one object of the rows that have the same identifier, or rejects of the later ones, and builds the indexes.
    ///
    /// - Throws: `ImportError`.
    package func settle() throws {
        context.progress.update { $0.phase = .finishing }
        try context.interruption.check()
        AllocatorTrim.giveBack()
        if let merge = try journal.settle(job, context.opener, context.interruption) {
            context.merges.enqueue(merge)
            context.progress.update { $0.rejects += merge.changes.reduce(0) { $0 + $1.rejected } }
        }
        context.announce(try journal.wordsOfIndexesLeftOut(of: job))
    }

    /// Judges a job whose records are all in the store, before anything is deleted that they do not have.
    ///
    /// - Throws: `ImportError` with `.badInput` when too many records were rejected.
    package func judge() throws {
        let unfound = try unfoundPaths()
        try checkRecordPaths(unfound)
        try warnOfEmptyPaths(but: unfound)
        do {
            guard let limit = job.options.maxErrors else { return }
            let counts = try journal.recordCounts(of: job)
            try RejectLimit.judge(rejected: counts.rejected, of: counts.read, by: limit)
        } catch {
            // As `removeLeft`, while the job is not finished.
            if !context.options.keepsChunks {
                try? JobChunks(journal: journal, store: context.store).recorded(of: job)?.remove(store: context.store)
            }
            throw error
        }
    }

    /// The record paths at which nothing was found, but for those of kinds, of which there need not be more.
    private func unfoundPaths() throws -> [String] {
        let kinds = job.sources.filter { $0.description.form?.makesLists == true }.flatMap(\.shape.paths)
        return try journal.unfoundPaths(of: job).filter { !kinds.contains($0) }
    }

    /// Takes a job out of the store again that has found nothing at any record path.
    private func checkRecordPaths(_ unfound: [String]) throws {
        guard !unfound.isEmpty, job.retry == nil, job.options.mirror == nil, try journal.recordCounts(of: job).read == 0
        else { return }
        let words = wordsOfUnfound(unfound)
        abandon()
        let source = job.sources.count == 1 ? job.sources[0].description.name : nil
        throw ImportError(.recordsNotFound, at: source, "\(words)", advice: ImportError.adviceForRecordPaths)
    }

    private func wordsOfUnfound(_ paths: [String]) -> String {
        "nothing was found at the record path\(paths.count > 1 ? "s" : "") \(paths.joined(separator: ", "))\(wordsOfRecordPaths)"
    }

    /// A record path without records may not be what was meant.
    ///
    /// - Parameter unfound: those that the job's message names.
    private func warnOfEmptyPaths(but unfound: [String]) throws {
        guard job.options.limit != 0 else { return }
        let few = job.options.skip == 0 ? "no records" : "no more records than are skipped"
        let read = try journal.readEntities(of: job)
        let hierarchy = EntityHierarchy(job.model?.entities ?? [])
        for source in job.sources where source.description.form?.makesLists != true {
            for (path, entity) in zip(source.shape.paths, source.entities)
            where !unfound.contains(path) {
                // What is read for an entity may be of its subentities.
                let subentities = hierarchy.index(of: entity).map { hierarchy.subentities(of: $0) } ?? []
                let names = subentities.map { hierarchy.entities[$0].name } + [entity]
                guard !names.contains(where: read.contains) else { continue }
                context.announce(["\(source.description.displayName): \(few) were found at \(path)"])
            }
        }
    }

    /// Deletes what the sources no longer have, or notes what is withheld, and what earlier versions of them had, where these are replaced.
    ///
    /// - Throws: `ImportError`.
    package func mirror() throws {
        if job.replacesSources, let merge = try journal.replace(job, context.interruption) {
            context.merges.enqueue(merge)
        }
        guard let options = job.options.mirror else { return }
        try context.interruption.check()
        let merge = try journal.mirror(job, options, context.transformers, context.interruption)
        if let merge { context.merges.enqueue(merge) }
    }

    /// Notes that the job is finished, and removes what it needs no more.
    ///
    /// - Throws: `ImportError`.
    package func finish() throws {
        let unfound = try unfoundPaths()
        let dangling = try journal.wordsOfUncheckedKeys(of: job)
        let seconds = seconds
        let last = try journal.finish(
            job,
            message: unfound.isEmpty ? nil : wordsOfUnfound(unfound),
            seconds: seconds,
            keepsChunks: context.options.keepsChunks
        )
        context.merges.enqueue(last)
        context.announce(last.totals.compactMap(meeting) + dangling)
        removeLeft()
        context.progress.update { ($0.phase, $0.seconds) = (.finished, seconds) }
    }
    /// Says that records of a new table have met each other by their identifier, which is perhaps none; of a server's nothing is known.
    private func meeting(_ totals: EntityTotals) -> MessageText? {
        let count = totals.updated + totals.ignored
        guard count > 0, job.retry == nil, totals.nested.isEmpty, totals.inserted > 0, totals.rows == totals.inserted
        else { return nil }
        let hierarchy = EntityHierarchy(job.model?.entities ?? [])
        guard let identifier = hierarchy.index(of: totals.entity).map({ hierarchy.identifier(of: $0) }) else {
            return nil
        }
        return
            "\(totals.entity): \(count.grouped) of \(totals.recordsRead.grouped) records have the same \(identifier.joined(separator: ", ")) "
            + "as an earlier record, so they are the same object (\(.onConflict, job.options.onConflict.rawValue))"
    }
}
