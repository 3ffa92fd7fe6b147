/// The bytes of a compressed file: of its members, one after the other, each checked by its checksum.
///
/// Of a damaged member, or block of bzip2, nothing is given if it is small enough to be checked before, and else what stands
/// before the damage.
final class DecompressedStream: ByteStream {
    private let source: any ByteStream
    private let format: CompressedFormat
    private let decoder: any MemberDecoder
    private var block = [UInt8](repeating: 0, count: 64 << 10)
    /// Compressed bytes: those from `taken` on are not decoded yet.
    private var input: [UInt8] = []
    private var taken = 0
    private var isSourceAtEnd = false
    /// Decoded bytes: `filled` of them, of which `given` were read, and those before `sound` may be.
    private var output: [UInt8]
    private var filled = 0
    private var given = 0
    private var sound = 0
    /// Where in `output` that ends which has passed a check, or 0 if it was given before.
    private var checked = 0
    private var isInMember = false
    private var isAtEnd = false
    private var failure: (any Error)?

    /// - Parameters:
    ///   - source: the compressed bytes, from a member's beginning on.
    ///   - format: what they are.
    ///   - decoder: that format's.
    init(_ source: any ByteStream, _ format: CompressedFormat, decoder: any MemberDecoder) {
        self.source = source
        self.format = format
        self.decoder = decoder
        // A block of bzip2 has as much as 900 kB.
        output = [UInt8](repeating: 0, count: format == .bzip2 ? 1 << 20 : 256 << 10)
    }

    func read(into block: inout [UInt8]) throws -> Int {
        while given == sound {
            if let failure { throw failure }
            if isAtEnd { return 0 }
            fill()
        }
        let count = block.overwrite(with: output[given..<sound])
        given += count
        return count
    }

    /// Decodes as much as there is room for.
    ///
    /// What has passed no check then waits for it, unless it fills all of `output`.
    private func fill() {
        filled = output.withUnsafeMutableBytes { bytes in
            let waiting = UnsafeRawBufferPointer(rebasing: bytes[given..<filled])
            UnsafeMutableRawBufferPointer(rebasing: bytes[..<waiting.count]).copyMemory(from: waiting)
            return waiting.count
        }
        given = 0
        checked = 0
        do {
            while filled < output.count, try decodeMore() {}
        } catch {
            failure = error
        }
        let isDamaged = (failure as? ArchiveReader.Damage)?.isCut == false
        sound = isInMember && (isDamaged || failure == nil && checked > 0) ? checked : filled
    }

    /// Decodes some more; false at the end.
    private func decodeMore() throws -> Bool {
        if !isInMember {
            guard try beginMember() else {
                isAtEnd = true
                return false
            }
        }
        if taken == input.count { try fetch(1) }
        let step = try output.withUnsafeMutableBytes { output in
            try input.withUnsafeBytes { input in
                try decoder.decode(
                    UnsafeRawBufferPointer(rebasing: input[taken...]),
                    into: UnsafeMutableRawBufferPointer(rebasing: output[filled...])
                )
            }
        }
        taken += step.taken
        filled += step.given
        if step.isChecked { checked = filled }
        if step.isEnd {
            isInMember = false
        } else if step.taken == 0, step.given == 0 {
            guard isSourceAtEnd else { throw ArchiveReader.Damage(reason: "it is not what it should be") }
            throw ArchiveReader.Damage(reason: "it ends too early", isCut: true)
        }
        return true
    }

    /// Goes to the next member, past zeroes, as tapes and xz have them; false if there is none.
    private func beginMember() throws -> Bool {
        var zeroes = 0
        repeat {
            try fetch(CompressedFormat.markLength)
            zeroes = input[taken...].prefix { $0 == 0 }.count
            taken += zeroes
        } while zeroes > 0
        guard taken < input.count else { return false }
        guard CompressedFormat(head: input[taken...].prefix(CompressedFormat.markLength)) == format else {
            throw ArchiveReader.Damage(reason: "something else follows the compressed data")
        }
        try decoder.begin()
        isInMember = true
        checked = filled
        return true
    }

    /// Reads on until there are `count` bytes to decode, or the source ends.
    private func fetch(_ count: Int) throws {
        while input.count - taken < count, !isSourceAtEnd {
            let read = try source.read(into: &block)
            input.removeSubrange(..<taken)
            input += block[..<read]
            taken = 0
            isSourceAtEnd = read == 0
        }
    }
}
