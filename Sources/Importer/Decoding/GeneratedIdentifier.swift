import Crypto
import ImportModel

/// Makes the value of an attribute that is `"generated": true`: a UUID of version 8 (RFC 9562 §5.8) that says where its
/// record came from.
///
/// It is made of the SHA-256 of these fields, in this order. Each is preceded by its length in bytes as a big-endian
/// integer of 8 bytes, so that no two lists of fields have the same bytes:
///
/// 1. the entity's name, in UTF-8
/// 2. the attribute's name, in UTF-8
/// 3. the source's place in the job, from 0, as a big-endian integer of 8 bytes
/// 4. the record's first byte in the source, from 0 in decompressed bytes, as a big-endian integer of 8 bytes (of a keyed
///    collection, that of the value behind the key)
/// 5. the path of the child in its record, in UTF-8; empty for the record itself
/// 6. the record's own bytes in the source, with every CR and LF in them replaced by a space
///
/// The UUID is the first 16 bytes of the hash, with 8 in the high half of byte 6 and binary 10 in the two highest bits of
/// byte 8. A reject that is retried counts as standing where it stood when it was rejected. So whoever imports the same record again, however the work is shared out or interrupted, makes the same UUID.
struct GeneratedIdentifier {
    /// The length of the text.
    static let length = 36

    private var hash = SHA256()

    /// The UUID of one attribute of one record.
    ///
    /// - Parameters:
    ///   - entity: its name.
    ///   - attribute: its name.
    ///   - source: the source's place in the job, from 0.
    ///   - byteOffset: the record's first byte in the source.
    ///   - childPath: where the object stands in its record; empty for the record itself.
    ///   - record: the record's bytes, as a chunk has them.
    ///   - bytes: gets the UUID's text, in lower case.
    static func append(
        entity: String,
        attribute: String,
        source: Int,
        byteOffset: Int64,
        childPath: String = "",
        record: ByteView,
        to bytes: inout [UInt8]
    ) {
        var made = GeneratedIdentifier()
        made.add(entity)
        made.add(attribute)
        made.add(Int64(source))
        made.add(byteOffset)
        made.add(childPath)
        made.add(UnsafeRawBufferPointer(record.buffer))
        made.hash.finalize().withUnsafeBytes { digest in
            for index in 0..<16 {
                var byte = digest[index]
                if index == 6 { byte = byte & 0x0F | 0x80 }
                if index == 8 { byte = byte & 0x3F | 0x80 }
                if [4, 6, 8, 10].contains(index) { bytes.append(UInt8(ascii: "-")) }
                bytes.append(digit(byte >> 4))
                bytes.append(digit(byte & 0x0F))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    private mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.bigEndian) { add($0) }
    }

    private mutating func add(_ field: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: UInt64(field.count).bigEndian) { hash.update(bufferPointer: $0) }
        hash.update(bufferPointer: field)
    }
}
