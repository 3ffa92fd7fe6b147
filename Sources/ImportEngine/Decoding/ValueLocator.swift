import ImportModel
import ImportSources

/// Finds where in the source the values of records are that turn out not to do only when their rows are made or written.
///
/// Their records are parsed once more. Made and used by one worker.
package final class ValueLocator {
    private var readers: RecordReaders
    private var decoders: [Int32: RecordDecoder] = [:]

    package init(_ options: JobOptions) {
        readers = RecordReaders(options)
    }

    /// The source position of the first byte of a value, a string's quote included.
    ///
    /// - Parameter attribute: its index in the entity of the record's own row.
    /// - Returns: the record's where the record has no value of its own for the attribute.
    package func byteOffset(
        of attribute: Int,
        _ plan: EntityPlan,
        in place: RowBatch.RecordLocation,
        _ chunk: UnsafeBufferPointer<UInt8>
    ) -> Int64 {
        let start = place.keyedLineOffset >= 0 ? place.keyedLineOffset : place.chunkOffset
        let keys = KeyedRecordLine.keys(in: ByteView(chunk)[start..<place.chunkOffset]).count
        let end = chunk[(place.chunkOffset + place.length)...].firstIndex(of: UInt8(ascii: "\n"))
        guard let end, plan.slots.indices.contains(attribute) else { return place.byteOffset }
        let line = ByteView(chunk)[start..<end + 1]
        let reader = readers.make(keys: keys)
        guard reader.read(line: line) == .record, reader.tape.isMember(levels: keys) else { return place.byteOffset }
        var decoder =
            decoders.removeValue(forKey: plan.index)
            ?? RecordDecoder(plan: plan, JobOptions())
        defer { decoders[plan.index] = decoder }
        var byteOffset = place.byteOffset
        reader.withTokens { tokens in
            let input = RecordDecoder.Input(
                line: line,
                tokens: tokens,
                lineOffset: start,
                source: 0,
                byteOffset: place.byteOffset - Int64(place.chunkOffset - start),
                ordinal: 0,
                keys: keys,
                prefix: place.prefix
            )
            _ = decoder.find(input)
            let token = decoder.token(of: attribute).token
            if token >= 0 { byteOffset = decoder.position(of: token, input) }
        }
        return byteOffset
    }
}
