import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Rejects that are open, and what is wrong with them, in groups over all jobs of a store.
package struct RejectGroups: Sendable {
    /// A group, and what its rejects are asked for by.
    package struct Group: Sendable {
        /// What is wrong, how often, and where first.
        package let errors: ErrorGroup
        /// A text of letters, digits, `-` and `_`.
        package let name: String
    }

    /// How many rejects are open.
    package let open: Int64
    /// The largest first.
    package let groups: [Group]
}

extension StoreInspection {
    /// What is wrong with the records of all jobs.
    ///
    /// - Throws: `ImportError` as `status` does.
    package func rejectGroups() throws -> RejectGroups {
        try read { database in
            guard try database.hasTable("_import_job") else { throw noImport }
            let open = try database.count("_import_reject", where: "state = 'open'")
            var places: [ErrorCounts.Key: Int] = [:]
            var groups: [ErrorGroup] = []
            for job in try StoredJob.numbers(in: ErrorGroupTable.name, database) {
                let sources = try StoredJob.sources(of: job, database).map(\.description.displayName)
                for group in try ErrorGroupTable.groups(database, job: job, sources: sources) {
                    let key = ErrorCounts.Key(group)
                    if let place = places[key] {
                        groups[place] = groups[place].adding(group.count)
                    } else {
                        places[key] = groups.count
                        groups.append(group)
                    }
                }
            }
            // Those of the same size stay in the order in which they first came.
            let order = groups.indices.sorted { (-groups[$0].count, $0) < (-groups[$1].count, $1) }
            return RejectGroups(
                open: open,
                groups: order.map { RejectGroups.Group(errors: groups[$0], name: ErrorCounts.Key(groups[$0]).name) }
            )
        }
    }

    /// Reads open rejects of a group.
    ///
    /// - Parameters:
    ///   - after: what a page before it has named as the next; nil for the first one.
    ///   - limit: how many at most. There may be fewer, where many others are between them.
    /// - Throws: `ImportError` as `status` does, with `.optionInvalid` when there is no such group or position.
    package func rejects(in group: String, after: String?, limit: Int) throws -> RejectPage {
        guard let key = ErrorCounts.Key(name: group) else {
            throw ImportError(.optionInvalid, "there is no such group of rejects", advice: "Read the groups again.")
        }
        var start: RejectScan.Key?
        if let after {
            guard let key = RejectScan.Key(after) else {
                throw ImportError(
                    .optionInvalid,
                    "after is not a position among rejects",
                    advice: "Begin at the first page."
                )
            }
            start = key
        }
        let opened = try ReadOnlyStore(store)
        defer { opened.close() }
        guard let scan = try opened.read({ try RejectScan(RejectSelection(), $0) }) else { throw noImport }
        let names = try opened.read { database in
            try key.isRest
                ? Set(
                    StoredJob.numbers(in: ErrorGroupTable.name, database).flatMap { job in
                        try ErrorGroupTable.groups(database, job: job, sources: []).map { ErrorCounts.Key($0) }
                    }
                ) : []
        }
        let began = ContinuousClock.now
        var rejects: [Reject] = []
        while true {
            let page = try opened.read { [start] in try scan.page(after: start, $0) }
            for reject in page.rejects where reject.errors.contains(where: { key.has($0, others: names) }) {
                rejects.append(reject)
                if rejects.count == limit { return RejectPage(rejects: rejects, next: RejectScan.Key(reject).text) }
            }
            guard let end = page.end else { return RejectPage(rejects: rejects, next: nil) }
            start = end
            if began.duration(to: .now) > .seconds(1) { return RejectPage(rejects: rejects, next: end.text) }
        }
    }

    /// The reject with a number, whatever has become of it; nil where there is none.
    ///
    /// - Throws: `ImportError` as `status` does.
    package func reject(_ number: Int64) throws -> Reject? {
        try read { database in
            guard let scan = try RejectScan(RejectSelection(includesSettled: true), database) else { throw noImport }
            return try scan.reject(number: number, database)
        }
    }
}

extension ErrorGroup {
    fileprivate func adding(_ count: Int64) -> ErrorGroup {
        ErrorGroup(
            entity: entity,
            keyPath: keyPath,
            code: code,
            expected: expected,
            found: found,
            count: self.count.addingClamped(count),
            first: first
        )
    }
}

extension ErrorCounts.Key {
    /// Reads the name of a group; nil where it is none.
    fileprivate init?(name: String) {
        guard let data = Data(base64URL: name), let parts = try? JSONDecoder().decode([String].self, from: data),
            parts.count == 5
        else { return nil }
        self.init(entity: parts[0], keyPath: parts[1], code: parts[2], expected: parts[3], found: parts[4])
    }

    fileprivate var name: String {
        let parts = [entity.text, keyPath.text, code, expected.text, found.text]
        return ((try? JSONEncoder().encode(parts)) ?? Data()).base64URL
    }

    /// True if it is the group of all errors that no other group has.
    fileprivate var isRest: Bool { keyPath.text == ErrorGroup.others && code.isEmpty }

    /// True if an error is one of the group's.
    ///
    /// - Parameter others: all groups, where it is the one for what no other has.
    fileprivate func has(_ error: ImportModel.RecordError, others: Set<ErrorCounts.Key>) -> Bool {
        let key = ErrorCounts.Key(error)
        return isRest ? !others.contains(key) : key == self
    }
}

extension RejectScan.Key {
    /// The position of a reject.
    fileprivate init(_ reject: StoreInspection.Reject) {
        self.init(job: reject.job, ordinal: reject.ordinal, number: reject.number)
    }

    /// Reads a position as `text` has it; nil where it is none.
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 3, let job = parts[0], let ordinal = parts[1], let number = parts[2] else { return nil }
        self.init(job: job, ordinal: ordinal, number: number)
    }

    /// The position for somebody who asks for the next page.
    fileprivate var text: String { "\(job)-\(ordinal)-\(number)" }
}
