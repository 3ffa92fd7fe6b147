import Foundation
import ImportModel

/// Finds out what a command's `SOURCE` arguments stand for, and opens the sources.
package struct SourceOpener: Sendable {
    /// What `-` reads; the descriptor is never closed.
    package var standardInput: Int32 = 0
    /// What the source with their name reads, where a program gives records.
    package var records: ProgramRecords?
    /// True if only the very file that was described is opened, as another one may be at its path by now.
    package var opensSameFile = false

    package init(standardInput: Int32 = 0, records: ProgramRecords? = nil) {
        self.standardInput = standardInput
        self.records = records
    }

    /// The sources of a path: one, or one per regular file of an archive of several, in its order.
    ///
    /// Regular files are looked into; pipes and devices are left alone until they are opened, and count as sources that
    /// cannot be read twice (`path` is nil).
    ///
    /// - Parameters:
    ///   - argument: a path, or `-` for standard input.
    ///   - selection: which files of an archive of several are sources; nil for all.
    ///   - interruption: what ends the reading of a long archive.
    ///   - announce: told what an archive has that is left out, in words.
    /// - Returns: at least one source.
    /// - Throws: `ImportError`: `.noInput` when there is no such file, it is a directory, or may not be read; `.badInput`
    ///   when it is a damaged or empty archive.
    package func describe(
        _ argument: String,
        _ selection: SourceSelection? = nil,
        interruption: Interruption,
        announce: (MessageText) -> Void = { _ in }
    ) throws -> [SourceDescription] {
        try describe(find(argument), selection, interruption: interruption, announce: announce)
    }

    /// What the system notes of an argument's file, which is not looked into: it may be an archive.
    ///
    /// - Throws: `ImportError` with `.noInput` when it is not there, or is a directory.
    func find(_ argument: String) throws -> SourceDescription {
        if argument == "-" || argument == records?.name { return .pipe(named: argument) }
        var status = stat()
        guard stat(argument, &status) == 0 else { throw ImportError.cannotOpen(argument, errno: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return SourceDescription(argument, at: SourceDescription.absolutePath(argument), status)
        case S_IFDIR:
            throw ImportError(
                .isDirectory,
                at: argument,
                "is a directory",
                advice: "Name the files in it, or give a chunk directory made by a split (\(call: .splitting))."
            )
        default: return .pipe(named: argument)
        }
    }

    /// The sources in a file that was found.
    func describe(
        _ file: SourceDescription,
        _ selection: SourceSelection?,
        interruption: Interruption,
        announce: (MessageText) -> Void
    ) throws -> [SourceDescription] {
        guard file.isRepeatable else { return [file] }
        let argument = file.name
        let descriptor = try Descriptor.open(argument, waits: true)
        let stream = DescriptorStream(file: descriptor, name: argument, interruption: interruption)
        let head = try PeekedStream(stream).peek(CompressedFormat.headLength)
        guard CompressedFormat(head: head) != nil else { return [file] }
        _ = stream.seek(0, SEEK_SET)
        let origin = ArchiveStream.Origin(descriptor: descriptor, head: [], wake: nil, name: argument, member: nil)
        var leftOut: [String] = []
        let members = try ArchiveStream.members(of: origin, leftOut: &leftOut, interruption: interruption)
        if !leftOut.isEmpty {
            let names = leftOut.prefix(5).map(\.printable) + (leftOut.count > 5 ? ["…"] : [])
            announce(
                """
                \(argument.shownPath): links and other members without data of their own are left out, \(leftOut.count.grouped): \
                \(names.joined(separator: ", "))
                """
            )
        }
        guard let members else { return [file.compressed()] }
        if members.count == 1 {
            var only = file.compressed(members[0].name)
            only.isOnlyMember = true
            return [only]
        }
        let names = try selection.map { try Self.select(members, in: argument, $0, announce) } ?? members.map(\.name)
        return try sources(in: file, members: names)
    }

    /// What a source of an earlier run is now: its size and time may be others.
    ///
    /// - Throws: `ImportError`, as `describe` does, or when an archive has no such member any more.
    package func describe(again source: SourceDescription, interruption: Interruption) throws -> SourceDescription {
        guard let path = source.path else { return source }
        guard var now = try describe(path, interruption: interruption).first(where: { $0.member == source.member })
        else {
            throw ImportError(.archiveMemberNotFound, at: source.name, "the archive no longer has this member")
        }
        guard !opensSameFile || now.inode == source.inode else { throw Self.isRenamed(source) }
        (now.name, now.fingerprint, now.encoding) = (source.name, source.fingerprint, source.encoding)
        (now.form, now.end) = (source.form, source.end)
        (now.opening, now.earlier, now.replaces) = (source.opening, source.earlier, source.replaces)
        return now
    }

    private static func isRenamed(_ source: SourceDescription) -> ImportError {
        ImportError(.fileNotFound, at: source.name, "has another name by now")
    }

    /// A file that was described before, with what the system notes of it now; nil where it is no file any more.
    func look(again source: SourceDescription, at path: String) -> SourceDescription? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let file = SourceDescription(path, at: SourceDescription.absolutePath(path), status)
        var now = source.isCompressed ? file.compressed(source.member) : file
        now.isOnlyMember = source.isOnlyMember
        (now.name, now.encoding) = (source.name, source.encoding)
        return now
    }

    /// The paths of an archive's members that are sources.
    private static func select(
        _ members: [ArchiveStream.Member],
        in archive: String,
        _ selection: SourceSelection,
        _ announce: (MessageText) -> Void
    ) throws -> [String] {
        var (names, leftOut) = ([String](), LeftOutFiles())
        for member in members {
            let isTaken = selection.takes(member: member.name, of: archive)
            if isTaken { names.append(member.name) }
            if !isTaken || member.isEmpty { leftOut.add(member.name) }
        }
        guard !names.isEmpty || members.isEmpty else { throw leftOut.nothing(in: archive) }
        if !leftOut.isEmpty { announce("\(archive.shownPath): \(leftOut.words)") }
        return names
    }

    private func sources(in file: SourceDescription, members: [String]) throws -> [SourceDescription] {
        let archive = file.name
        guard !members.isEmpty else {
            throw ImportError(.archiveEmpty, at: archive, "the archive holds no file")
        }
        var names: Set<String> = []
        for member in members where !names.insert(member).inserted {
            throw ImportError(
                .archiveAmbiguous,
                at: archive,
                "the archive holds \(member) more than once",
                advice: "Unpack it and import the files that you need."
            )
        }
        return members.map(file.compressed)
    }

    /// Opens a source at an offset in its decompressed bytes.
    ///
    /// A plain file is opened right there; of any other source the bytes before are read and passed over. At 0, a byte
    /// order mark is taken off, and the stream's `offset` says so.
    ///
    /// - Parameters:
    ///   - source: as `describe` gave it, now or in an earlier run.
    ///   - offset: where to begin, in decompressed bytes.
    ///   - interruption: what ends a read that waits.
    /// - Returns: the stream, at `offset`, or past a byte order mark.
    /// - Throws: `ImportError`: `.noInput` when it cannot be opened; `.badInput` when it is not UTF-8, or shorter than
    ///   `offset`.
    package func open(
        _ source: SourceDescription,
        at offset: Int64 = 0,
        interruption: Interruption
    ) throws -> SourceStream {
        if let path = source.path {
            return try openFile(path, source, at: offset, interruption: interruption)
        }
        if ProgramRecords.isName(source.name) { return try openRecords(source, at: offset, interruption: interruption) }
        let descriptor =
            source.name == "-"
            ? Descriptor(borrowing: standardInput) : try Descriptor.open(source.name, waits: false)
        return try openPipe(descriptor, source, at: offset, interruption: interruption)
    }

    private func openRecords(
        _ source: SourceDescription,
        at offset: Int64,
        interruption: Interruption
    ) throws -> SourceStream {
        guard let records, records.name == source.name else {
            throw ImportError(
                .recordsNotGiven,
                at: source.name,
                "were given by a program, which has to give them again",
                advice: "Run that program again: the import resumes where it stopped."
            )
        }
        return try SourceStream(
            records.open(interruption),
            from: 0,
            at: offset,
            totalBytes: nil,
            name: source.name,
            interruption: interruption
        )
    }

    private func openFile(
        _ path: String,
        _ source: SourceDescription,
        at offset: Int64,
        interruption: Interruption
    ) throws -> SourceStream {
        let descriptor = try Descriptor.open(path, waits: true)
        var status = stat()
        if opensSameFile, let inode = source.inode, fstat(descriptor.number, &status) == 0, status.st_ino != inode {
            throw Self.isRenamed(source)
        }
        let file = DescriptorStream(file: descriptor, name: source.name, interruption: interruption)
        let head = try PeekedStream(file).peek(CompressedFormat.headLength)
        guard CompressedFormat(head: head) == nil else {
            _ = file.seek(0, SEEK_SET)
            let origin = ArchiveStream.Origin(
                descriptor: descriptor,
                head: [],
                wake: nil,
                name: source.name,
                member: source.member
            )
            let stream = try ArchiveStream(origin, interruption: interruption)
            return try readFromBeginning(stream, source, to: offset, interruption)
        }
        guard source.encoding == nil, source.form == nil, SourceEncoding(head: head) == .utf8 else {
            _ = file.seek(0, SEEK_SET)
            let stream: any ByteStream = source.end.map { LimitedStream(file, count: $0) } ?? file
            return try readFromBeginning(stream, source, to: offset, interruption)
        }
        guard let whole = file.seek(0, SEEK_END) else { throw ImportError.cannotRead(source.name, errno: errno) }
        let size = min(whole, source.end ?? whole)
        let start = min(offset, size)
        _ = file.seek(start, SEEK_SET)
        return try SourceStream(
            source.end == nil ? file : LimitedStream(file, count: size - start),
            from: start,
            at: offset,
            totalBytes: size,
            name: source.name,
            interruption: interruption
        )
    }

    private func openPipe(
        _ descriptor: Descriptor,
        _ source: SourceDescription,
        at offset: Int64,
        interruption: Interruption
    ) throws -> SourceStream {
        let name = source.name
        let wake = try WakePipe()
        interruption.onRequest { wake.wake() }
        let pipe = PeekedStream(
            DescriptorStream(pipe: descriptor, name: name, wake: wake, interruption: interruption)
        )
        let head = Array(try pipe.peek(CompressedFormat.headLength))
        guard CompressedFormat(head: head) != nil else {
            return try readFromBeginning(pipe, source, to: offset, interruption)
        }
        let origin = ArchiveStream.Origin(descriptor: descriptor, head: head, wake: wake, name: name, member: nil)
        let stream = try ArchiveStream(origin, interruption: interruption)
        return try readFromBeginning(stream, source, to: offset, interruption)
    }

    /// A stream of all of a source's bytes, of which those before `offset` are read and passed over.
    private func readFromBeginning(
        _ stream: any ByteStream,
        _ source: SourceDescription,
        to offset: Int64,
        _ interruption: Interruption
    ) throws -> SourceStream {
        try SourceStream(
            stream,
            from: 0,
            at: offset,
            totalBytes: nil,
            encoding: source.encoding,
            form: source.form,
            name: source.name,
            interruption: interruption
        )
    }
}

