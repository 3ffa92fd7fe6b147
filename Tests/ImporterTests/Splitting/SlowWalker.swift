import ImportModel

/// Finds records in the plainest way: a recursive walk over all of a sound source.
///
/// What the splitter is compared with.
struct SlowWalker {
    struct Record: Equatable {
        let path: Int
        /// In the source, from the key's quote on for a keyed record.
        let range: Range<Int>
        /// What the line has before and after that.
        var head = ""
        var tail = ""
    }

    private let bytes: [UInt8]
    private let paths: [RecordPath]
    private var index = 0
    /// The keys that lead to the value at hand, as the source has them; of elements empty.
    private var keys: [String] = []
    private(set) var records: [Record] = []
    private(set) var outside: [String: Int64] = [:]

    init(_ bytes: [UInt8], _ paths: [RecordPath]) {
        self.bytes = bytes
        self.paths = paths
        skipSpace()
        while index < bytes.count {
            value(Array(paths.indices), depth: 0, name: "$", keyStart: nil, isInside: false)
            skipSpace()
        }
    }

    /// What the chunk lines must be.
    var lines: [String] {
        records.map { record in
            let text = String(decoding: bytes[record.range].map { $0 == 10 || $0 == 13 ? 32 : $0 }, as: UTF8.self)
            return record.head + text + record.tail
        }
    }

    private var byte: UInt8 { bytes[index] }

    private mutating func skipSpace() {
        while index < bytes.count, [32, 10, 13, 9].contains(byte) { index += 1 }
    }

    private mutating func string() -> String {
        index += 1
        let start = index
        while byte != 0x22 { index += byte == 0x5C ? 2 : 1 }
        index += 1
        return String(decoding: bytes[start..<index - 1], as: UTF8.self)
    }

    private mutating func value(_ active: [Int], depth: Int, name: String, keyStart: Int?, isInside: Bool) {
        skipSpace()
        let start = index
        let isContainer = byte == 0x7B || byte == 0x5B
        let isArray = byte == 0x5B
        var isInside = isInside
        var record: Int?
        var inner: [Int] = []
        if !isInside {
            record = active.first { paths[$0].steps.count == depth }
            if record == nil, isContainer {
                inner = active.filter {
                    paths[$0].steps.count > depth && (paths[$0].steps[depth] == .anyElement) == isArray
                }
            }
            if record != nil {
                isInside = true
            } else if inner.isEmpty {
                outside[name, default: 0] += 1
                isInside = true
            }
        }
        if isContainer {
            children(inner, depth: depth, name: name, isArray: isArray, isInside: isInside)
        } else if byte == 0x22 {
            _ = string()
        } else {
            while index < bytes.count, ![0x2C, 0x5D, 0x7D, 32, 10, 13, 9, 0x22, 0x5B, 0x7B].contains(byte) {
                index += 1
            }
        }
        if let record {
            let steps = paths[record].steps
            let from = steps.last == .anyMember ? keyStart ?? start : start
            var found = Record(path: record, range: from..<index)
            for (depth, step) in steps.enumerated() where step == .anyMember {
                found.head += depth == steps.count - 1 ? "{" : "{\"\(keys[depth])\":"
                found.tail += "}"
            }
            records.append(found)
        }
    }

    private mutating func children(_ active: [Int], depth: Int, name: String, isArray: Bool, isInside: Bool) {
        index += 1
        skipSpace()
        while byte != 0x5D, byte != 0x7D {
            if byte == 0x2C { index += 1 }
            skipSpace()
            if isArray {
                keys.append("")
                value(active, depth: depth + 1, name: name + "[*]", keyStart: nil, isInside: isInside)
            } else {
                let start = index
                let key = string()
                skipSpace()
                index += 1
                let matching = active.filter {
                    paths[$0].steps[depth] == .anyMember || paths[$0].steps[depth] == .key(key)
                }
                let isNamed = active.contains { paths[$0].steps[depth] == .key(key) }
                let step = matching.isEmpty || isNamed ? "." + key : ".*"
                keys.append(key)
                value(matching, depth: depth + 1, name: name + step, keyStart: start, isInside: isInside)
            }
            keys.removeLast()
            skipSpace()
        }
        index += 1
    }
}
