import ImportEngine
import ImportModel
import ImportSources

/// How a view divides its records into sections.
struct RecordViewSections: Sendable {
    /// The section key's index in the entity.
    private let attribute: Int
    private let collation: RecordSort.Collation

    /// - Throws: `ImportError` with `.usage` when the section key is not what the records are sorted by first.
    init(key: String, of request: FetchRequest, in entity: EntityDescription) throws {
        guard let place = entity.attributes.firstIndex(where: { BytewiseString($0.name) == BytewiseString(key) }) else {
            throw ImportError(noAttribute: key, in: entity)
        }
        attribute = place
        guard let first = request.sort.first, BytewiseString(first.attribute) == BytewiseString(key) else {
            throw ImportError(
                .optionsConflict,
                "\(entity.name): sections by \(key) need records that are sorted by \(key)",
                advice: "Sort by the section key first."
            )
        }
        // Decimals have one spelling for each value.
        collation = entity.attributes[place].type == .decimal ? .binary : first.collation
    }

    /// The sections of some sorted records.
    func divide(_ records: [Record]) -> [RecordViewSnapshot.Section] {
        var sections: [RecordViewSnapshot.Section] = []
        var first = 0
        for place in records.indices {
            let next = place + 1
            if next < records.count, isSame(records[first].values[attribute], records[next].values[attribute]) {
                continue
            }
            sections.append(
                RecordViewSnapshot.Section(
                    name: records[first].values[attribute],
                    records: Array(records[first..<next])
                )
            )
            first = next
        }
        return sections
    }

    /// True if SQLite takes two values for the same.
    private func isSame(_ one: Record.Value, _ other: Record.Value) -> Bool {
        switch (one, other) {
        case (.text(let one), .text(let other)): isSame(one.utf8, other.utf8)
        case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
            Int64(exactly: real) == integer
        default: one.isSame(as: other)
        }
    }

    private func isSame(_ one: String.UTF8View, _ other: String.UTF8View) -> Bool {
        switch collation {
        case .binary: return one.elementsEqual(other)
        case .rtrim:
            return one.reversed().drop { $0 == 0x20 }.elementsEqual(other.reversed().drop { $0 == 0x20 })
        case .nocase:
            // It looks at nothing after a NUL but the length.
            return one.count == other.count
                && one.prefix { $0 != 0 }.map(\.folded) == other.prefix { $0 != 0 }.map(\.folded)
        }
    }
}

extension UInt8 {
    /// An ASCII letter in lower case; all else as it is.
    fileprivate var folded: UInt8 { (65...90).contains(self) ? self + 32 : self }
}
