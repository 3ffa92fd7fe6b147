import Foundation
import ImportModel
import ImportSources

/// What a store has already of the sources of an import, and what is to be imported of each.
package struct KnownSources {
    /// What is to be done with a source.
    enum Answer {
        /// All of it is imported.
        case new
        /// Nothing, as all of it is in.
        case known
        /// It is imported from the end of what is in, as a part of its own.
        case grown(StoredJob.Source)
        /// It has other content than what is in: its objects are merged, or replace the rows of a job.
        case changed(replacing: Int64?)
    }

    /// A source as an import has read it.
    private struct Known {
        let found: Import
        let index: Int
        let key: BytewiseString
        /// True if there is something left of what it has brought.
        let isThere: Bool
        var job: StoredJob { found.job }
        var source: StoredJob.Source { found.job.sources[index] }
    }

    /// A job whose sources share it.
    private final class Import {
        let job: StoredJob
        init(_ job: StoredJob) { self.job = job }
    }

    /// Objects of which something may be left.
    private struct Brought: Hashable {
        let job: Int64
        let entities: [String]
    }

    /// Of more sources that began as one that is new does, the oldest are not looked at.
    private static let mostAlike = 1_000
    /// So many of those that begin alike are looked at for one with the same bytes.
    private static let mostTwins = 8

    private let journal: any JournalReader
    private let check: SourceCheck
    /// The round of a run that follows the sources; nil for a run that ends with them.
    private let followed: FollowedRun?

    /// By source, in their order.
    private(set) var answers: [Answer]
    /// The newest job that has brought something of them; nil for none.
    private(set) var job: StoredJob?
    /// True if some of the objects that they have brought are gone.
    private(set) var isPartial = false
    /// What is known of sources that are in: their files may have been touched, or moved.
    private(set) var updates: [SourceUpdate] = []
    /// What was wrong with those that are in as far as they go.
    private(set) var bad: [String] = []
    /// The same of all sources of jobs.
    private var faults: [Int64: [String]] = [:]
    /// What is to be said, a line for each kind of answer.
    private(set) var lines: [MessageText] = []
    /// The entities of sources of which something is in.
    private(set) var entities: [String] = []
    /// Sources whose objects are gone.
    private var emptied: [String] = []
    /// By job and entities, what is left of them.
    private var presences: [Brought: JobPresence] = [:]

    /// - Parameters:
    ///   - sources: in the order in which they were given.
    ///   - newest: the newest jobs of each, the newest first, where they were read already.
    ///   - store: the store's name, for messages.
    ///   - replaces: whether what an earlier version of a source has brought is to go.
    ///   - followed: the round of a run that follows the sources: what is as usual is not said then, and a file that was truncated has new
    ///     records.
    ///   - isMeant: whether an import has brought of a source what this one would.
    /// - Throws: `ImportError`, also where a source has changed and its objects cannot be merged.
    init(
        of sources: [SourceDescription],
        newest jobs: [StoredJob] = [],
        in store: String,
        _ journal: any JournalReader,
        _ check: SourceCheck,
        replaces: Bool,
        followed: FollowedRun? = nil,
        isMeant: (StoredJob, StoredJob.Source) -> Bool
    ) throws {
        (self.journal, self.check, self.followed) = (journal, check, followed)
        answers = sources.map { _ in .new }
        let known = try find(sources, jobs, isMeant)
        var others: [Int: Known] = [:]
        var untouched: [Int] = []
        var (same, grown) = ([String](), [String]())
        for (index, source) in sources.enumerated() {
            guard let before = source.key.flatMap({ known[$0] }) else { continue }
            switch try compare(source, before) {
            case nil:
                pass(index, before)
                untouched.append(index)
                bad += try faults(of: before)
            case .same:
                pass(index, before)
                updates.append(SourceUpdate(key: before.key, job: before.job.id, now: source))
                same.append(source.displayName)
            case _ where before.source.shape.isEmpty == true: break  // Nothing was there before, so all of it is new.
            case .longer(let part):
                goOn(index, source, before, part)
                grown.append(source.displayName)
            case .other: others[index] = before
            }
        }
        let moved = try findMoved(sources, &others, isMeant)
        var (changed, merged, replaced, begun) = ([SourceDescription](), [String](), [String](), [String]())
        for (index, before) in others.sorted(by: { $0.key < $1.key }) {
            meet(before)
            if try !journal.committed(of: before.job, source: before.index).hasRows {
                // Nothing of what was there before is in a table.
                answers[index] = .changed(replacing: nil)
            } else if before.job.merges(before.source) {
                answers[index] = .changed(replacing: nil)
                merged.append(sources[index].displayName)
            } else if replaces {
                answers[index] = .changed(replacing: before.job.id)
                replaced.append(sources[index].displayName)
            } else if try followed != nil && isWrittenAnew(sources[index], before) {
                // What it had before may come to light under another name.
                answers[index] = .changed(replacing: nil)
                updates.append(SourceUpdate(key: before.key, job: before.job.id, now: nil))
                begun.append(sources[index].displayName)
            } else {
                changed.append(sources[index])
            }
        }
        guard changed.isEmpty else { throw Self.haveChanged(changed, store) }
        if followed?.job != nil { (untouched, same, grown) = ([], [], []) }
        if let first = untouched.first {
            let one = "\(sources[first].displayName) is"
            lines.append("\(untouched.count == 1 ? one : "\(untouched.count.grouped) sources are") in already")
        }
        if !same.isEmpty { lines.append("\(Self.list(same, "has", "have")) not changed") }
        lines += moved.count > 5 ? ["\(moved.count.grouped) sources have moved, and are in already"] : moved
        if !emptied.isEmpty {
            lines.append(
                "\(Self.list(emptied, "was", "were")) imported before, and its rows are gone: all of it is imported again"
            )
        }
        if !grown.isEmpty { lines.append("\(Self.list(grown, "has", "have")) grown: what is new is imported") }
        if !merged.isEmpty { lines.append("\(Self.list(merged, "has", "have")) changed: objects are merged") }
        if !begun.isEmpty {
            lines.append("\(Self.list(begun, "was", "were")) truncated or written anew: all of it is imported")
        }
        if !replaced.isEmpty {
            lines.append("\(Self.list(replaced, "has", "have")) changed: the rows of the earlier version are replaced")
        }
    }

    /// True if nothing of them is to be imported.
    var hasAll: Bool { answers.allSatisfy { if case .known = $0 { true } else { false } } }

    /// `a.json is`, `2 sources are`.
    private static func list(_ names: [String], _ one: String = "is", _ several: String = "are") -> String {
        names.count == 1 ? "\(names[0]) \(one)" : "\(names.count.grouped) sources \(several)"
    }

    private static func haveChanged(_ sources: [SourceDescription], _ store: String) -> ImportError {
        ImportError(
            .sourceChanged,
            at: sources[0].name,
            "has changed since it was imported into \(store)"
                + (sources.count > 1 ? ", and so have \((sources.count - 1).grouped) more sources" : "")
                + ", and its records have no identifier by which they could be merged",
            advice:
                "\(.again) imports all of it beside what is there; \(.replacesSources) takes out the rows that it brought "
                + "before; with an identifier (\(.identifier)), in another store, records are merged. Nothing was written."
        )
    }

    // MARK: Finding

    /// The newest import of each source, by its key.
    private mutating func find(
        _ sources: [SourceDescription],
        _ newest: [StoredJob],
        _ isMeant: (StoredJob, StoredJob.Source) -> Bool
    ) throws -> [BytewiseString: Known] {
        var wanted = Set(sources.compactMap(\.key))
        guard !wanted.isEmpty else { return [:] }
        var known: [BytewiseString: Known] = [:]
        func look(at job: StoredJob) throws -> Bool {
            // Where what the newest has brought is gone, an older one says nothing.
            for found in try all(of: job, isMeant) where wanted.remove(found.key) != nil {
                if found.isThere {
                    known[found.key] = found
                } else {
                    emptied.append(found.source.description.displayName)
                }
            }
            return !wanted.isEmpty
        }
        for job in newest { guard try look(at: job) else { return known } }
        let looked = Set(newest.map(\.id))
        try journal.forEachJob(withOneOf: sources) { try looked.contains($0.id) || look(at: $0) }
        return known
    }

    /// The sources of which a job has brought what this import would.
    private mutating func all(
        of job: StoredJob,
        _ isMeant: (StoredJob, StoredJob.Source) -> Bool
    ) throws -> [Known] {
        guard job.isWholeImport, try !journal.isUndone(job.id) else { return [] }
        // Where a file was truncated meanwhile, what came later is the newest.
        let found = Import(job)
        return try job.sources.enumerated().reversed().compactMap { index, source in
            guard let path = source.description.path, isMeant(job, source) else { return nil }
            // One that is gone is found by its content alone.
            let key = source.description.key ?? BytewiseString("\(path)\n\(job.id)\n\(index)")
            return Known(found: found, index: index, key: key, isThere: try isThere(source, job))
        }
    }

    /// What is in already is judged by what is there.
    private mutating func isThere(_ source: StoredJob.Source, _ job: StoredJob) throws -> Bool {
        // A run knows what it has brought.
        if followed?.job == job.id { return true }
        let key = Brought(job: job.id, entities: source.entities)
        let presence = try presences[key] ?? journal.presence(of: job, entities: source.entities)
        presences[key] = presence
        if presence == .partial { isPartial = true }
        return presence != .gone
    }

    /// - Returns: nil where it is untouched.
    private mutating func compare(_ source: SourceDescription, _ before: Known) throws -> SourceCheck.Comparison? {
        if SourceCheck.isUntouched(source, since: before.source.description) { return nil }
        let isRead = followed?.beginnings.hasRead(source) == true
        if let end = source.end, !isRead, before.source.description.form == nil, try self.end(of: before) > end {
            // More was imported than its whole lines: a last one without a line feed.
            var whole = source
            whole.end = nil
            let comparison = try check.compare(whole, with: before.job, source: before.index, journal)
            return comparison == .other ? .other : nil
        }
        let wasBad = try !faults(of: before).isEmpty
        return try check.compare(source, with: before.job, source: before.index, journal, wasBad: wasBad)
    }

    /// Where what is committed of a source ends.
    private func end(of before: Known) throws -> Int64 {
        let ranges = try journal.committed(of: before.job, source: before.index).ranges
        return ranges.last?.endByte ?? before.source.description.earlier?.end.byteOffset ?? 0
    }

    /// True if a file is shorter than what was imported of it, or begins with another line.
    private func isWrittenAnew(_ source: SourceDescription, _ before: Known) throws -> Bool {
        let (was, shape) = (before.source.description, before.source.shape)
        // A document that was rewritten is another version of it.
        guard shape.paths == [RecordPath.root.description],
            shape.layout == .lines || !source.name.asciiLowercased.hasSuffix(".json")
        else { return false }
        guard let size = source.plainSize else { return true }
        // Positions in what is rewritten are not those of the file.
        if was.form == nil, try size < end(of: before) { return true }
        let now = try fingerprint(of: source)
        return now.opening.map { $0 != was.opening } ?? (now.fingerprint != was.fingerprint)
    }

    // MARK: Moved

    /// Finds the sources whose content was imported from another file, which is gone or has other content by now.
    ///
    /// - Parameter others: those that have other content than before; what is found elsewhere is taken out.
    /// - Returns: what is to be said.
    private mutating func findMoved(
        _ sources: [SourceDescription],
        _ others: inout [Int: Known],
        _ isMeant: (StoredJob, StoredJob.Source) -> Bool
    ) throws -> [MessageText] {
        var wanted: [Int] = []
        for (index, source) in sources.enumerated() where source.isRepeatable {
            if case .new = answers[index] { wanted.append(index) }
        }
        guard !wanted.isEmpty, try journal.hasJobs() else { return [] }
        var described: [Int: SourceDescription] = [:]
        for index in wanted { described[index] = try? fingerprint(of: sources[index]) }
        var alike: [BytewiseString: Known] = [:]
        try journal.forEachJob(beginningAsOneOf: described.values.reduce(into: []) { $0.formUnion($1.beginnings) }) {
            job in
            for found in try all(of: job, isMeant) where found.isThere && alike[found.key] == nil {
                alike[found.key] = found
            }
            return alike.count < Self.mostAlike
        }
        let keys = Set(sources.compactMap(\.key))
        // The newest part of a source has all that came before it.
        let known = alike.values.sorted { ($0.job.id, $0.index) > ($1.job.id, $1.index) }
        // While sources are followed, another file may come to a path at any moment.
        let archives = Set(sources.filter { $0.member != nil }.compactMap(\.path))
        let isThere = { [followed] (known: Known) in
            let was = known.source.description
            if was.member != nil, let path = was.path, archives.contains(path) { return keys.contains(known.key) }
            return followed == nil ? was.path.map(FileManager.default.fileExists) ?? true : was.isInPlace
        }
        let gone = known.filter {
            $0.source.shape.isEmpty != true
                && ($0.source.description.isGone == true || !isThere($0) && !keys.contains($0.key))
        }
        var lines: [MessageText] = []
        let candidates =
            others.sorted { $0.key < $1.key }.map { ($0.value, Optional($0.key)) } + gone.map { ($0, nil) }
        // Those that began as a source does, by what is known of that.
        var alikes: [String: [Int]] = [:]
        for (place, (before, _)) in candidates.enumerated() {
            for hash in before.source.description.beginnings { alikes[hash, default: []].append(place) }
        }
        var twins: [String: [Known]] = [:]
        for one in known { twins[one.source.description.fingerprint ?? "", default: []].append(one) }
        var (matched, found, taken): (Set<Int>, Set<Int>, Set<Int>) = ([], [], [])
        for index in wanted {
            let source = sources[index]
            let now = described[index] ?? source
            var compared = 0
            let twin = try twins[now.fingerprint ?? ""]?.first {
                let was = $0.source.description
                guard compared < Self.mostTwins, $0.key != source.key, was.size == source.size, isThere($0)
                else { return false }
                compared += 1
                let other = try check.opener.describe(again: was, interruption: check.interruption)
                return try SourceCheck.isUntouched(other, since: was) && compare(source, $0) == .same
            }
            if let twin {
                let other = twin.source.description.displayName
                lines.append("\(source.displayName) has the same bytes as \(other); both are imported")
                continue
            }
            let places = Set(now.beginnings.flatMap { alikes[$0] ?? [] }).subtracting(taken).sorted()
            search: for place in places where candidates[place].1 != index {
                let (before, own) = candidates[place]
                let was = before.source.description
                switch try check.compare(source, with: before.job, source: before.index, journal) {
                case .other: continue
                case .same:
                    pass(index, before)
                    let position = was.isGone == true ? before.index : nil
                    updates.append(SourceUpdate(key: before.key, job: before.job.id, now: source, position: position))
                    lines.append("\(source.displayName) was \(was.displayName), which is in already")
                case .longer(let part):
                    goOn(index, source, before, part)
                    updates.append(SourceUpdate(key: before.key, job: before.job.id, now: source, hasGrown: true))
                    if source.displayName != was.displayName {
                        lines.append(
                            "\(source.displayName) was \(was.displayName) and has grown: what is new is imported"
                        )
                    }
                }
                if let own { found.insert(own) }
                matched.insert(index)
                taken.insert(place)
                break search
            }
        }
        for index in found.union(matched) {
            guard let lost = others.removeValue(forKey: index), !found.contains(index) else { continue }
            // What was at the path is not anywhere any more.
            updates.append(SourceUpdate(key: lost.key, job: lost.job.id, now: nil))
        }
        return lines
    }

    /// A source with the fingerprint of what it begins with.
    private func fingerprint(of source: SourceDescription) throws -> SourceDescription {
        let stream = try check.opener.open(source, interruption: check.interruption)
        var described = try source.fingerprinted(stream.peek().bytes)
        described.encoding = stream.encoding
        return described
    }

    // MARK: Answers

    private mutating func meet(_ before: Known) {
        if before.found.job.id > job?.id ?? 0 { job = before.job }
        for name in before.found.job.sources[before.index].entities where !entities.contains(name) {
            entities.append(name)
        }
    }

    /// What was wrong with a source.
    private mutating func faults(of before: Known) throws -> [String] {
        guard before.job.options.onBadSource == .skip else { return [] }
        let all = try faults[before.job.id] ?? journal.badSources(of: before.job)
        faults[before.job.id] = all
        let name = before.source.description.name
        let own = all.filter { $0.hasPrefix("\(name): ") }
        // What was at the path before, while the sources were followed, may have been bad.
        let isOnly = own.isEmpty || before.job.sources.count { $0.description.name.hasSameBytes(as: name) } == 1
        return isOnly ? own : []
    }

    private mutating func pass(_ index: Int, _ before: Known) {
        answers[index] = .known
        meet(before)
    }

    private mutating func goOn(
        _ index: Int,
        _ source: SourceDescription,
        _ before: Known,
        _ part: SourceDescription.EarlierPart
    ) {
        meet(before)
        var now = (try? fingerprint(of: source)) ?? source
        let was = before.source
        (now.earlier, now.form) = (part, was.description.form)
        answers[index] = .grown(
            StoredJob.Source(description: now, shape: was.shape, entities: was.entities, columns: was.columns)
        )
    }
}

extension StoredJob {
    /// True if it is an import that has read its sources to their ends.
    var isWholeImport: Bool { state == .finished && retry == nil && change == nil && !takesChunks && !isEnded }

    /// True if the objects of all records of a source have identifiers, so that they are merged when they come again.
    func merges(_ source: Source) -> Bool {
        guard let model else { return false }
        let hierarchy = EntityHierarchy(model.entities)
        return source.entities.allSatisfy { name in
            hierarchy.index(of: name).map { !hierarchy.identifier(of: $0).isEmpty } ?? false
        }
    }
}
