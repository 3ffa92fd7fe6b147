import Foundation
import ImportSources

/// Follows a manifest as it grows: what has been cut into chunks so far.
struct ManifestTail {
    private struct Header: Decodable {
        let job: String?
    }

    private struct Entry: Decodable {
        let source: Int
        let firstByte: Int64
        let endByte: Int64
        let records: Int64
    }

    /// So many bytes are read at a time; the rest comes with the next look.
    private static let mostBytes: off_t = 4 << 20

    private let path: String
    /// The token that the manifest must have; nil for chunks that were cut for nobody in particular.
    private let token: String?
    private var file: DeviceAndInode?
    private var offset: off_t = 0
    /// True if it is not the one that was looked for, or a line of it is not as it was written.
    private var isOther = false
    private(set) var bytes: Int64 = 0
    private(set) var records: Int64 = 0
    /// What has been cut of the source that comes last; nil before the first chunk.
    private(set) var source: StoreSnapshot.Source?

    init(directory: String, token: String?) {
        path = directory + "/" + ChunkManifest.fileName
        self.token = token
    }

    /// Reads what has been added; a manifest that was begun again or cut back is read from its beginning.
    mutating func update() {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        // The store names the path: anything may be there.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if DeviceAndInode(status) != file || status.st_size < offset {
            file = DeviceAndInode(status)
            (offset, bytes, records, isOther) = (0, 0, 0, false)
            source = nil
        }
        guard status.st_size > offset, !isOther else { return }
        var buffer = [UInt8](repeating: 0, count: Int(min(status.st_size - offset, Self.mostBytes)))
        let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
        guard count > 0 else { return }
        var rest = buffer[..<count]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")), !isOther {
            take(rest[..<end])
            offset += off_t(end + 1 - rest.startIndex)
            rest = rest[(end + 1)...]
        }
    }

    private mutating func take(_ line: ArraySlice<UInt8>) {
        let decoder = JSONDecoder()
        let isSound = ManifestLine.isSound(line)
        let data = Data(line)
        if offset == 0 {
            isOther = !isSound || (try? decoder.decode(Header.self, from: data))?.job != token
        } else if isSound, let entry = try? decoder.decode(Entry.self, from: data),
            entry.firstByte >= 0, entry.endByte >= entry.firstByte, entry.records >= 0
        {
            let before = source?.index == entry.source ? source?.records ?? 0 : 0
            source = StoreSnapshot.Source(
                index: entry.source,
                bytes: entry.endByte,
                records: before.addingReportingOverflow(entry.records).partialValue
            )
            bytes = bytes.addingReportingOverflow(entry.endByte - entry.firstByte).partialValue
            records = records.addingReportingOverflow(entry.records).partialValue
        } else {
            // The import itself says what is wrong with it.
            isOther = true
        }
    }
}