extension SourceDescription {
    /// The name for messages.
    ///
    /// Control characters in it are escaped: it may go to a terminal.
    package var displayName: String { name.shownPath }

    /// True if its file is at its path, whatever has become of it.
    package var isInPlace: Bool {
        var status = stat()
        guard let path else { return true }
        return stat(path, &status) == 0 && (inode == nil || UInt64(status.st_ino) == inode)
    }

    fileprivate static func pipe(named name: String) -> SourceDescription {
        SourceDescription(name: name, path: nil, member: nil, size: nil, modified: nil)
    }

    /// A plain file.
    ///
    /// - Parameters:
    ///   - name: its path as given.
    ///   - path: its path without symbolic links.
    init(_ name: String, at path: String, _ status: stat) {
        self.init(
            name: name,
            path: path,
            member: nil,
            size: Int64(status.st_size),
            modified: Self.nanoseconds(status.st_mtim),
            changed: Self.nanoseconds(status.st_ctim),
            inode: UInt64(status.st_ino)
        )
    }

    /// The same file, whose bytes are compressed, or a member of it.
    fileprivate func compressed(_ member: String? = nil) -> SourceDescription {
        SourceDescription(
            name: member.map { "\(name):\($0)" } ?? name,
            path: path,
            member: member,
            size: size,
            modified: modified,
            changed: changed,
            inode: inode,
            isCompressed: true
        )
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The path without symbolic links (`realpath(3)`), so that it means the same file from wherever it is named.
    package static func absolutePath(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
