import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

struct ChunkDecoderTests {
    /// A chunk of forty records, of which two do not fit, and where a decoder of it is made.
    private struct Cut {
        static let faulty: Set = [5, 20]

        /// Its files are there as long as this is.
        let given: MemoryImport
        let run: JobRun
        let chunk: SealedChunk

        init() throws {
            var given = try MemoryImport(MemoryImport.document(items: 40, faulty: Self.faulty), hasModel: false)
            given.run.chunkSize = 1 << 20
            self.given = given
            run = try given.start().inferModel()
            let entries = try #require(try ChunkManifest.read(in: run.directory)).entries
            try #require(entries.filter { $0.records > 0 }.count == 1)
            chunk = SealedChunk(
                entries[0],
                in: run.directory,
                shape: run.job.sources[0].shape,
                maxRecordBytes: 1_000
            )
        }

        func decoder(skipping committed: CommittedPrefix = .none) throws -> ChunkDecoder {
            let model = try ModelDescription(parsing: Array(MemoryImport.model.utf8))
            let plan = try EntityPlan(entity: model.entities[0], index: 0)
            let decoder = ChunkDecoder(plans: [[plan]], entities: 1, options: JobOptions(model: model))
            try decoder.open([chunk], skipping: committed, source: "item.json")
            return decoder
        }
    }

    /// What batches have, one after the other.
    private struct Decoded: Equatable {
        var rows: [String] = []
        var rejects: [Int64] = []
        var read: Int64 = 0
        /// How far each batch goes, as commits note it.
        var prefixes: [CommittedPrefix] = []
        var areEnds: [Bool] = []

        init(_ decoder: ChunkDecoder, by size: Int) {
            var batch = DecodedBatch()
            while !decoder.isExhausted {
                decoder.decode(upTo: size, into: &batch)
                rows += batch.rows.texts(of: 0, attributes: 1, decoder.bytes)
                rejects += batch.rows.rejects.map(\.ordinal)
                read += batch.rows.recordsRead.reduce(0, +)
                let end = batch.rows.end
                prefixes.append(CommittedPrefix(records: end.chunkRecords, hash: end.chunkHash))
                areEnds.append(end.isChunkEnd)
            }
        }
    }

    @Test(arguments: [1, 3, 39, 40, 1_000]) func batchesOfAnySizeHaveEachRecordOnce(size: Int) throws {
        let decoded = Decoded(try Cut().decoder(), by: size)
        #expect(decoded.rows == (0..<40).filter { !Cut.faulty.contains($0) }.map(String.init))
        #expect(decoded.rejects == [6, 21])
        #expect(decoded.read == 40)
        #expect(decoded.areEnds == Array(repeating: false, count: (40 + size - 1) / size - 1) + [true])
    }

    /// Wherever a commit ended, a decoder that skips it has the rest.
    @Test(arguments: [1, 7, 21, 39]) func continuesAfterWhatIsCommitted(records: Int) throws {
        let cut = try Cut()
        let whole = Decoded(try cut.decoder(), by: 1)
        let prefix = whole.prefixes[records - 1]
        #expect(prefix.records == records)
        let rest = Decoded(try cut.decoder(skipping: prefix), by: 10)
        #expect(rest.rows == (records..<40).filter { !Cut.faulty.contains($0) }.map(String.init))
        #expect(rest.read == Int64(40 - records))
    }

    /// What is committed is compared by its hash, however many records it says to be.
    @Test(arguments: [1, 7, 40, 41]) func refusesAChunkThatBeginsOtherwise(records: Int) throws {
        let cut = try Cut()
        let other = Decoded(try cut.decoder(), by: 2).prefixes[2].hash
        let error = #expect(throws: ImportError.self) {
            try cut.decoder(skipping: CommittedPrefix(records: records, hash: other))
        }
        #expect(error?.code == .badInput)
    }

    @Test func refusesAChunkThatIsNotWhatWasSealed() throws {
        let cut = try Cut()
        let file = URL(filePath: cut.run.directory.path + "/" + ChunkDirectory.fileName(cut.chunk.entry.number))
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let error = #expect(throws: ImportError.self) { try cut.decoder() }
        #expect(error?.code == .io)
    }
}
