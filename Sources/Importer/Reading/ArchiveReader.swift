import CArchive

/// Decompresses a file or reads an archive's members, one after the other, with libarchive.
///
/// Used by one thread. After `nextMember`, it is the stream of that member's bytes.
final class ArchiveReader: ByteStream {
    /// What libarchive says is wrong with the data.
    struct Damage: Error {
        let reason: String
        /// What to do about it.
        var advice: ImportText =
            "Copy or download it again: an import of the repaired file resumes where this one stopped."
    }

    private let archive: OpaquePointer
    private let input: Input
    private var memberCount = 0
    /// Bytes of the current member that libarchive has handed over and `read` has not; they are libarchive's.
    private var pending = UnsafeRawBufferPointer(start: nil, count: 0)
    /// How many bytes of the current member libarchive has handed over.
    private var delivered: Int64 = 0
    private var failure: (any Error)?
    /// The checksum of a gzip file's content.
    private var checksum = CRC32()

    /// Reads `stream`, whose first bytes are of a `CompressedFormat`.
    ///
    /// - Parameters:
    ///   - stream: the compressed bytes.
    ///   - seekable: the file under `stream`, where there is one, for formats whose directory is at the end.
    /// - Throws: `Damage`, or what `stream` throws.
    init(_ stream: any ByteStream, seekable: DescriptorStream?) throws {
        guard let archive = archive_read_new() else { throw Damage(reason: "out of memory") }
        self.archive = archive
        input = Input(stream, seekable: seekable)
        archive_read_support_filter_gzip(archive)
        archive_read_support_filter_bzip2(archive)
        archive_read_support_filter_xz(archive)
        archive_read_support_filter_zstd(archive)
        archive_read_support_format_tar(archive)
        archive_read_support_format_zip(archive)
        archive_read_support_format_empty(archive)
        archive_read_support_format_raw(archive)
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(input).toOpaque())
        archive_read_set_read_callback(archive) { _, context, block in
            Unmanaged<Input>.fromOpaque(context!).takeUnretainedValue().readBlock(block!)
        }
        if seekable != nil {
            archive_read_set_seek_callback(archive) { _, context, offset, whence in
                Unmanaged<Input>.fromOpaque(context!).takeUnretainedValue().seek(offset, whence)
            }
        }
        guard archive_read_open1(archive) == ARCHIVE_OK else { throw lastError() }
    }

    deinit {
        archive_read_free(archive)
    }

    /// Whether this is one compressed file rather than an archive; known after the first `nextMember`.
    var isSingleFile: Bool {
        let format = archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK
        return format == ARCHIVE_FORMAT_RAW || format == ARCHIVE_FORMAT_EMPTY
    }

    /// Goes to the next member that is a regular file, passing over what is left of the current one.
    ///
    /// What macOS adds to archives under `__MACOSX/` is no member.
    ///
    /// - Returns: the member's path; nil after the last.
    /// - Throws: `Damage`, or what the stream throws.
    func nextMember() throws -> String? {
        while true {
            var entry: OpaquePointer?
            let result = archive_read_next_header(archive, &entry)
            if result == ARCHIVE_EOF { return nil }
            guard result >= ARCHIVE_WARN, let entry else { throw lastError() }
            if isSingleFile, archive_filter_count(archive) < 2 {
                // The first bytes were those of a compressed format, but libarchive takes it for none of them.
                throw Damage(reason: "its beginning is not what it should be")
            }
            memberCount += 1
            let isFile = archive_entry_filetype(entry) == mode_t(S_IFREG) && archive_entry_hardlink(entry) == nil
            let name = Self.name(of: entry) ?? "#\(memberCount)"
            guard isFile, !name.hasPrefix("__MACOSX/") else { continue }
            pending = UnsafeRawBufferPointer(start: nil, count: 0)
            delivered = 0
            failure = nil
            if archive_entry_is_encrypted(entry) != 0 {
                failure = Damage(reason: "it is encrypted", advice: "Decrypt it first.")
            }
            return name
        }
    }

    /// Fills the block as far as the member goes.
    ///
    /// - Throws: `Damage` after all sound bytes were delivered, or what the stream throws.
    func read(into block: inout [UInt8]) throws -> Int {
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
        if filled == 0, let failure { throw failure }
        return filled
    }

    /// Has libarchive decompress some more: false at the member's end.
    private func takeBlock() throws -> Bool {
        var bytes: UnsafeRawPointer?
        var count = 0
        var offset: la_int64_t = 0
        let result = archive_read_data_block(archive, &bytes, &count, &offset)
        if result == ARCHIVE_EOF {
            if isSingleFile { try checkEnd() }
            return false
        }
        guard result == ARCHIVE_OK else { throw lastError() }
        guard offset == delivered else { throw Damage(reason: "it has holes") }
        pending = UnsafeRawBufferPointer(start: bytes, count: count)
        delivered += Int64(count)
        if isGzip { checksum.update(pending) }
        return true
    }

    /// Whether this is one gzip file.
    private var isGzip: Bool {
        isSingleFile && archive_filter_count(archive) == 2 && archive_filter_code(archive, 0) == ARCHIVE_FILTER_GZIP
    }

    /// Looks at what libarchive leaves unseen: what follows the compressed data, and gzip's checksum.
    ///
    /// Zeroes may follow, as from tapes. The checksum is that of the last gzip member, and where members begin is not to be
    /// known here; so it is checked where the length beside it says that there is only one.
    private func checkEnd() throws {
        try input.readToEnd()
        let consumed = archive_filter_bytes(archive, -1)
        guard input.endOfData <= consumed else {
            throw Damage(reason: "something else follows the compressed data")
        }
        guard isGzip, input.count == consumed, input.tail.count == 8 else { return }
        let trailer = input.tail.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let length = UInt32(truncatingIfNeeded: trailer >> 32)
        if length == UInt32(truncatingIfNeeded: delivered), UInt32(truncatingIfNeeded: trailer) != checksum.value {
            throw Damage(reason: "its checksum is wrong")
        }
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
private final class Input {
    /// Why the last read failed, if it did not fail in libarchive.
    private(set) var failure: (any Error)?
    /// How many bytes were read.
    private(set) var count: Int64 = 0
    /// Just past the last byte that was not 0.
    private(set) var endOfData: Int64 = 0
    /// The last eight bytes read.
    private(set) var tail: [UInt8] = []

    private let stream: any ByteStream
    private let seekable: DescriptorStream?
    private var block = [UInt8](repeating: 0, count: 64 << 10)
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
            let count = try read()
            lent.copyBytes(from: block[..<count])
            place.pointee = UnsafeRawPointer(lent.baseAddress)
            return count
        } catch {
            failure = error
            return -1
        }
    }

    /// Reads what libarchive did not ask for.
    func readToEnd() throws {
        while try read() > 0 {}
    }

    private func read() throws -> Int {
        let count = try stream.read(into: &block)
        if let last = block[..<count].lastIndex(where: { $0 != 0 }) { endOfData = self.count + Int64(last) + 1 }
        self.count += Int64(count)
        tail = (tail + block[..<count].suffix(8)).suffix(8)
        return count
    }

    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        seekable?.seek(offset, whence) ?? Int64(ARCHIVE_FATAL)
    }
}
