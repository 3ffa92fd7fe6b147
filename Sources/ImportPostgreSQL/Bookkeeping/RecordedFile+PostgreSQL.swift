import Importer

/// The files that a host has made for the jobs of a schema.
extension RecordedFile {
    func save(_ connection: PGConnection, host: String) {
        connection.post(
            """
            INSERT INTO _import_file (host, token, path, kind, state, is_made, device, inode)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (host, token, path) DO UPDATE SET state = excluded.state, is_made = excluded.is_made,
                device = excluded.device, inode = excluded.inode
            """,
            [
                .text(host), .text(token), .text(path), .text(kind.rawValue), .text(state.rawValue), .boolean(isMade),
                number.map { .integer(Int64(bitPattern: UInt64($0.device))) } ?? .null,
                number.map { .integer(Int64(bitPattern: UInt64($0.inode))) } ?? .null,
            ]
        )
    }

    /// Asks for all files of a host, and which of them nobody needs any more.
    static func question(host: String) -> PGStatement {
        PGStatement(
            """
            SELECT token, path, kind, state, is_made, device, inode, state = 'left' OR NOT EXISTS (
                SELECT 1 FROM _import_job AS job WHERE job.token = file.token AND job.state <> 'finished'
            )
            FROM _import_file AS file WHERE host = $1 ORDER BY path
            """,
            [.text(host)]
        )
    }

    /// The files of a host.
    ///
    /// - Parameters:
    ///   - areLeft: whether only those count that nobody needs any more.
    ///   - questions: what is asked with it.
    static func files(
        _ connection: PGConnection,
        host: String,
        areLeft: Bool = false,
        with questions: [PGStatement] = []
    ) throws -> [RecordedFile] {
        try connection.ask(question(host: host), with: questions).compactMap { row in
            guard try !areLeft || row.bool(7) else { return nil }
            guard let kind = Kind(rawValue: try row.text(2)), let state = State(rawValue: try row.text(3)) else {
                return nil
            }
            var number: DeviceAndInode?
            if let device = try row.optionalInteger(5), let inode = try row.optionalInteger(6) {
                number = DeviceAndInode(
                    device: UInt(truncatingIfNeeded: device),
                    inode: UInt(truncatingIfNeeded: inode)
                )
            }
            var file = RecordedFile(
                token: try row.text(0),
                path: try row.text(1),
                kind: kind,
                isMade: try row.bool(4),
                number: number
            )
            file.state = state
            return file
        }
    }
}
