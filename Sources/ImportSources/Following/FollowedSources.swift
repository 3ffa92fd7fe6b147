import Foundation

/// The sources of an import that goes on with what comes: files that are added, and what files have grown by.
///
/// A file of lines is taken up to its last whole line at any time. Any other file is taken as a whole, when its writer has closed it
/// or nothing has come for a while. A file that was renamed is read to its end under its new name, whatever that is.
package final class FollowedSources {
    private let arguments: [String]
    private let selection: SourceSelection
    private let encoding: String?
    private let opener: SourceOpener
    private let interruption: Interruption
    /// The shortest time from one round to the next one, and the time after which a file is at rest.
    private let interval: Duration
    private let announce: (MessageText) -> Void
    private let watch: FolderWatch

    /// The sources that there are, by their keys, and their order.
    private var current: [BytewiseString: SourceDescription] = [:]
    private var order: [BytewiseString: Int] = [:]
    /// Those whose files may be others than they were when they were taken.
    private var changed: Set<BytewiseString> = []
    /// The sources as they were when they were taken last.
    private var taken: [BytewiseString: SourceDescription] = [:]
    private var archives: Set<BytewiseString> = []
    /// Files that were taken under other names: their names by their paths.
    private var renamed: [BytewiseString: String] = [:]
    /// Since when files are as they are now, where that is not long ago.
    private var resting: [BytewiseString: (file: SourceDescription, since: ContinuousClock.Instant)] = [:]
    private var closed: Set<BytewiseString> = []
    private var needsListing = true
    private var isFirst = true
    /// True if all are given, whatever was taken of them.
    private var givesAll = false
    private var lastRound: ContinuousClock.Instant?
    private var said: Set<String> = []

    /// - Parameters:
    ///   - arguments: paths of files and folders, and patterns; nothing needs to be there yet.
    ///   - encoding: how the texts of all sources are encoded; nil to judge each by its first bytes.
    ///   - announce: told what cannot be read now, in words.
    /// - Throws: `ImportError` with `.usage` where a source is a stream.
    package init(
        _ arguments: [String],
        _ selection: SourceSelection,
        encoding: String?,
        every interval: Duration,
        _ opener: SourceOpener,
        _ interruption: Interruption,
        _ announce: @escaping (MessageText) -> Void
    ) throws {
        (self.arguments, self.selection, self.encoding) = (arguments, selection, encoding)
        (self.interval, self.opener, self.interruption, self.announce) = (interval, opener, interruption, announce)
        watch = try FolderWatch(interruption)
        for argument in arguments {
            var status = stat()
            let isThere = stat(argument, &status) == 0
            guard case .stream = ImportSource(argument) else {
                guard isThere, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { continue }
                throw Self.isStream(argument)
            }
            throw Self.isStream(argument)
        }
    }

    private static func isStream(_ argument: String) -> ImportError {
        ImportError(
            .optionsConflict,
            at: argument,
            "is a stream, which is read until it ends; \(.follows) is for files and folders",
            advice: "Leave \(.follows) out."
        )
    }

    /// The sources that have come or changed since they were taken, as far as they can be taken now.
    ///
    /// - Throws: `ImportError` when it is interrupted.
    package func next() throws -> [SourceDescription] {
        if needsListing { try list() }
        var sources: [SourceDescription] = []
        for key in changed {
            guard var source = current[key] else { continue }
            let before = givesAll ? nil : taken[key]
            if let before, before.isUntouched(source) {
                changed.remove(key)
                continue
            }
            guard source.size != 0 else {
                changed.remove(key)
                continue
            }
            guard let end = wholeEnd(of: source) else { continue }
            // What comes while it is read is for the next round.
            if Self.isText(source) { source.end = end }
            if let before, before.inode == source.inode, before.wholeSize == end, end != source.size {
                // It has no more whole lines than before.
                changed.remove(key)
                continue
            }
            sources.append(source)
        }
        return sources.sorted { place(of: $0) < place(of: $1) }
    }

    private func place(of source: SourceDescription) -> Int { source.key.flatMap { order[$0] } ?? 0 }

    /// Notes that sources are imported as they were given by `next`, or cannot be until they change.
    package func take(_ sources: [SourceDescription]) {
        (lastRound, givesAll) = (.now, false)
        for source in sources {
            guard let key = source.key else { continue }
            taken[key] = source
            resting[key] = nil
            if let path = source.path { closed.remove(BytewiseString(path)) }
            if current[key].map({ $0.isUntouched(source) }) != false { changed.remove(key) }
        }
    }

    /// Looks at all files again, and gives all of them.
    package func lookAgain() {
        (lastRound, needsListing, givesAll) = (.now, true, true)
    }

    /// Waits until there may be something to take, at least for the time from one round to the next.
    ///
    /// - Throws: `ImportError` when it is interrupted.
    package func wait() throws {
        // A file that is not at rest now is looked at again soon; one that cannot be read, once a second.
        note(try watch.wait(atMost: changed.isEmpty ? needsListing ? .seconds(1) : nil : interval))
        if let lastRound { try watch.rest(lastRound + interval - .now) }
        note(try watch.wait(atMost: .zero))
        for key in changed { lookAgain(key) }
    }

    private func note(_ changes: FolderWatch.Changes) {
        if changes.needsListing { needsListing = true }
        closed.subtract(changes.written.subtracting(changes.closed))
        closed.formUnion(changes.closed)
        for path in changes.written where current[path] != nil { changed.insert(path) }
        // What an archive has is known when it is listed.
        if !archives.isDisjoint(with: changes.written) { needsListing = true }
    }

    /// Notes what a file is now.
    private func lookAgain(_ key: BytewiseString) {
        guard let source = current[key], source.member == nil, let path = source.path else { return }
        if let now = opener.look(again: source, at: path), now.inode == source.inode {
            current[key] = now
        } else {
            needsListing = true
        }
    }

    // MARK: Listing

    private func list() throws {
        var isNew = true
        while isNew {
            needsListing = false
            let before = current
            (current, order, archives) = ([:], [:], [])
            var folders: Set<String> = []
            for argument in arguments {
                folders.insert(Self.nearestFolder(of: argument))
                do {
                    var listing = try SourceListing(
                        [argument],
                        selection,
                        opener,
                        interruption,
                        known: { files in
                            files.map { file in
                                guard let source = file.key.flatMap({ before[$0] }), source.name == file.name,
                                    source.isUntouched(file)
                                else { return nil }
                                return source
                            }
                        },
                        passOver: { [self] error in
                            say("\(error.text): waiting for it")
                            if error.reason != .fileNotFound { needsListing = true }
                        },
                        { [self] in if isFirst { announce($0) } }
                    )
                    listing.decode(from: encoding)
                    // What a link leads to may come anywhere.
                    if listing.hasBrokenLinks { needsListing = true }
                    folders.formUnion(listing.folders.map(SourceDescription.absolutePath))
                    for source in listing.sources { add(source, to: &folders) }
                } catch let error as ImportError where error.code == .noInput || error.code == .badInput {
                    // Nothing may be there yet, or something may have gone while it was listed.
                    say("\(error.text): waiting for it")
                    if error.reason != .fileNotFound { needsListing = true }
                }
            }
            findRenamed(&folders)
            // What changes from here on in a folder that was not watched before is looked for once more.
            isNew = folders.map { watch.watch($0) }.contains(true)
            isFirst = false
        }
        changed.formUnion(current.keys)
        for key in taken.keys where current[key] == nil {
            taken[key] = nil
            resting[key] = nil
        }
    }

    private func add(_ source: SourceDescription, to folders: inout Set<String>) {
        guard let key = source.key, let path = source.path, current[key] == nil else { return }
        order[key] = order.count
        current[key] = source
        if source.member != nil { archives.insert(BytewiseString(path)) }
        folders.insert(URL(filePath: path).deletingLastPathComponent().path)
    }

    /// Finds files of lines that have other names by now: what they have grown by before that is not lost.
    private func findRenamed(_ folders: inout Set<String>) {
        var wanted: [String: [UInt64: String]] = [:]
        for (key, before) in taken where before.member == nil && current[key]?.inode != before.inode {
            guard let path = before.path, let inode = before.inode else { continue }
            wanted[URL(filePath: path).deletingLastPathComponent().path, default: [:]][inode] = before.name
        }
        for (folder, inodes) in wanted {
            for entry in (try? FolderReader().entries(of: folder)) ?? [] where entry.isFile && !entry.isLink {
                guard let name = entry.inode.flatMap({ inodes[$0] }) else { continue }
                // It is called as it would be if it were given as the other one was.
                let end = name.lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
                renamed[BytewiseString(entry.path)] = name[..<end] + entry.name
            }
        }
        for (path, name) in renamed where current[path] == nil {
            let found = (try? opener.describe(path.text, interruption: interruption))?.first { $0.member == nil }
            if var source = found {
                source.name = name
                add(source, to: &folders)
            } else {
                renamed[path] = nil
            }
        }
    }

    /// The folder that something is in, or is to be in.
    private static func nearestFolder(of argument: String) -> String {
        let path = argument.hasPrefix("/") ? argument : FileManager.default.currentDirectoryPath + "/" + argument
        var url = URL(filePath: path)
        if case .pattern = ImportSource(argument) { url.deleteLastPathComponent() }
        var isFolder: ObjCBool = false
        while url.path != "/",
            !(FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue)
        {
            url.deleteLastPathComponent()
        }
        return SourceDescription.absolutePath(url.path)
    }

    /// Says something once.
    package func say(_ text: MessageText) {
        if said.count < 10_000, said.insert("\(text)").inserted { announce(text) }
    }

    // MARK: What is whole

    /// Where the last whole line of a source ends, or its own end where it is not one of lines, and is whole and at rest; nil where
    /// nothing can be taken now.
    private func wholeEnd(of source: SourceDescription) -> Int64? {
        guard let path = source.path, let size = source.size else { return nil }
        guard Self.isText(source) else {
            guard isAtRest(source, path), source.member != nil || isSound(source) else { return nil }
            return size
        }
        var status = stat()
        guard let descriptor = try? Descriptor.open(path, waits: true), fstat(descriptor.number, &status) == 0,
            UInt64(status.st_ino) == source.inode
        else {
            needsListing = true
            return nil
        }
        let lines = LineFile(descriptor, size: size)
        if lines.beginsWithLine { return lines.end }
        guard isAtRest(source, path) else { return nil }
        if lines.isBalanced { return size }
        say("\(source.displayName): ends inside a value: waiting for the rest")
        if let key = source.key { changed.remove(key) }
        return nil
    }

    private static func isText(_ source: SourceDescription) -> Bool {
        source.member == nil && !source.isCompressed && source.encoding == nil
    }

    /// True if a file's writer has closed it, or nothing has come for a while.
    private func isAtRest(_ source: SourceDescription, _ path: String) -> Bool {
        guard let key = source.key else { return false }
        if closed.contains(BytewiseString(path)) { return true }
        if let (file, since) = resting[key], file.isUntouched(source) { return .now - since >= interval }
        resting[key] = (source, .now)
        let age = Date().timeIntervalSince1970 - Double(source.modified ?? 0) / 1e9
        return age >= interval.inSeconds
    }

    /// True if a compressed file can be read to its end: a part of one is no file.
    private func isSound(_ source: SourceDescription) -> Bool {
        guard source.isCompressed else { return true }
        do {
            let stream = try opener.open(source, interruption: interruption)
            var block = [UInt8](repeating: 0, count: 256 << 10)
            while try stream.read(into: &block) > 0 {}
            return true
        } catch {
            say("\(source.displayName): cannot be decompressed to its end: waiting for the rest")
            if let key = source.key { changed.remove(key) }
            return false
        }
    }
}

