import ImportModel

/// The kinds of records that sources have: each is one entity.
///
/// Records of two sources are of one kind if they are at the same record path, and at least half of the keys of the one that has fewer
/// are keys of the other, unless the sources are called as different tables that a person has made. Kinds are formed in the order of
/// the sources, each against all keys of a kind so far.
package struct SourceKinds {
    /// Records of one kind.
    package struct Kind {
        package let path: String
        /// The table of a person's own that the sources have the name of; nil for none.
        let table: String?
        /// The keys that the records have so far.
        package fileprivate(set) var keys: Set<BytewiseString>
        /// True if a source has records that are no objects.
        fileprivate var hasOthers: Bool
        /// The indexes of the sources, in their order.
        package fileprivate(set) var sources: [Int]
    }

    /// What a source has at one record path.
    package struct Records: Sendable {
        package let path: String
        package var keys: Set<BytewiseString> = []
        /// True if nothing is there.
        package var isEmpty = false

        package init(path: String, keys: Set<BytewiseString> = [], isEmpty: Bool = false) {
            self.path = path
            self.keys = keys
            self.isEmpty = isEmpty
        }
    }

    package private(set) var kinds: [Kind] = []
    /// By source, the kind at each record path.
    package private(set) var kindsOfSources: [[Int]] = []

    /// - Parameter tables: by source, the table of a person's own that has its name. Its records are of no kind with others.
    package init(of sources: [[Records]], tables: [String?] = []) {
        for (source, records) in sources.enumerated() {
            let table = records.count == 1 && !tables.isEmpty ? tables[source] : nil
            kindsOfSources.append(records.map { kind(of: $0, in: source, table) })
        }
        // What has nothing is of the kind that all others are.
        if kinds.count == 1 { kinds[0].sources = Array(sources.indices) }
    }

    private mutating func kind(of records: Records, in source: Int, _ table: String?) -> Int {
        let hasOthers = records.keys.isEmpty && !records.isEmpty
        let found = kinds.firstIndex { kind in
            guard kind.table == table, Self.areSame(kind.path, records.path) else { return false }
            guard !records.isEmpty, !(kind.keys.isEmpty && !kind.hasOthers) else { return true }
            return kind.hasOthers == hasOthers && Self.areAlike(kind.keys, records.keys)
        }
        guard let found else {
            kinds.append(
                Kind(path: records.path, table: table, keys: records.keys, hasOthers: hasOthers, sources: [source])
            )
            return kinds.count - 1
        }
        kinds[found].keys.formUnion(records.keys)
        if !records.isEmpty { kinds[found].hasOthers = hasOthers }
        if kinds[found].sources.last != source { kinds[found].sources.append(source) }
        return found
    }

    /// True if record paths are the same, but for the array that XML's one element is not in.
    private static func areSame(_ path: String, _ other: String) -> Bool {
        func list(_ path: String) -> String { path == "$" || path.hasSuffix("[*]") ? path : path + "[*]" }
        return path.hasSameBytes(as: other) || list(path).hasSameBytes(as: list(other))
    }

    /// True if at least half of the keys of the smaller set are in the other one.
    package static func areAlike(_ one: Set<BytewiseString>, _ other: Set<BytewiseString>) -> Bool {
        one.intersection(other).count * 2 >= min(one.count, other.count)
    }
}
