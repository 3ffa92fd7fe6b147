import ImportModel

/// The values of a source that are outside of its record paths: counted, and their bytes checked and kept as they go by.
struct UnmatchedValues {
    private var counts: UnmatchedValueCounts
    /// True if something was counted since the last record.
    private var hasNew = false
    /// The value that has begun.
    private var text: UnmatchedText?
    /// Those that are kept, before the last record and since.
    private var kept: [OutsideValue] = []
    private var keptSince: [OutsideValue] = []
    private var keptBytesSince = 0
    /// What is kept of the source before the last record, in bytes.
    private(set) var keptBytes: Int

    /// - Parameters:
    ///   - knownNames: names of outside values in the chunks that the source already has.
    ///   - keptBytes: what is kept in these.
    init(knownNames: Set<String>, keptBytes: Int) {
        counts = UnmatchedValueCounts(knownNames: knownNames)
        self.keptBytes = keptBytes
    }

    /// Counts a value, and watches its bytes up to its end.
    ///
    /// - Parameters:
    ///   - start: its first byte in the source, or its key's, in the block or in the record that was thought to have begun.
    ///   - isMember: whether it begins with its key.
    ///   - block: the block that is being cut.
    ///   - openRecord: what there is of that record, of earlier blocks.
    mutating func begin(_ name: String, at start: Int64, isMember: Bool, in block: SourceBlock, openRecord: ByteView) {
        counts.count(name)
        hasNew = true
        let room = OutsideValue.mostBytes - keptBytes - keptBytesSince
        text = UnmatchedText(name, at: start, isMember: isMember, room: room)
        guard start < block.base else { return }
        text?.pass(openRecord)
        // Of what is longer than a record may be, there is no more than that.
        if text?.position != block.base { text = UnmatchedText(name, at: block.base, isMember: false, room: 0) }
    }

    /// Says that the value that has begun, if one has, ends at `end`.
    @inline(__always)
    mutating func end(at end: Int64, in block: SourceBlock) {
        if text != nil { judge(at: end, in: block) }
    }

    /// Takes the rest of a block in, if a value has begun.
    mutating func leave(_ block: SourceBlock) {
        if text != nil { pass(to: block.end, in: block) }
    }

    /// Counts a key on the way to records that is not UTF-8.
    mutating func countInvalidKey(_ name: String) {
        counts.countInvalid(name)
        hasNew = true
    }

    /// Says that a record has ended: what was counted before it belongs to its chunk.
    @inline(__always)
    mutating func recordEnded() {
        if hasNew { settle() }
    }

    /// Forgets what was counted after the last record.
    mutating func rewind() {
        counts.rewind()
        keptSince.removeAll()
        keptBytesSince = 0
        hasNew = false
        text = nil
    }

    /// What is outside up to the last record, which is then forgotten; all at the end of the source.
    mutating func take(all: Bool) -> (counts: [String: Int64], values: [OutsideValue]?) {
        if all { settle() }
        defer { kept.removeAll() }
        return (counts.take(all: all), kept.isEmpty ? nil : kept)
    }

    private mutating func settle() {
        counts.recordEnded()
        keptBytes += keptBytesSince
        keptBytesSince = 0
        kept += keptSince
        keptSince.removeAll()
        hasNew = false
    }

    private mutating func judge(at end: Int64, in block: SourceBlock) {
        pass(to: end, in: block)
        if let text {
            if !text.isUTF8 { counts.countInvalid(text.name) }
            if let value = text.value, value.bytes <= OutsideValue.mostBytes - keptBytes - keptBytesSince {
                keptSince.append(value)
                keptBytesSince += value.bytes
            }
        }
        text = nil
    }

    private mutating func pass(to end: Int64, in block: SourceBlock) {
        guard let position = text?.position, position >= block.base, position < end else { return }
        text?.pass(ByteView(base: block.bytes(from: position), count: Int(end - position)))
    }
}
