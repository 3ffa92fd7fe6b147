import CArchive

/// Reads an archive's members, one after the other, with libarchive.
///
/// Used by one thread. After `nextMember`, it is the stream of that member's bytes.
package final class ArchiveReader: ByteStream {
    /// What is wrong with the data.
    package struct Damage: Error {
        package let reason: String
        /// True if they break off and are sound as far as they go.
        package var isCut = false
        /// What to do about it.
        package var advice: MessageText =
            "Copy or download it again: an import of the repaired file resumes where this one stopped. Where what was imported "
            + "of it was damaged, too, it is refused: then give \(.restart)."
    }

    private let archive: OpaquePointer
    private let input: ArchiveInput
    private var memberCount = 0
    /// Bytes of the current member that libarchive has handed over and `read` has not; they are libarchive's.
    private var pending = UnsafeRawBufferPointer(start: nil, count: 0)
    /// How many bytes of the current member libarchive has handed over.
    private var delivered: Int64 = 0
    private var failure: (any Error)?
    /// Members without data of their own that `nextMember` has passed over, directories aside.
    package private(set) var leftOut: [String] = []

    /// True if the current member is known to have no byte.
    private(set) var isEmpty = false

    /// Reads `stream`, whose first bytes are of an archive.
    ///
    /// - Parameters:
    ///   - stream: the archive's bytes.
    ///   - seekable: the file under `stream`, where there is one, for formats whose directory is at the end.
    /// - Throws: `Damage`, or what `stream` throws.
    package init(_ stream: any ByteStream, seekable: DescriptorStream?) throws {
        guard let archive = archive_read_new() else { throw Damage(reason: "out of memory") }
        self.archive = archive
        input = ArchiveInput(stream, seekable: seekable)
        archive_read_support_format_tar(archive)
        archive_read_support_format_zip(archive)
        // Of tars one after the other, all are read.
        archive_read_set_format_option(archive, "tar", "read_concatenated_archives", "1")
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(input).toOpaque())
        archive_read_set_read_callback(archive) { _, context, block in
            Unmanaged<ArchiveInput>.fromOpaque(context!).takeUnretainedValue().readBlock(block!)
        }
        if seekable != nil {
            archive_read_set_seek_callback(archive) { _, context, offset, whence in
                Unmanaged<ArchiveInput>.fromOpaque(context!).takeUnretainedValue().seek(offset, whence)
            }
        }
        guard archive_read_open1(archive) == ARCHIVE_OK else { throw lastError() }
    }

    deinit {
        archive_read_free(archive)
    }

    /// Goes to the next member that is a regular file, passing over what is left of the current one.
    ///
    /// What macOS adds to archives under `__MACOSX/` is no member.
    ///
    /// - Returns: the member's path; nil after the last, where a tar has its end mark.
    /// - Throws: `Damage`, or what the stream throws.
    func nextMember() throws -> String? {
        while true {
            var entry: OpaquePointer?
            let result = archive_read_next_header(archive, &entry)
            if result == ARCHIVE_EOF {
                let isTar = archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_TAR
                guard !isTar || input.endsWithZeros else { throw Damage(reason: "it ends too early", isCut: true) }
                return nil
            }
            // What could be tried again is a header that is damaged.
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let entry else { throw lastError() }
            memberCount += 1
            let name = Self.name(of: entry) ?? "#\(memberCount)"
            if name.hasPrefix("__MACOSX/") { continue }
            let type = archive_entry_filetype(entry)
            guard type == mode_t(S_IFREG), archive_entry_hardlink(entry) == nil else {
                if type != mode_t(S_IFDIR) { leftOut.append(name) }
                continue
            }
            pending = UnsafeRawBufferPointer(start: nil, count: 0)
            delivered = 0
            failure = nil
            isEmpty = archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) == 0
            if archive_entry_is_encrypted(entry) != 0 {
                failure = Damage(reason: "it is encrypted", advice: "Decrypt it first.")
            }
            return name
        }
    }

    /// Fills the block as far as the member goes.
    ///
    /// - Throws: `Damage` after all sound bytes were delivered, or what the stream throws.
    package func read(into block: inout [UInt8]) throws -> Int {
        var filled = 0
        while filled < block.count {
            if pending.isEmpty {
                do {
                    guard failure == nil, try takeBlock() else { break }
                } catch {
                    failure = error
                    break
                }
            }
            let count = min(pending.count, block.count - filled)
            block.withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<filled + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: pending[..<count]))
            }
            pending = UnsafeRawBufferPointer(rebasing: pending[count...])
            filled += count
        }
        // Of a member that is read at once, nothing is given if its checksum says that it is damaged.
        let isDamaged = delivered <= filled && (failure as? Damage)?.reason.contains("CRC") == true
        if filled == 0 || isDamaged, let failure { throw failure }
        return filled
    }

    /// Has libarchive decompress some more: false at the member's end.
    private func takeBlock() throws -> Bool {
        var bytes: UnsafeRawPointer?
        var count = 0
        var offset: la_int64_t = 0
        let result = archive_read_data_block(archive, &bytes, &count, &offset)
        if result == ARCHIVE_EOF { return false }
        guard result == ARCHIVE_OK else { throw lastError() }
        guard offset == delivered else { throw Damage(reason: "it has holes") }
        pending = UnsafeRawBufferPointer(start: bytes, count: count)
        delivered += Int64(count)
        return true
    }

    /// How many bytes stand before the zip archive that a file ends with; nil where that is not known.
    ///
    /// Of zip archives one after the other, libarchive reads the last one. Its directory says how far before its end it begins.
    static func bytesBeforeZip(in file: DescriptorStream) throws -> Int64? {
        guard let size = file.seek(0, SEEK_END) else { return nil }
        let start = max(0, size - 65_557)
        _ = file.seek(start, SEEK_SET)
        var tail: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = try file.read(into: &block), count > 0 { tail += block[..<count] }
        let mark: [UInt8] = [0x50, 0x4B, 5, 6]
        guard tail.count >= 22,
            let end = (0...(tail.count - 22)).last(where: { tail[$0..<($0 + 4)].elementsEqual(mark) })
        else { return nil }
        func number(at place: Int) -> Int64 { (0..<4).reduce(0) { $0 | Int64(tail[place + $1]) << (8 * Int64($1)) } }
        let (length, offset) = (number(at: end + 12), number(at: end + 16))
        // Of one that is larger than 4 GiB, they are elsewhere.
        return max(length, offset) < 0xFFFF_FFFF ? start + Int64(end) - length - offset : nil
    }

    private func lastError() -> any Error {
        if let failure = input.failure { return failure }
        guard let text = archive_error_string(archive) else { return Damage(reason: "it is not what it should be") }
        return Damage(reason: String(cString: text))
    }

    private static func name(of entry: OpaquePointer) -> String? {
        if let name = archive_entry_pathname_utf8(entry) { return String(cString: name) }
        return archive_entry_pathname(entry).map { String(cString: $0) }
    }
}

/// What libarchive's callbacks are handed.
private final class ArchiveInput {
    /// Why the last read failed, if it did not fail in libarchive.
    private(set) var failure: (any Error)?

    private let stream: any ByteStream
    private let seekable: DescriptorStream?
    private var block = [UInt8](repeating: 0, count: 64 << 10)
    /// True if the last bytes are those of a tar's end mark.
    private(set) var endsWithZeros = true
    /// Where libarchive reads: it keeps the address until the next read.
    private let lent: UnsafeMutableRawBufferPointer

    init(_ stream: any ByteStream, seekable: DescriptorStream?) {
        self.stream = stream
        self.seekable = seekable
        lent = .allocate(byteCount: block.count, alignment: 16)
    }

    deinit {
        lent.deallocate()
    }

    func readBlock(_ place: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
        do {
            let count = try stream.read(into: &block)
            lent.copyBytes(from: block[..<count])
            if count > 0 { endsWithZeros = block[..<count].suffix(512).allSatisfy { $0 == 0 } }
            place.pointee = UnsafeRawPointer(lent.baseAddress)
            return count
        } catch {
            failure = error
            return -1
        }
    }

    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        seekable?.seek(offset, whence) ?? Int64(ARCHIVE_FATAL)
    }
}
