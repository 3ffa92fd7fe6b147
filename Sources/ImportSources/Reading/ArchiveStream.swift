import Foundation
import ImportModel

/// The bytes of a compressed file or of an archive's member, decompressed by a thread of its own.
final class ArchiveStream: ByteStream {
    /// What the thread is to read.
    struct Origin: Sendable {
        let descriptor: Descriptor
        /// The first bytes, where they have been read from the descriptor already.
        let head: [UInt8]
        /// What wakes the thread while it waits for input; nil for regular files.
        let wake: WakePipe?
        /// The source's name for messages.
        let name: String
        /// The path of the member in an archive; nil for the first one.
        let member: String?
    }

    private let queue = BlockQueue(blocks: 4, blockSize: 256 << 10)
    private let wake: WakePipe?
    private var block: [UInt8] = []
    private var blockCount = 0
    private var taken = 0
    private var failure: (any Error)?
    private var isAtEnd = false

    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    init(_ origin: Origin, interruption: Interruption) throws {
        wake = origin.wake
        let queue = queue
        try SystemThread.start(to: "decompress \(origin.name)", stackSize: 1 << 20) {
            do {
                try Self.decompress(origin, into: queue, interruption: interruption)
                queue.push(.end)
            } catch {
                queue.push(.failure(error))
            }
        }
    }

    deinit {
        queue.abandon()
        wake?.wake()
    }

    func read(into block: inout [UInt8]) throws -> Int {
        while taken == blockCount {
            if let failure { throw failure }
            if isAtEnd { return 0 }
            if !self.block.isEmpty {
                queue.giveBack(self.block)
                self.block = []
            }
            switch queue.pop() {
            case .block(let bytes, let count):
                self.block = bytes
                blockCount = count
            case .end:
                isAtEnd = true
                blockCount = 0
            case .failure(let error):
                failure = error
                blockCount = 0
            }
            taken = 0
        }
        let count = block.overwrite(with: self.block[taken..<blockCount])
        taken += count
        return count
    }

    /// A regular file of an archive.
    struct Member {
        let name: String
        /// True if it is known to have no byte.
        let isEmpty: Bool
    }

    /// An archive's regular files, in its order; nil if this is one compressed file, not an archive.
    ///
    /// Of a damaged archive these are the ones before the damage, the stream of the last of which ends with it.
    ///
    /// - Parameter leftOut: gets the paths of its members that have no data of their own, directories aside.
    /// - Throws: `ImportError`: `.badInput` when the archive is damaged before the first of them.
    static func members(of origin: Origin, leftOut: inout [String], interruption: Interruption) throws -> [Member]? {
        var members: [Member] = []
        do {
            guard case .archive(let reader) = try contents(of: origin, interruption: interruption) else { return nil }
            defer { leftOut = reader.leftOut }
            while let name = try reader.nextMember() { members.append(Member(name: name, isEmpty: reader.isEmpty)) }
            return members
        } catch let damage as ArchiveReader.Damage {
            if !members.isEmpty { return members }
            throw ImportError(
                .cannotDecompress,
                at: origin.name,
                "cannot be decompressed: \(damage.reason)",
                advice: damage.advice
            )
        }
    }

    private static func decompress(_ origin: Origin, into queue: BlockQueue, interruption: Interruption) throws {
        var delivered: Int64 = 0
        do {
            let contents = try Self.contents(of: origin, interruption: interruption)
            var stream = try decompressed(contents.stream(of: origin))
            while var block = queue.takeSpare() {
                try interruption.check()
                var count = try stream.read(into: &block)
                if count == 0 {
                    // What comes after a member may be damaged, and is a member of the same stream in a pipe.
                    guard case .archive(let reader) = contents, try reader.nextMember() != nil, origin.wake != nil
                    else { return }
                    stream = try decompressed(reader)
                    block[0] = UInt8(ascii: "\n")
                    count = 1
                }
                delivered += Int64(count)
                queue.push(.block(bytes: block, count: count))
            }
        } catch let damage as ArchiveReader.Damage {
            throw ImportError(
                .cannotDecompress,
                at: origin.name,
                "cannot be decompressed past \(delivered) decompressed bytes: \(damage.reason)",
                advice: damage.advice
            )
        }
    }

    /// A member of an archive, decompressed where it is a compressed file.
    private static func decompressed(_ member: any ByteStream) throws -> any ByteStream {
        // As much as is given of a damaged one before its checksum is known.
        var block = [UInt8](repeating: 0, count: 256 << 10)
        let count = try member.read(into: &block)
        var stream = PeekedStream(member, head: Array(block[..<count]))
        for _ in 0..<mostTimes {
            let format = CompressedFormat(head: try stream.peek(CompressedFormat.headLength))
            guard let format, let decoder = try format.decoder() else { return stream }
            stream = PeekedStream(DecompressedStream(stream, format, decoder: decoder))
        }
        throw ArchiveReader.Damage(reason: "it is compressed too many times")
    }

    /// Some files give themselves again when they are decompressed.
    private static let mostTimes = 8

    /// What is left when nothing is compressed any more.
    private enum Contents {
        case file(any ByteStream)
        case archive(ArchiveReader)

        /// The bytes of the file, or of the member that is meant.
        func stream(of origin: Origin) throws -> any ByteStream {
            switch self {
            case .file(let stream):
                if origin.member == nil { return stream }
            case .archive(let reader):
                while let member = try reader.nextMember() {
                    if origin.member == nil || origin.member == member { return reader }
                }
            }
            if let member = origin.member {
                throw ImportError(.archiveMemberNotFound, at: origin.name, "the archive no longer has \(member)")
            }
            throw ImportError(.archiveEmpty, at: origin.name, "the archive holds no file")
        }
    }

    private static func contents(of origin: Origin, interruption: Interruption) throws -> Contents {
        let file =
            if let wake = origin.wake {
                DescriptorStream(pipe: origin.descriptor, name: origin.name, wake: wake, interruption: interruption)
            } else {
                DescriptorStream(file: origin.descriptor, name: origin.name, interruption: interruption)
            }
        var stream = PeekedStream(file, head: origin.head)
        for depth in 0..<mostTimes {
            guard let format = CompressedFormat(head: try stream.peek(CompressedFormat.headLength)) else {
                return .file(stream)
            }
            guard let decoder = try format.decoder() else {
                // What was looked at is read again by seeking.
                var isSeekable = depth == 0 && file.isSeekable
                if isSeekable, format == .zip, let before = try ArchiveReader.bytesBeforeZip(in: file), before > 0 {
                    throw ArchiveReader.Damage(
                        reason: "it is several zip archives one after the other",
                        advice: "Split the file: the last one begins at byte \(before.grouped)."
                    )
                }
                isSeekable = isSeekable && file.seek(0, SEEK_SET) != nil
                return .archive(try ArchiveReader(isSeekable ? file : stream, seekable: isSeekable ? file : nil))
            }
            stream = PeekedStream(DecompressedStream(stream, format, decoder: decoder))
        }
        throw ArchiveReader.Damage(reason: "it is compressed too many times")
    }
}
