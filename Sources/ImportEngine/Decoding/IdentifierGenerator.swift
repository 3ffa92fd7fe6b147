import ImportModel
import ImportSources

/// Makes the values of attributes that are `"generated": true`: UUIDs of version 8 (RFC 9562 §5.8) that say where their
/// records came from.
///
/// A UUID is made of the SHA-256 of these fields, in this order. Each is preceded by its length in bytes as a big-endian
/// integer of 8 bytes, so that no two lists of fields have the same bytes:
///
/// 1. the entity's name, in UTF-8
/// 2. the attribute's name, in UTF-8
/// 3. the source's index in the job, from 0, as a big-endian integer of 8 bytes
/// 4. the record's first byte in the source, from 0 in decompressed bytes, as a big-endian integer of 8 bytes (of a keyed
///    collection, that of the value after the key)
/// 5. the path of the child in its record, in UTF-8; empty for the record itself
/// 6. the record's own bytes in the source, with every CR and LF in them replaced by a space
///
/// The UUID is the first 16 bytes of the hash, with 8 in the high half of byte 6 and binary 10 in the two highest bits of
/// byte 8. A reject that is retried has the source and the byte that it had when it was rejected. So the same record
/// imported again gets the same UUID, however the work is shared out or interrupted.
///
/// Made and used by one decoder.
package final class IdentifierGenerator {
    private var hash: SHA256
    /// The fields that are the same in all records: the first two of each attribute.
    private let heads: [[UInt8]]
    /// Which attributes are stored as 16 bytes.
    private let areBlobs: [Bool]
    /// What is hashed before the record's bytes; kept for its memory.
    private var fields: [UInt8] = []

    /// - Parameter entity: the one whose objects get identifiers.
    package init(entity: EntityDescription) {
        hash = SHA256()
        areBlobs = entity.attributes.map { $0.storage == .blob }
        heads = entity.attributes.map { attribute in
            var head: [UInt8] = []
            Self.add(entity.name, to: &head)
            Self.add(attribute.name, to: &head)
            return head
        }
    }

    /// Appends the UUID of one attribute of one record.
    ///
    /// - Parameters:
    ///   - attribute: its index in the entity.
    ///   - source: the source's index in the job, from 0.
    ///   - byteOffset: the record's first byte in the source.
    ///   - record: the record's bytes, as a chunk has them.
    ///   - bytes: gets the UUID as it is stored: its text in lower case, or its 16 bytes.
    package func append(
        _ attribute: Int,
        source: Int,
        byteOffset: Int64,
        record: ByteView,
        to bytes: inout [UInt8]
    ) {
        fields.removeAll(keepingCapacity: true)
        fields += heads[attribute]
        Self.add(Int64(source), to: &fields)
        Self.add(byteOffset, to: &fields)
        Self.add("", to: &fields)
        Self.addLength(record.count, to: &fields)
        fields.withUnsafeBytes { hash.update($0) }
        hash.update(UnsafeRawBufferPointer(record.buffer))
        let digest = hash.finish()
        for index in 0..<16 {
            var byte = digest[index]
            switch index {
            case 6: byte = byte & 0x0F | 0x80
            case 8: byte = byte & 0x3F | 0x80
            default: break
            }
            if areBlobs[attribute] {
                bytes.append(byte)
                continue
            }
            switch index {
            case 4, 6, 8, 10: bytes.append(UInt8(ascii: "-"))
            default: break
            }
            bytes.append(Self.digit(byte >> 4))
            bytes.append(Self.digit(byte & 0x0F))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func add(_ text: String, to fields: inout [UInt8]) {
        addLength(text.utf8.count, to: &fields)
        fields.append(contentsOf: text.utf8)
    }

    private static func add(_ number: Int64, to fields: inout [UInt8]) {
        addLength(MemoryLayout<Int64>.size, to: &fields)
        withUnsafeBytes(of: number.bigEndian) { fields.append(contentsOf: $0) }
    }

    private static func addLength(_ count: Int, to fields: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(count).bigEndian) { fields.append(contentsOf: $0) }
    }
}
