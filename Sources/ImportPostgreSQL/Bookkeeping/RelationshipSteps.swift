import ImportModel
import Importer

/// How far the settling of a job's relationships is: each step is one transaction of the importing process.
struct RelationshipSteps {
    /// The job's row among those of buckets.
    private static let position: Int64 = -1

    /// What is counted of relationships has this number in place of a chunk's, and of buckets' errors.
    static let chunk: Int64 = -1_000_000

    let job: Int64
    let session: PGLockingSession

    /// Notes that none is done.
    static func begin(_ job: Int64, _ connection: PGConnection) throws {
        try BookkeepingSchema.prepareSettling(connection)
        connection.post(
            """
            INSERT INTO _import_settle (job, position, bucket, state) VALUES ($1, $2, 0, 'steps')
            ON CONFLICT DO NOTHING
            """,
            [.integer(job), .integer(position)]
        )
    }

    /// Notes that a step is done, with the one before it and in its transaction.
    func note(_ number: Int64, _ connection: PGConnection) throws {
        _ = try connection.execute(
            "UPDATE _import_settle SET attempts = $3 WHERE job = $1 AND position = $2 AND bucket = 0",
            [.integer(job), .integer(Self.position), .integer(number)]
        )
    }

    /// Does a step, unless it is done already.
    ///
    /// - Parameter number: from 1; those before it are done.
    func take(_ number: Int64, _ body: (PGConnection) throws -> Void) throws {
        try session.write { connection in
            let isNext =
                try connection.execute(
                    """
                    UPDATE _import_settle SET attempts = attempts + 1
                    WHERE job = $1 AND position = $2 AND bucket = 0 AND attempts = $3
                    """,
                    [.integer(job), .integer(Self.position), .integer(number - 1)]
                ).affected == 1
            guard isNext else { return }
            connection.isInterruptible = true
            defer { connection.isInterruptible = false }
            // As for buckets: one processor, and no compiling.
            for setting in ["work_mem = '64MB'", "jit = off"] { connection.post("SET LOCAL \(setting)") }
            try body(connection)
        }
    }
}
