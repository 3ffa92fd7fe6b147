import CCompression

/// What decodes the members of a compressed file (of zstd its frames, of xz and bzip2 its streams), one after the other, and
/// checks them by the checksums in them.
protocol MemberDecoder: AnyObject {
    /// Makes ready for a member.
    func begin() throws

    /// Decodes what it can.
    ///
    /// - Parameters:
    ///   - input: the member's next bytes, and maybe others after it.
    ///   - output: where the decoded bytes go, at least one.
    /// - Throws: `ArchiveReader.Damage`.
    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> DecodedStep
}

/// What one call of a decoder has done.
struct DecodedStep {
    /// How many bytes of the input it has used.
    let taken: Int
    /// How many bytes of the output it has filled.
    let given: Int
    /// True if the member is at its end and has passed its checks.
    let isEnd: Bool
    /// True if all that the member has given so far has passed a check.
    var isChecked = false
}

extension CompressedFormat {
    /// Its decoder; nil for archives.
    func decoder() throws -> (any MemberDecoder)? {
        switch self {
        case .gzip: try GzipDecoder()
        case .zstd: try ZstdDecoder()
        case .xz: XZDecoder()
        case .bzip2: Bzip2Decoder()
        case .zip, .tar: nil
        }
    }
}

/// The decoders' errors.
extension ArchiveReader.Damage {
    fileprivate static let noMemory = Self(reason: "out of memory")
    /// Of formats whose libraries do not tell a wrong checksum from other damage.
    fileprivate static let wrongData = Self(reason: "its data are damaged, or a checksum in them is wrong")
}

extension UnsafeRawBufferPointer {
    /// The address as C's libraries take it, who do not write there.
    fileprivate func forC<Byte>(_: Byte.Type) -> UnsafeMutablePointer<Byte>? {
        UnsafeMutableRawPointer(mutating: baseAddress)?.assumingMemoryBound(to: Byte.self)
    }
}

/// Decodes gzip with zlib, which checks each member's CRC and length.
private final class GzipDecoder: MemberDecoder {
    // zlib keeps its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init() throws {
        stream.initialize(to: z_stream())
        // 16 more are gzip's headers and trailers.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, size) == Z_OK else {
            throw ArchiveReader.Damage.noMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    func begin() { inflateReset(stream) }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> DecodedStep {
        stream.pointee.next_in = input.forC(Bytef.self)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = UInt32(output.count)
        let result = inflate(stream, Z_NO_FLUSH)
        guard [Z_OK, Z_BUF_ERROR, Z_STREAM_END].contains(result) else {
            switch stream.pointee.msg.map({ String(cString: $0) }) {
            case "incorrect data check": throw ArchiveReader.Damage(reason: "its checksum is wrong")
            case "incorrect length check":
                throw ArchiveReader.Damage(reason: "its length is not the one at its checksum")
            case let reason: throw ArchiveReader.Damage(reason: reason ?? "it is not what it should be")
            }
        }
        return DecodedStep(
            taken: input.count - Int(stream.pointee.avail_in),
            given: output.count - Int(stream.pointee.avail_out),
            isEnd: result == Z_STREAM_END
        )
    }
}

/// Decodes bzip2, whose blocks and streams have checksums.
private final class Bzip2Decoder: MemberDecoder {
    private let stream = UnsafeMutablePointer<bz_stream>.allocate(capacity: 1)

    init() {
        stream.initialize(to: bz_stream())
    }

    deinit {
        BZ2_bzDecompressEnd(stream)
        stream.deallocate()
    }

    func begin() throws {
        BZ2_bzDecompressEnd(stream)
        guard BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK else { throw ArchiveReader.Damage.noMemory }
    }

    /// Empties the block that was read, or else reads one: where room is left after that, its checksum was right.
    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> DecodedStep {
        let none = UnsafeMutableRawBufferPointer(rebasing: output[..<0])
        let step = try decompress(UnsafeRawBufferPointer(rebasing: input[..<0]), into: output)
        return step.given > 0 || step.isEnd ? step : try decompress(input, into: none)
    }

    private func decompress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws
        -> DecodedStep
    {
        stream.pointee.next_in = input.forC(CChar.self)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        stream.pointee.avail_out = UInt32(output.count)
        let result = BZ2_bzDecompress(stream)
        guard result == BZ_OK || result == BZ_STREAM_END else {
            throw result == BZ_MEM_ERROR ? ArchiveReader.Damage.noMemory : .wrongData
        }
        return DecodedStep(
            taken: input.count - Int(stream.pointee.avail_in),
            given: output.count - Int(stream.pointee.avail_out),
            isEnd: result == BZ_STREAM_END,
            isChecked: stream.pointee.avail_out > 0
        )
    }
}

/// Decodes xz, whose blocks have checksums.
private final class XZDecoder: MemberDecoder {
    private let stream = UnsafeMutablePointer<lzma_stream>.allocate(capacity: 1)

    init() {
        stream.initialize(to: lzma_stream())
    }

    deinit {
        lzma_end(stream)
        stream.deallocate()
    }

    func begin() throws {
        guard lzma_stream_decoder(stream, .max, 0) == LZMA_OK else { throw ArchiveReader.Damage.noMemory }
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> DecodedStep {
        stream.pointee.next_in = UnsafePointer(input.forC(UInt8.self))
        stream.pointee.avail_in = input.count
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = output.count
        let result = lzma_code(stream, LZMA_RUN)
        guard [LZMA_OK, LZMA_BUF_ERROR, LZMA_STREAM_END].contains(result) else {
            throw result == LZMA_MEM_ERROR ? ArchiveReader.Damage.noMemory : .wrongData
        }
        return DecodedStep(
            taken: input.count - stream.pointee.avail_in,
            given: output.count - stream.pointee.avail_out,
            isEnd: result == LZMA_STREAM_END
        )
    }
}

/// Decodes zstd, whose frames may have a checksum.
private final class ZstdDecoder: MemberDecoder {
    private let context: OpaquePointer

    init() throws {
        guard let context = ZSTD_createDCtx() else { throw ArchiveReader.Damage.noMemory }
        self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    func begin() { ZSTD_DCtx_reset(context, ZSTD_reset_session_only) }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> DecodedStep {
        var from = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var to = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(context, &to, &from)
        if ZSTD_isError(result) != 0 {
            throw ArchiveReader.Damage(reason: "zstd says: \(String(cString: ZSTD_getErrorName(result)))")
        }
        return DecodedStep(taken: from.pos, given: to.pos, isEnd: result == 0)
    }
}