/// A file as far as it has lines that are whole.
struct LineFile {
    private static let blockSize = 64 << 10
    private static let mostLooked = 1 << 20
    private let descriptor: Descriptor
    private let size: Int64

    init(_ descriptor: Descriptor, size: Int64) { (self.descriptor, self.size) = (descriptor, size) }

    private func block(at offset: Int64, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, used in
            used = max(0, pread(descriptor.number, bytes.baseAddress, count, off_t(offset)))
        }
    }

    /// True if the first line with a bracket has as many that close: the file is not one value over several lines.
    var beginsWithLine: Bool {
        var brackets = BracketDepth()
        var hasBracket = false
        var offset: Int64 = 0
        while offset < min(size, Int64(Self.mostLooked)) {
            let bytes = block(at: offset, Self.blockSize)
            if bytes.isEmpty { return false }
            for byte in bytes {
                if byte == 0x0A, hasBracket { return brackets.isClosed }
                brackets.pass(byte)
                if brackets.depth != 0 { hasBracket = true }
            }
            offset += Int64(bytes.count)
        }
        return false
    }

    /// True if as many brackets close as open: the file does not end inside of a value.
    var isBalanced: Bool {
        var brackets = BracketDepth()
        var offset: Int64 = 0
        while offset < size, case let bytes = block(at: offset, Self.blockSize), !bytes.isEmpty {
            for byte in bytes { brackets.pass(byte) }
            offset += Int64(bytes.count)
        }
        return brackets.isClosed
    }

    /// Just past the last line feed.
    var end: Int64 {
        var start = size
        while start > 0 {
            let count = Int(min(start, Int64(Self.blockSize)))
            start -= Int64(count)
            let bytes = block(at: start, count)
            if let last = bytes.lastIndex(of: 0x0A) { return start + Int64(last) + 1 }
        }
        return 0
    }
}

extension SourceDescription {
    /// How many bytes of its file are read.
    fileprivate var wholeSize: Int64? { end ?? size }

    /// True if all that the system notes of a file says that nothing has changed.
    fileprivate func isUntouched(_ other: SourceDescription) -> Bool {
        size == other.size && modified == other.modified && inode == other.inode && changed == other.changed
    }
}
