import ImportModel
import ImportSources

/// Cuts the records out of a part of a source, where that can be done from the part alone: they are its lines, its values, or the
/// elements of one array.
///
/// No more is in memory than a block and the record that it breaks off in.
struct SourceRecordExtractor {
    private enum Form {
        case lines
        case values
        /// The keys lead to the array.
        case elements(keys: [String])
    }

    private let form: Form
    /// True if what precedes the first record has been passed.
    private var hasBegun: Bool
    private var buffer: [UInt8] = []
    /// Where the buffer begins in the part.
    private var base = 0
    /// It is not looked at before it has as many bytes: else what is long would be looked at again and again.
    private var leastCount = 0

    /// - Parameter isStart: whether the part has the source's first records; else it follows a record.
    /// - Returns: nil where what is a record depends on what is before the part.
    init?(_ shape: SourceShape, isStart: Bool) {
        guard shape.paths.count == 1, let path = try? RecordPath(shape.paths[0]) else { return nil }
        let keys = path.steps.compactMap { step -> String? in
            if case .key(let key) = step { key } else { nil }
        }
        switch (shape.layout, path.steps.last) {
        case (.lines, _): form = .lines
        case (_, nil): form = .values
        case (_, .anyElement) where keys.count == path.steps.count - 1: form = .elements(keys: keys)
        default: return nil
        }
        hasBegun = !isStart
    }

    /// Adds the bytes that come next, of a source that is sound, and calls `body` with each record that they complete.
    ///
    /// - Parameters:
    ///   - isLast: whether the part ends with them, and so does a record or the source.
    ///   - body: given a record's bytes, and where they begin in the part; not after the end of an array.
    mutating func take(
        _ bytes: ArraySlice<UInt8>,
        isLast: Bool,
        _ body: (ArraySlice<UInt8>, Int) -> Void
    ) {
        buffer += bytes
        guard isLast || buffer.count >= leastCount else { return }
        var index = 0
        if case .elements(let keys) = form, !hasBegun, let start = start(of: keys) {
            index = start
            hasBegun = true
        } else if case .elements = form, !hasBegun {
            leastCount = 2 * buffer.count
            return
        }
        while let (record, end) = record(after: index, isLast: isLast) {
            if !record.isEmpty { body(buffer[record], base + record.lowerBound) }
            index = end
        }
        buffer.removeFirst(index)
        base += index
        leastCount = 2 * buffer.count
    }

    /// The next record, and where the one after it is looked for; nil where it is not all there.
    private func record(after index: Int, isLast: Bool) -> (Range<Int>, end: Int)? {
        if case .lines = form {
            guard index < buffer.count else { return nil }
            guard let end = buffer[index...].firstIndex(of: 0x0A) ?? (isLast ? buffer.count : nil) else { return nil }
            var line = index..<end
            while let first = line.first, ByteScan.isSpace(buffer[first]) { line = first + 1..<line.upperBound }
            while let last = line.last, ByteScan.isSpace(buffer[last]) { line = line.lowerBound..<last }
            return (line, min(end + 1, buffer.count))
        }
        guard let range = JSONValueEnd.range(at: next(index, passing: ","), in: buffer),
            // A number may go on in the next block.
            isLast || range.upperBound < buffer.count
        else { return nil }
        return (range, range.upperBound)
    }

    /// Just past the bracket that opens the array.
    private func start(of keys: [String]) -> Int? {
        var index = next(0)
        for key in keys {
            guard index < buffer.count, buffer[index] == UInt8(ascii: "{"), let value = member(key, index + 1) else {
                return nil
            }
            index = value
        }
        return index < buffer.count && buffer[index] == UInt8(ascii: "[") ? index + 1 : nil
    }

    /// Where the value of an object's member begins.
    private func member(_ key: String, _ start: Int) -> Int? {
        var index = start
        while let name = JSONValueEnd.range(at: next(index, passing: ","), in: buffer) {
            let value = next(name.upperBound, passing: ":")
            if case .string(let text)? = try? JSONValue(parsing: Array(buffer[name])), text.utf8.elementsEqual(key.utf8)
            {
                return value
            }
            guard let range = JSONValueEnd.range(at: value, in: buffer) else { return nil }
            index = range.upperBound
        }
        return nil
    }

    /// The next byte that is no white space, and not the one that is passed over.
    private func next(_ start: Int, passing byte: Unicode.Scalar? = nil) -> Int {
        var index = start
        while index < buffer.count,
            ByteScan.isSpace(buffer[index]) || byte.map({ UInt8(ascii: $0) == buffer[index] }) == true
        { index += 1 }
        return index
    }
}
