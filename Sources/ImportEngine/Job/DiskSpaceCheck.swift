import Foundation
import ImportModel
import ImportSources

/// What a new import needs of its disks, as far as that is known before it begins.
///
/// Without a model all chunks are kept until it is inferred from all records: about as much as the sources have,
/// decompressed. With one, a few chunks wait at a time. The store comes to what its rows do, which nobody knows before.
package struct DiskSpaceCheck {
    package let job: StoredJob
    package let store: String
    package let opener: SourceOpener
    /// In bytes.
    package let chunkSize: Int64

    package init(
        job: StoredJob,
        store: String,
        opener: SourceOpener = SourceOpener(),
        chunkSize: Int64 = 8 << 20
    ) {
        self.job = job
        self.store = store
        self.opener = opener
        self.chunkSize = chunkSize
    }

    /// Makes sure that the chunks fit.
    ///
    /// - Returns: what is to be said where it may be too little; nil where there is room.
    /// - Throws: `ImportError` with `.io` where they certainly do not fit.
    package func check() throws -> MessageText? {
        guard job.options.model == nil, !job.takesChunks, job.options.limit == nil,
            let size = job.sources.map(\.description).plainSize, let chunks = Self.free(at: job.chunkDirectory)
        else { return nil }
        // Between records there is white space, which chunks do not have. Of a document the records may be any part.
        let isAllRecords =
            job.options.skip == 0
            && job.sources.allSatisfy { source in
                source.shape.paths.allSatisfy { ["$", "$[*]", "$.*"].contains($0) }
            }
        if isAllRecords, chunks.bytes - chunkSize < size {
            let least = Int64(Double(min(size, 1 << 60)) * leastShare)
            // Another chunk is not begun where there is no room for one of the last one's size.
            let isWhole = job.sources.count == 1 && least > chunkSize
            let needs = isWhole ? (least + chunkSize - 1) / chunkSize * chunkSize : least
            if chunks.bytes < needs { throw error(needs, free: chunks.bytes) }
        }
        let stored = Self.free(at: store)
        let needs = stored?.disk == chunks.disk ? size.addingReportingOverflow(size / 2).partialValue : size
        guard chunks.bytes < needs else { return nil }
        return "\(job.chunkDirectory): its disk has \(Self.text(chunks.bytes)) left, and the chunks of all records may "
            + "need \(Self.text(size)) until the model is inferred, besides the store (\(anyOf: .chunkDirectory) on another disk, or "
            + "\(anyOf: .model): \(call: inferring) prints one)"
    }

    private var inferring: MessageText.Call { .inferring(from: job.sources.map(\.description.name)) }

    /// The share of the sources that chunks have at least, by the beginning of the first one: what is not white space.
    private var leastShare: Double {
        let sample = try? opener.open(job.sources[0].description, interruption: Interruption()).peek().bytes
        guard let sample, !sample.isEmpty else { return 0.5 }
        return Double(sample.count { !ShapeDetector.isWhiteSpace($0) }) / Double(sample.count)
    }

    private func error(_ needs: Int64, free: Int64) -> ImportError {
        ImportError(
            .diskFull,
            at: job.chunkDirectory,
            "its disk has \(Self.text(free)) left, and the chunks need at least \(Self.text(needs))",
            advice: """
                All chunks are kept until the model is inferred from all records. Give a directory on another disk with \
                \(anyOf: .chunkDirectory), free some space, or give a model with \(anyOf: .model) (\(call: inferring) prints one): then a few chunks wait at a time.
                """
        )
    }

    private static func text(_ bytes: Int64) -> String {
        bytes < 10 << 20 ? "\(bytes >> 10) KiB" : bytes < 10 << 30 ? "\(bytes >> 20) MiB" : "\(bytes >> 30) GiB"
    }

    /// The free bytes and the number of the file system that holds a path, which need not exist; nil where that is not known.
    private static func free(at path: String) -> (bytes: Int64, disk: UInt)? {
        var url = URL(fileURLWithPath: path)
        var status = statvfs()
        while statvfs(url.path, &status) != 0 {
            guard errno == ENOENT, url.path != "/" else { return nil }
            url.deleteLastPathComponent()
        }
        var place = stat()
        guard stat(url.path, &place) == 0 else { return nil }
        let (bytes, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return (isTooLarge ? .max : Int64(clamping: bytes), UInt(place.st_dev))
    }
}
