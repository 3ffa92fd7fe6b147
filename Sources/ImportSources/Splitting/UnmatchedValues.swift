import ImportModel

/// The values of a source that are outside of its record paths: counted, and their bytes checked as they go by.
struct UnmatchedValues {
    private var counts: UnmatchedValueCounts
    /// True if something was counted since the last record.
    private var hasNew = false
    /// The value that has begun.
    private var text: UnmatchedText?

    /// - Parameter knownNames: names of outside values in the chunks that the source already has.
    init(knownNames: Set<String>) {
        counts = UnmatchedValueCounts(knownNames: knownNames)
    }

    /// Counts a value, and watches its bytes up to its end.
    ///
    /// - Parameters:
    ///   - start: its first byte in the source, or its key's, in the block or in the record that was thought to have begun.
    ///   - block: the block that is being cut.
    ///   - openRecord: what there is of that record, of earlier blocks.
    mutating func begin(_ name: String, at start: Int64, in block: SourceBlock, openRecord: ByteView) {
        counts.count(name)
        hasNew = true
        text = UnmatchedText(name, at: start)
        guard start < block.base else { return }
        text?.pass(openRecord)
        // Of what is longer than a record may be, there is no more than that.
        if text?.position != block.base { text = UnmatchedText(name, at: block.base) }
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
        hasNew = false
        text = nil
    }

    /// The counts up to the last record, which are then forgotten; all counts at the end of the source.
    mutating func take(all: Bool) -> [String: Int64] { counts.take(all: all) }

    private mutating func settle() {
        counts.recordEnded()
        hasNew = false
    }

    private mutating func judge(at end: Int64, in block: SourceBlock) {
        pass(to: end, in: block)
        if let text, !text.isUTF8 { counts.countInvalid(text.name) }
        text = nil
    }

    private mutating func pass(to end: Int64, in block: SourceBlock) {
        guard let position = text?.position, position >= block.base, position < end else { return }
        text?.pass(ByteView(base: block.bytes(from: position), count: Int(end - position)))
    }
}
