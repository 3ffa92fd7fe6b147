import Foundation

/// Counts of the values that are outside the record paths, by where they are.
struct UnmatchedValueCounts {
    /// How many names a job may have; values under others are counted together.
    static let maximumNames = 1_000
    /// The prefix of a place's name where values there are counted that are not UTF-8.
    private static let invalidMark = "invalidUTF8 "
    /// The name under which the rest is counted.
    static let restName = ChunkEntry.otherNames

    /// Names that have been counted so far, in this run or an earlier one.
    private(set) var names: Set<String>
    private var untilRecord: [String: Int64] = [:]
    private var sinceRecord: [String: Int64] = [:]

    /// - Parameter names: those of the chunks that the source already has.
    init(knownNames names: Set<String>) {
        self.names = names.subtracting([Self.restName])
    }

    /// Counts a value.
    mutating func count(_ name: String) {
        if names.contains(name) {
            sinceRecord[name, default: 0] += 1
        } else if names.count < Self.maximumNames {
            names.insert(name)
            sinceRecord[name] = 1
        } else {
            sinceRecord[Self.restName, default: 0] += 1
        }
    }

    /// Counts that a value, or a key, has bytes that are not UTF-8.
    mutating func countInvalid(_ name: String) { count(Self.invalidMark + name) }

    /// Says that a record has ended: what was counted before it belongs to its chunk.
    mutating func recordEnded() {
        untilRecord.merge(sinceRecord) { $0 + $1 }
        sinceRecord.removeAll()
    }

    /// Forgets what was counted after the last record.
    mutating func rewind() { sinceRecord.removeAll() }

    /// The counts up to the last record, which are then forgotten; all counts at the end of the source.
    mutating func take(all: Bool) -> [String: Int64] {
        if all { recordEnded() }
        defer { untilRecord.removeAll() }
        return untilRecord
    }

    /// A key as a step of a path: `.name`, or `['any key']` where it is no plain name.
    ///
    /// Long keys are cut off.
    static func step(key: String) -> String {
        // Canonically equivalent keys are one name, spelled as the first one is.
        let key = key.precomposedStringWithCanonicalMapping
        let isLong = key.unicodeScalars.count > 100
        let isPlain = key.unicodeScalars.enumerated().allSatisfy { index, scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "_": true
            case "0"..."9": index > 0
            default: scalar.value >= 0xA0 && !scalar.properties.isWhitespace
            }
        }
        if isPlain, !isLong, !key.isEmpty { return "." + key }
        var text = "['"
        for scalar in key.unicodeScalars.prefix(100) {
            if scalar == "'" || scalar == "\\" { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return text + (isLong ? "…']" : "']")
    }
}
