import ImportModel
import ImportSources

/// Errors counted by what is wrong at which key path, in the order in which they first came.
package struct ErrorCounts {
    /// What is counted together.
    package struct Key: Hashable {
        package let entity: BytewiseString
        package let keyPath: BytewiseString
        package let code: String
        package let expected: BytewiseString
        package let found: BytewiseString

        package init(entity: String, keyPath: String, code: String, expected: String, found: String) {
            self.entity = BytewiseString(entity)
            self.keyPath = BytewiseString(keyPath)
            self.code = code
            self.expected = BytewiseString(expected)
            self.found = BytewiseString(found)
        }

        package init(_ error: RecordError) {
            self.init(
                entity: error.entity,
                keyPath: Self.withoutIndices(error.keyPath),
                code: error.code.rawValue,
                expected: error.expected,
                // Each such record has another length.
                found: error.code == .recordTooLarge ? "more" : error.found
            )
        }

        /// The path with `[]` for array indices; what is in quotes is a key.
        package static func withoutIndices(_ path: String) -> String {
            guard path.utf8.contains(UInt8(ascii: "[")) else { return path }
            var bytes: [UInt8] = []
            var isQuoted = false
            var isEscaped = false
            var isIndex = false
            for byte in path.utf8 {
                if isIndex, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { continue }
                isIndex = false
                bytes.append(byte)
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "'") {
                    isQuoted.toggle()
                } else if isQuoted, byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if !isQuoted, byte == UInt8(ascii: "[") {
                    isIndex = true
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// A count, and where its first error is.
    package struct Group {
        package let key: Key
        package var count: Int64
        package var firstOrdinal: Int64
        package var firstByteOffset: Int64
    }

    package private(set) var groups: [Group] = []
    private var places: [Key: Int] = [:]

    package init() {}

    package var isEmpty: Bool { groups.isEmpty }

    /// Counts an error of record `ordinal`.
    package mutating func add(_ error: RecordError, ordinal: Int64) {
        add(Group(key: Key(error), count: 1, firstOrdinal: ordinal, firstByteOffset: error.byteOffset))
    }

    /// Adds what was counted elsewhere.
    package mutating func add(_ other: ErrorCounts) {
        for group in other.groups { add(group) }
    }

    private mutating func add(_ group: Group) {
        guard let place = places[group.key] else {
            places[group.key] = groups.count
            groups.append(group)
            return
        }
        groups[place].count += group.count
        guard group.firstOrdinal < groups[place].firstOrdinal else { return }
        groups[place].firstOrdinal = group.firstOrdinal
        groups[place].firstByteOffset = group.firstByteOffset
    }

    /// The groups in the source order of their first errors; those of one record as they were added.
    package var inSourceOrder: [Group] {
        groups.indices.sorted { (groups[$0].firstOrdinal, $0) < (groups[$1].firstOrdinal, $1) }.map { groups[$0] }
    }

    package mutating func removeAll() {
        guard !groups.isEmpty else { return }
        groups.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }
}
