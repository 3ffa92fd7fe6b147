import ArgumentParser
import Foundation
import Importer

/// The options that may differ at every resume: the result does not depend on them.
struct RunArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Workers, each with its own store connection.",
            discussion: "Default: processors, at most 4.",
            valueName: "n"
        )
    )
    var workers: Int?

    @Option(help: ArgumentHelp("Size at which a chunk is closed, with K/M/G suffixes, at most 1G.", valueName: "bytes"))
    var chunkSize = ByteSize(count: RunOptions().chunkSize)

    @Option(
        help: ArgumentHelp("Records per commit; a commit never spans two chunks.", valueName: "n")
    )
    var commitEvery = RunOptions().commitEvery

    @Option(
        help: ArgumentHelp(
            "Directory for chunks; it must not have chunks of another import.",
            discussion: "Default: the store's path with .chunks.",
            valueName: "dir"
        )
    )
    var chunks: String?

    @Flag(help: "Keep the chunk directory.")
    var keepChunks = false

    @Option(
        help: ArgumentHelp("SQLite's synchronous setting while importing: full, normal or off.", valueName: "level")
    )
    var durability = RunOptions.Durability.normal

    @Option(
        name: .customLong("index"),
        help: ArgumentHelp("Index to build at the end, on these attributes. May be repeated.", valueName: "a,b"),
        transform: InferenceArguments.names
    )
    var indexes: [[String]] = []

    var options: RunOptions {
        RunOptions(
            workers: Self.workers(workers),
            chunkSize: chunkSize.count,
            commitEvery: commitEvery,
            chunkDirectory: chunks,
            keepsChunks: keepChunks,
            durability: durability,
            indexes: indexes
        )
    }

    func validate() throws {
        try ShapeArguments.check(workers ?? 1, "--workers", in: 1...256)
        try ShapeArguments.check(chunkSize.count, "--chunk-size", in: 1...RunOptions.mostChunkBytes)
        try ShapeArguments.check(commitEvery, "--commit-every", in: 1...(.max))
        if chunks?.isEmpty == true { throw ValidationError("--chunks: the path is empty") }
    }

    /// The workers asked for, or as many as there are processors, at most 4.
    static func workers(_ given: Int?) -> Int {
        given ?? min(max(ProcessInfo.processInfo.activeProcessorCount, 1), 4)
    }
}

extension RunOptions.Durability: ExpressibleByArgument {}
