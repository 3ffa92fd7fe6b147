/// A sequence's elements as lines of JSON, encoded by the thread that reads.
final class RecordSequenceStream<Records: Sequence>: ByteStream where Records.Element: Encodable {
    private var records: Records.Iterator
    /// Encoded and not read yet: from `taken` on.
    private var pending: [UInt8] = []
    private var taken = 0
    private var count = 0
    private var isAtEnd = false
    private var failure: (any Error)?

    init(_ records: Records) {
        self.records = records.makeIterator()
    }

    func read(into block: inout [UInt8]) throws -> Int {
        pending.removeSubrange(..<taken)
        taken = 0
        while pending.count < block.count, !isAtEnd, failure == nil { encodeNext() }
        if pending.isEmpty, let failure { throw failure }
        taken = block.overwrite(with: pending[...])
        return taken
    }

    private func encodeNext() {
        guard let record = records.next() else {
            isAtEnd = true
            if count == 0 { pending = ProgramRecords.none }
            return
        }
        do {
            try RecordEncoder.append(record, to: &pending)
            count += 1
        } catch {
            failure = ProgramRecords.failure(error, after: count)
        }
    }
}
