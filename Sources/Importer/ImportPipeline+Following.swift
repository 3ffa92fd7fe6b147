import ImportEngine
import ImportSQLite
import ImportSources

/// An import that goes on with what comes, one round after the other: each imports what is new by then, as the next call would.
extension ImportPipeline {
    /// Imports what is there and what comes, until it is interrupted.
    ///
    /// - Throws: `ImportError`: that of the interruption, or of a store that cannot be written.
    func follow(into destination: some RecordDestination) throws -> Outcome {
        let sources = try followedSources()
        let run = FollowedRun(SourceListing([], given: nil))
        defer {
            destination.tidyUp()
            destination.unlock()
        }
        // It stays in WAL mode: who reads it does not keep the import waiting.
        (destination as? SQLiteDestination)?.isFollowed = true
        try destination.check()
        try destination.lock()
        var failures = 0
        while true {
            let new = try sources.next()
            if new.isEmpty {
                failures = 0
            } else {
                progress.beginRound()
                do {
                    try round(new, of: sources, run, into: destination)
                    sources.take(new)
                    failures = 0
                } catch let error as ImportError where Self.mayPass(error) && failures < Self.mostFailures {
                    // A file has gone or was renamed meanwhile, say: what is begun goes on with the files as they are then.
                    failures += 1
                    sources.lookAgain()
                }
            }
            progress.update { $0.phase = .following }
            try sources.wait()
            try (destination as? SQLiteDestination)?.checkPlace()
        }
    }

    /// How often in a row a round may fail.
    private static let mostFailures = 5

    private static func mayPass(_ error: ImportError) -> Bool {
        error.code == .badInput || error.code == .noInput || error.reason == .storeInUse
    }

    private func followedSources() throws -> FollowedSources {
        guard case .sources(let arguments, let job) = request else {
            throw ImportError(
                .optionsConflict,
                at: store,
                "\(.follows) is for an import of sources",
                advice: "Leave it out."
            )
        }
        let limits: [(MessageText, Bool)] = [
            ("\(.mirror)", job.mirror != nil), ("\(.again)", runOptions.again), ("\(.restart)", runOptions.restart),
            ("\(.limit)", job.limit != nil), ("\(.skip)", job.skip > 0), ("\(.maxErrors)", job.maxErrors != nil),
        ]
        for (option, isGiven) in limits where isGiven {
            throw ImportError(
                .optionsConflict,
                at: store,
                "\(.follows) excludes \(option): what comes has no end",
                advice: "Leave one of them out."
            )
        }
        try job.check()
        try runOptions.check()
        var selection = SourceSelection(job)
        selection.takesRotated = true
        return try FollowedSources(
            arguments,
            selection,
            encoding: job.encoding,
            every: runOptions.commitInterval,
            opener,
            interruption
        ) { [progress] text in progress.update { $0.messages.append(text) } }
    }

    /// Imports what is new of the sources.
    ///
    /// Where one of them cannot be imported, the others are, and that is said.
    private func round(
        _ new: [SourceDescription],
        of sources: FollowedSources,
        _ run: FollowedRun,
        into destination: some RecordDestination
    ) throws {
        guard case .sources(let arguments, _) = request else { return }
        do {
            var hasMore = true
            while hasMore {
                run.listing = SourceListing(new, given: SourceListing.absolute(arguments))
                let outcome: Outcome
                (outcome, hasMore) = try importOnce(into: destination, run)
                for source in outcome.report.badSources { sources.say("\(source): what is before that is imported") }
            }
        } catch let error as ImportError
            where error.code == .badInput || error.code == .noInput || error.code == .usage && run.job != nil
        {
            // A job that is not finished stands in the way of the next round.
            guard try destination.read({ try $0.unfinishedJobs().isEmpty }), error.reason != .fileNotFound else {
                throw error
            }
            guard new.count > 1 else {
                // It is imported when it changes, as far as it can be by then.
                return sources.say(error.text)
            }
            for source in new { try round([source], of: sources, run, into: destination) }
        }
    }
}
