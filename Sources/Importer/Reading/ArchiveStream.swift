import Foundation

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
        /// The path of the member in an archive of several; nil where there is only one.
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

    /// The paths of an archive's regular files, in its order; nil if this is one compressed file, not an archive.
    ///
    /// - Throws: `ImportError`: `.badInput` when the archive is damaged.
    static func members(
        of descriptor: Descriptor,
        format: CompressedFormat,
        name: String,
        interruption: Interruption
    ) throws -> [String]? {
        var members: [String] = []
        do {
            let file = DescriptorStream(file: descriptor, name: name, interruption: interruption)
            let reader = try ArchiveReader(file, seekable: file)
            while let member = try reader.nextMember() {
                if reader.isSingleFile { return nil }
                members.append(member)
            }
            return reader.isSingleFile ? nil : members
        } catch let damage as ArchiveReader.Damage {
            // Damage in a compressed file's very beginning is met again when it is read.
            if members.isEmpty, !format.isArchive { return nil }
            throw ImportError(
                .cannotDecompress,
                at: name,
                "cannot be decompressed: \(damage.reason)",
                advice: damage.advice
            )
        }
    }

    private static func decompress(_ origin: Origin, into queue: BlockQueue, interruption: Interruption) throws {
        var delivered: Int64 = 0
        do {
            let reader = try open(origin, interruption: interruption)
            guard try goToMember(of: reader, origin) else { return }
            while true {
                guard var block = queue.takeSpare() else { return }
                try interruption.check()
                let count = try reader.read(into: &block)
                if count == 0 { break }
                delivered += Int64(count)
                queue.push(.block(bytes: block, count: count))
            }
            guard origin.member == nil, !reader.isSingleFile, try reader.nextMember() != nil else { return }
            throw ImportError(
                .archiveAmbiguous,
                at: origin.name,
                "is an archive of several files, which cannot be told apart in a pipe",
                advice: "Give the archive's path instead."
            )
        } catch let damage as ArchiveReader.Damage {
            throw ImportError(
                .cannotDecompress,
                at: origin.name,
                "cannot be decompressed past \(delivered) decompressed bytes: \(damage.reason)",
                advice: damage.advice
            )
        }
    }

    private static func open(_ origin: Origin, interruption: Interruption) throws -> ArchiveReader {
        guard let wake = origin.wake else {
            let file = DescriptorStream(file: origin.descriptor, name: origin.name, interruption: interruption)
            return try ArchiveReader(file, seekable: file)
        }
        let rest = DescriptorStream(
            pipe: origin.descriptor,
            name: origin.name,
            wake: wake,
            interruption: interruption
        )
        return try ArchiveReader(PeekedStream(rest, head: origin.head), seekable: nil)
    }

    /// False where an empty compressed file has nothing to go to.
    private static func goToMember(of reader: ArchiveReader, _ origin: Origin) throws -> Bool {
        while let member = try reader.nextMember() {
            if origin.member == nil || origin.member == member { return true }
        }
        if let member = origin.member {
            throw ImportError(.archiveMemberNotFound, at: origin.name, "the archive no longer holds \(member)")
        }
        if reader.isSingleFile { return false }
        throw ImportError(.archiveEmpty, at: origin.name, "the archive holds no file")
    }
}
