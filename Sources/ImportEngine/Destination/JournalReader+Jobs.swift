import ImportModel
import ImportSources

/// What is asked of jobs, answered from all of them. A store that may have many answers by queries.
extension JournalReader {
    package func hasJobs() throws -> Bool { try !jobs().isEmpty }

    package func theirTables() throws -> [String] { [] }

    package func job(_ id: Int64) throws -> StoredJob? { try jobs().first { $0.id == id } }

    package func lastJob() throws -> StoredJob? { try jobs().last }

    package func unfinishedJobs() throws -> [StoredJob] { try jobs().filter { $0.state != .finished } }

    package func undo(of job: Int64) throws -> StoredJob? { try StoredJob.undo(of: job, jobs()) }

    package func forEachJob(_ body: (StoredJob) throws -> Bool) throws {
        for job in try jobs().reversed() { guard try body(job) else { return } }
    }

    package func forEachJob(
        withOneOf sources: [SourceDescription],
        _ body: (StoredJob) throws -> Bool
    ) throws {
        let keys = Set(sources.compactMap(\.key))
        for job in try jobs().reversed() where job.sources.contains(where: { $0.description.isOne(of: keys) }) {
            guard try body(job) else { return }
        }
    }

    package func forEachJob(
        beginningAsOneOf hashes: Set<String>,
        _ body: (StoredJob) throws -> Bool
    ) throws {
        for job in try jobs().reversed()
        where job.sources.contains(where: { !hashes.isDisjoint(with: $0.description.beginnings) }) {
            guard try body(job) else { return }
        }
    }

    package func hasFinishedStream(_ fingerprint: String) throws -> Bool {
        try jobs().contains { job in
            job.state == .finished
                && job.sources.contains { !$0.description.isRepeatable && $0.description.fingerprint == fingerprint }
        }
    }

    package func isFinished(token: String) throws -> Bool {
        try jobs().contains { $0.state == .finished && !$0.takesChunks && $0.token == token }
    }

    package func knownRecords(of entities: Set<String>, excluding job: Int64?) throws -> [String: KnownRecords] {
        let jobs = try jobs()
        var known: [String: KnownRecords] = [:]
        for stored in jobs.reversed() where stored.id != job && stored.retry == nil && stored.change == nil {
            var all = known
            for source in stored.sources { source.add(to: &all, of: entities, stored.options) }
            // Where there never was a record, there need not be any.
            guard all != known, !StoredJob.isUndone(stored.id, jobs), try marker(of: stored).recordOrdinal > 0 else {
                continue
            }
            known = all
        }
        return known
    }

    /// The newest job that has one of these sources and meets a condition.
    package func lastJob(
        withOneOf sources: [SourceDescription],
        where isMeant: (StoredJob) throws -> Bool
    ) throws -> StoredJob? {
        var found: StoredJob?
        try forEachJob(withOneOf: sources) { job in
            guard try isMeant(job) else { return true }
            found = job
            return false
        }
        return found
    }

    /// True if one of the newest jobs was given the same names of attributes as these options have, and found them.
    package func hasGiven(_ options: JobOptions, besides job: Int64?) throws -> Bool {
        guard options.hasNames else { return false }
        var (found, count) = (false, 0)
        try forEachJob { other in
            guard other.id != job else { return true }
            count += 1
            found = other.model != nil && other.isModelFinal && other.options.hasSameNames(as: options)
            return !found && count < 16
        }
        return found
    }

    /// Those of some indexes that none of the newest finished jobs was to build, so that the model has to have their attributes.
    package func newIndexes(of wanted: [[String]]) throws -> StoreIndexes {
        guard !wanted.isEmpty else { return StoreIndexes(wanted: []) }
        var (new, count) = (wanted, 0)
        try forEachJob { job in
            count += 1
            let known = job.state == .finished ? try indexes(of: job).wanted : []
            new.removeAll(where: known.contains)
            return !new.isEmpty && count < 16
        }
        return StoreIndexes(wanted: new)
    }

    /// True if what a job has done is taken back.
    package func isUndone(_ job: Int64) throws -> Bool { try undo(of: job) != nil }
}

extension SourceDescription {
    fileprivate func isOne(of keys: Set<BytewiseString>) -> Bool { key.map(keys.contains) ?? false }
}

extension JobOptions {
    /// True if they name attributes that records are to have.
    fileprivate var hasNames: Bool { !hasSameNames(as: JobOptions()) }

    fileprivate func hasSameNames(as other: JobOptions) -> Bool {
        identifiers == other.identifiers && types == other.types && fractions == other.fractions
            && storages == other.storages
            && nullTexts == other.nullTexts && parse == other.parse && nestedOnly == other.nestedOnly
    }
}

extension StoredJob.Source {
    /// Adds the record paths of these entities, those that are there already staying first, and how the first source is read.
    ///
    /// - Parameter entities: their names in lower case.
    package func add(to known: inout [String: KnownRecords], of entities: Set<String>, _ options: JobOptions) {
        for (entity, path) in zip(self.entities, shape.paths) {
            let name = entity.asciiLowercased
            guard entities.contains(name), let path = try? RecordPath(path) else { continue }
            var records = known[name] ?? KnownRecords()
            if !records.paths.contains(path) { records.paths.append(path) }
            records.areAsked = records.areAsked || !options.records.isEmpty
            if records.form == nil, shape.isEmpty != true { records.form = KnownForm(shape.form) }
            known[name] = records
        }
    }
}
