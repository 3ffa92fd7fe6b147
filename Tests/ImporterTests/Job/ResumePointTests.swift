import Foundation
import Importer
import TestSupport
import Testing

/// The store says where a job continues, and chunks are used only where they fit that.
struct ResumePointTests {
    /// A job whose chunks are all cut and not imported.
    private struct Cut {
        let given: MemoryImport
        let run: JobRun
        let entries: [ChunkEntry]

        init() throws {
            given = try MemoryImport(MemoryImport.document(items: 60), hasModel: false)
            run = try given.start().inferModel()
            entries = try #require(try ChunkManifest.read(in: run.directory)).entries
            try #require(entries.count > 4)
        }

        /// The marker of a store that has the first chunks.
        func marker(chunks: Int) -> Marker {
            var marker = Marker()
            guard let last = entries.prefix(chunks).last else { return marker }
            marker.chunkStart = last.end
            marker.byteOffset = last.endByte
            marker.recordOrdinal = last.firstOrdinal + Int64(last.records) - 1
            marker.chunksDone = chunks
            return marker
        }

        func point(_ marker: Marker, token: String? = nil, ends: [Int64?]? = nil) throws -> ResumePoint {
            try ResumePoint(
                marker: marker,
                outsideNames: [],
                shapes: run.job.sources.map(\.shape),
                ends: ends ?? run.job.sources.map(\.description.end),
                directory: run.directory,
                token: token ?? run.job.token,
                interruption: Interruption()
            )
        }

        func damage(_ entry: ChunkEntry) throws {
            let file = URL(filePath: run.directory.path + "/" + ChunkDirectory.fileName(entry.number))
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: file)
        }
    }

    @Test(arguments: 0...3) func takesTheChunksThatFollowTheMarker(chunks: Int) throws {
        let cut = try Cut()
        let point = try cut.point(cut.marker(chunks: chunks))
        #expect(point.chunks == Array(cut.entries[chunks...]))
        #expect(point.isSplit)
    }

    /// A source that is read up to another place than the chunks were cut to has another last chunk.
    @Test func takesNoChunkOfASourceThatEndsElsewhere() throws {
        let cut = try Cut()
        let point = try cut.point(cut.marker(chunks: 1), ends: [1_000_000])
        #expect(point.chunks.isEmpty)
        #expect(!point.isSplit)
        #expect(point.split.position == cut.entries[0].end)
    }

    /// What follows a damaged chunk is cut again, too, as chunks are numbered one after the other.
    @Test func takesNoChunkFromADamagedOneOn() throws {
        let cut = try Cut()
        try cut.damage(cut.entries[2])
        let point = try cut.point(Marker())
        #expect(point.chunks == Array(cut.entries[..<2]))
        #expect(!point.isSplit)
        #expect(point.split.position == cut.entries[1].end)
        #expect(point.split.firstOrdinal == cut.entries[2].firstOrdinal)
        #expect(point.split.chunkNumber == cut.entries[2].number)
    }

    /// A marker at which no chunk begins is that of other chunks.
    @Test func cutsAllAgainWhereNoChunkBeginsAtTheMarker() throws {
        let cut = try Cut()
        var marker = cut.marker(chunks: 1)
        marker.chunkStart.byteOffset += 1
        let point = try cut.point(marker)
        #expect(point.chunks.isEmpty)
        #expect(point.split.position == marker.chunkStart)
        #expect(point.split.firstOrdinal == marker.recordOrdinal + 1)
    }

    @Test func takesNoChunksOfAnotherJob() throws {
        let cut = try Cut()
        let point = try cut.point(cut.marker(chunks: 1), token: "other")
        #expect(point.chunks.isEmpty)
        #expect(point.manifest == nil)
        #expect(point.split.position == cut.entries[0].end)
    }

    /// Of a chunk that is committed in part, the rest is what is left, wherever it is cut.
    @Test func continuesWithinAChunk() throws {
        let cut = try Cut()
        var marker = cut.marker(chunks: 1)
        marker.recordOrdinal += 2
        marker.chunkRecords = 2
        marker.chunkHash = "hash"
        marker.byteOffset += 20
        let point = try cut.point(marker)
        #expect(point.chunks == Array(cut.entries[1...]))
        #expect(point.committed == CommittedPrefix(records: 2, hash: "hash"))
        try cut.damage(cut.entries[1])
        let again = try cut.point(marker)
        #expect(again.chunks.isEmpty)
        #expect(again.split.position == cut.entries[0].end)
        #expect(again.split.firstOrdinal == cut.entries[1].firstOrdinal)
        #expect(again.split.minimumEnd == marker.byteOffset)
    }
}
