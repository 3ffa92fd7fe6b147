import Importer

/// The files that a host has made for the jobs of a schema.
extension RecordedFile {
    func save(_ connection: PGConnection, host: String) throws {
        _ = try connection.execute(
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

    static func all(_ connection: PGConnection, ofHost host: String) throws -> [RecordedFile] {
        try files(connection, "WHERE host = $1", host)
    }

    /// Those that nobody needs any more.
    static func left(_ connection: PGConnection, ofHost host: String) throws -> [RecordedFile] {
        try files(
            connection,
            """
            WHERE host = $1 AND (state = 'left' OR NOT EXISTS (
                SELECT 1 FROM _import_job AS job WHERE job.token = file.token AND job.state <> 'finished'
            ))
            """,
            host
        )
    }

    private static func files(
        _ connection: PGConnection,
        _ condition: String,
        _ host: String
    ) throws -> [RecordedFile] {
        try connection.execute(
            "SELECT token, path, kind, state, is_made, device, inode FROM _import_file AS file \(condition) ORDER BY path",
            [.text(host)]
        ).compactMap { row in
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
