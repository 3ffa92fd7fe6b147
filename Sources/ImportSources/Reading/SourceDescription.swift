/// One input of a job, as it was when the job met it.
package struct SourceDescription: Sendable, Hashable, Codable {
    /// The path as given, `-` for standard input, or `archive.zip:member.json` for a member of an archive.
    package var name: String
    /// The file's absolute path; nil for standard input.
    package let path: String?
    /// The member's path inside an archive of several.
    package let member: String?
    /// The file's own size in bytes (compressed, if it is); nil for standard input.
    package let size: Int64?
    /// The file's modification time, in nanoseconds since 1970; nil for standard input.
    package let modified: Int64?
    /// The time of its last change, of its bytes or of what the system notes of it (`st_ctime`), in nanoseconds since 1970.
    ///
    /// Nil for standard input, and in what was written before this was noted.
    package var changed: Int64?
    /// The file's number on its disk (`st_ino`); nil where `changed` is.
    package var inode: UInt64?
    /// True if its bytes are compressed or in an archive, so that `size` is not its length.
    package var isCompressed = false
    /// XXH3-64 of its first MiB, decompressed, in hexadecimal; nil before it was looked into.
    package var fingerprint: String?
    /// How its text is encoded, as the job or its first bytes say; nil for UTF-8, and before it was looked into.
    package var encoding: String?
    /// How its text is rewritten; nil for a source that is read as it is, and before it was looked into.
    package var form: SourceForm?

    package init(
        name: String,
        path: String?,
        member: String?,
        size: Int64?,
        modified: Int64?,
        changed: Int64? = nil,
        inode: UInt64? = nil,
        isCompressed: Bool = false,
        fingerprint: String? = nil
    ) {
        self.name = name
        self.path = path
        self.member = member
        self.size = size
        self.modified = modified
        self.changed = changed
        self.inode = inode
        self.isCompressed = isCompressed
        self.fingerprint = fingerprint
    }

    /// True if it can be one, where it was read from somewhere.
    package var isSound: Bool { (0...(1 << 53)).contains(size ?? 0) && path?.isEmpty != true }

    /// True if the source can be read a second time.
    package var isRepeatable: Bool { path != nil }

    /// What a source that can be read again is found by: its path, and its member's in an archive; nil for a stream.
    package var key: String? {
        guard let path else { return nil }
        return member.map { "\(path)\n\($0)" } ?? path
    }

    /// The same source, with the fingerprint of what it begins with.
    package func fingerprinted(_ sample: [UInt8]) -> SourceDescription {
        var source = self
        source.fingerprint = sample.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        return source
    }

    /// The same source, read as it is.
    package var plain: SourceDescription {
        var source = self
        source.form = nil
        return source
    }

    /// Its length in bytes, where that is known before it is read.
    package var plainSize: Int64? { isCompressed || encoding != nil || form != nil ? nil : size }
}

extension [SourceDescription] {
    /// Their length in bytes together; nil where that of one is not known before it is read.
    package var plainSize: Int64? {
        reduce(Int64?(0)) { total, source in
            guard let total, let size = source.plainSize else { return nil }
            return total.addingClamped(size)
        }
    }
}

extension [SourceDescription] {
    /// The same sources, with the names by which their files were given before.
    package func named(as given: [SourceDescription]) -> [SourceDescription] {
        var names: [String: String] = [:]
        for source in given {
            guard let path = source.path else { continue }
            let end = source.member.map { ":\($0)" } ?? ""
            names[path] = source.name.hasSuffix(end) ? String(source.name.dropLast(end.count)) : source.name
        }
        return map { source in
            guard let name = source.path.flatMap({ names[$0] }) else { return source }
            var named = source
            named.name = source.member.map { "\(name):\($0)" } ?? name
            return named
        }
    }

    /// The paths of their files, each once.
    package var files: [String] {
        reduce(into: []) { files, source in
            if let path = source.path, !files.contains(path) { files.append(path) }
        }
    }
}
