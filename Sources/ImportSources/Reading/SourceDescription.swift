/// One input of a job, as it was when the job met it.
package struct SourceDescription: Sendable, Hashable, Codable {
    /// The path as given, `-` for standard input, or `archive.zip:member.json` for a member of an archive.
    package var name: String
    /// The file's absolute path; nil for standard input.
    package let path: String?
    /// The member's path inside an archive.
    package let member: String?
    /// True if the archive has no other member, so that the file's own name names its table; else nil.
    package var isOnlyMember: Bool?
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
    /// XXH3-64 of its first lines, to the end of one with more than four bytes, which stay as they are when it grows; nil where the
    /// fingerprint is, and where no such line ends in the first MiB.
    package var opening: String?
    /// How its text is encoded, as the job or its first bytes say; nil for UTF-8, and before it was looked into.
    package var encoding: String?
    /// How its text is rewritten; nil for a source that is read as it is, and before it was looked into.
    package var form: SourceForm?
    /// What an earlier job has imported of it, where this one goes on; nil for nothing.
    package var earlier: EarlierPart?
    /// Where reading ends, in bytes: behind the last whole line of a file that may still be written; nil for the file's end.
    package var end: Int64?
    /// The same; nil where that is the file's end.
    package var wholeEnd: Int64? { end == size ? nil : end }
    /// True if its file is gone, and what is at its path now was found to be another source; else nil.
    package var isGone: Bool?
    /// The job that has imported an earlier version of it, whose rows go when this one is imported; nil for none.
    package var replaces: Int64?

    /// The beginning of a source that has grown since it was imported.
    package struct EarlierPart: Sendable, Hashable, Codable {
        /// The job that has imported it.
        package let job: Int64
        /// Where its last record ends.
        package let end: SplitPosition
        /// XXH3-64 of all bytes before that, in hexadecimal.
        package let hash: String

        package init(job: Int64, end: SplitPosition, hash: String) {
            self.job = job
            self.end = end
            self.hash = hash
        }
    }

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
    package var isSound: Bool {
        (0...(1 << 53)).contains(size ?? 0) && path?.isEmpty != true && earlier?.end.isSound != false
    }

    /// The path whose last part names its table; nil for a stream.
    package var namingPath: String? { isOnlyMember == true ? path : member ?? path }

    /// True if the source can be read a second time.
    package var isRepeatable: Bool { path != nil }

    /// What a source that can be read again is found by: its path, and its member's in an archive; nil for a stream, and for one that
    /// is gone.
    package var key: BytewiseString? {
        guard let path, isGone != true else { return nil }
        return BytewiseString(member.map { "\(path)\n\($0)" } ?? path)
    }

    /// What is known of how it begins.
    package var beginnings: Set<String> { Set([fingerprint, opening].compactMap(\.self)) }

    /// The same source, rewritten as another one was.
    package func read(as other: SourceDescription) -> SourceDescription {
        var source = self
        source.form = other.form
        return source
    }

    /// The same source with the path, and the member, that it has by now.
    package func moved(to other: SourceDescription) -> SourceDescription {
        var moved = other
        (moved.fingerprint, moved.opening, moved.encoding, moved.form) = (fingerprint, opening, encoding, form)
        (moved.earlier, moved.replaces) = (earlier, replaces)
        return moved
    }

    /// The same source, as it was, in another file.
    package func located(at other: SourceDescription) -> SourceDescription {
        var located = SourceDescription(
            name: other.name,
            path: other.path,
            member: other.member,
            size: size,
            modified: modified,
            changed: changed,
            inode: inode,
            isCompressed: other.isCompressed,
            fingerprint: fingerprint
        )
        (located.opening, located.encoding, located.form) = (opening, encoding, form)
        located.isOnlyMember = other.isOnlyMember
        (located.earlier, located.replaces, located.end) = (earlier, replaces, end)
        return located
    }

    /// The same source, with the fingerprint of what it begins with.
    package func fingerprinted(_ sample: [UInt8]) -> SourceDescription {
        var source = self
        source.fingerprint = sample.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        var start = sample.startIndex
        while let end = sample[start...].firstIndex(of: 0x0A) {
            if end - start > 4 {
                source.opening = sample[...end].withUnsafeBytes { XXH3Hasher.digest(of: $0) }
                break
            }
            start = end + 1
        }
        return source
    }

    /// The same source, read as it is.
    package var plain: SourceDescription {
        var source = self
        source.form = nil
        return source
    }

    /// How many bytes of it are to be read, where that is known before they are.
    package var plainSize: Int64? {
        isCompressed || encoding != nil || form != nil
            ? nil : (end ?? size).map { max(0, $0 - (earlier?.end.byteOffset ?? 0)) }
    }
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
    /// The same sources, with the names by which their files were given before, and no longer than they were then.
    package func given(as before: [SourceDescription]) -> [SourceDescription] {
        var known: [BytewiseString: (name: String, end: Int64?)] = [:]
        for source in before {
            guard let path = source.path else { continue }
            let end = source.member.map { ":\($0)" } ?? ""
            let name = source.name.hasSuffix(end) ? String(source.name.dropLast(end.count)) : source.name
            known[BytewiseString(path)] = (name, source.end)
        }
        return map { source in
            guard let (name, end) = source.path.flatMap({ known[BytewiseString($0)] }) else { return source }
            var given = source
            given.name = source.member.map { "\(name):\($0)" } ?? name
            given.end = end
            return given
        }
    }

    /// The paths of their files, each once.
    package var files: [String] {
        var seen: Set<BytewiseString> = []
        return compactMap(\.path).filter { seen.insert(BytewiseString($0)).inserted }
    }
}
