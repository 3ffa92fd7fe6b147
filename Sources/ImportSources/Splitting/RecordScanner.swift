import ImportModel

/// Finds where records begin and end in a stream of yajl events.
///
/// Inside of a record, and inside of a value outside of the record paths, only the depth is counted. The containers that
/// enclose records are on a stack, each with the set of record paths that it may lead to.
struct RecordScanner {
    /// More open containers than any source needs; yajl itself has no limit.
    static let maximumOpenContainers = 1_000_000

    /// A number or literal at the top level that has ended where the block ended: what follows decides whether it is one.
    private struct Undelimited {
        let path: Int
    }

    // Inside of a record or an outside value: how many of its containers are open. 0 between them.
    private var depth = 0
    private var depthLimit: Int
    /// Those of the plain record before.
    private let keys = PreviousKeyCache()
    private let builder: ChunkBuilder?
    private let maxDepth: Int
    /// The containers that enclose this position.
    private var levels: RecordLevels
    /// The record path of the record that is open, or -1.
    private var path = -1
    /// True if a key was read and its value was not.
    private var hasKey = false
    /// True if the opening tokens of a resumed split are being read.
    private var isPriming = false
    private var isEnding = false
    private var enclosingIsStale = true
    /// The record path whose lines the builder makes, or -1; -2 where the containers are others since.
    private var linePath = -2
    private var undelimited: Undelimited?

    /// Where the tokens are that yajl reports.
    private(set) var places = TokenLocator()
    /// Values at the top level so far.
    private(set) var topLevelValues: Int
    /// Why an event said to stop.
    private(set) var failure: (any Error)?
    /// Where the open record's value begins if it is a container, as an offset in the source.
    private(set) var containerStart: Int64 = -1
    /// Just past the last record that was a container, as an offset in the source.
    private var containerEnd: Int64 = -1

    /// - Parameters:
    ///   - builder: what gathers the records.
    ///   - matcher: the record paths.
    ///   - maxDepth: records nested more deeply are passed over, in containers, from 1.
    ///   - topLevelValues: how many there were before.
    init(builder: ChunkBuilder, matcher: RecordMatcher, maxDepth: Int, topLevelValues: Int) {
        self.builder = builder
        levels = RecordLevels(matcher: matcher)
        self.maxDepth = maxDepth
        self.topLevelValues = topLevelValues
        depthLimit = Self.maximumOpenContainers
    }

    /// A scanner that only sees whether the bytes are JSON.
    init(checking matcher: RecordMatcher) {
        builder = nil
        levels = RecordLevels(matcher: matcher)
        maxDepth = Self.maximumOpenContainers
        topLevelValues = 0
        depth = 1
        depthLimit = Self.maximumOpenContainers
    }

    /// True if a container is open, for a scanner that only checks.
    var isWithinContainer: Bool { depth > 1 }

    // MARK: Pieces

    /// Says which bytes the next events come from.
    ///
    /// - Parameters:
    ///   - bytes: where they are.
    ///   - count: how many.
    ///   - base: their offset in the source.
    /// - Throws: `ScanError` if they may not follow what came before, and whatever the builder throws.
    mutating func beginPiece(_ bytes: UnsafePointer<UInt8>, _ count: Int, base: Int64) throws {
        places.begin(bytes, count, base: base)
        if let undelimited, count > 0 {
            self.undelimited = nil
            guard Self.isDelimiter(bytes[0]) else { throw Self.adjoining(at: base) }
            try endRecord(at: base, undelimited.path)
        }
    }

    /// Says that the next bytes belong to the token that has begun, and are not shown to yajl.
    mutating func skipToken() {
        places.skipToken()
    }

    /// Says that all of the piece was parsed.
    mutating func endPiece() {
        places.end()
        guard depth == 0, places.tail.start >= 0, let builder, !builder.hasOpenRecord else { return }
        // A token that continues in the next block may be a record, or the key of one.
        let path = hasKey || !levels.isInObject ? levels.recordPath(of: levels.valuePaths) : levels.pathOfKeyedRecords
        beginRecord(at: places.tail.start, path, builder)
    }

    /// Says that the source has ended: yajl may now end a number that it was waiting for more digits of.
    mutating func beginEnd(base: Int64) {
        isEnding = true
        places.beginEnd(base: base)
    }

    /// Ends the record at the end of the source, if one needed what follows it.
    mutating func endSource() throws {
        guard let undelimited else { return }
        self.undelimited = nil
        try endRecord(at: places.offset(places.count), undelimited.path)
    }

    /// Says that the opening tokens of a resumed split come next.
    mutating func beginPriming() { isPriming = true }

    /// Goes over to the source's own bytes.
    mutating func endPriming() {
        isPriming = false
        places.restart(isBehindValue: false)
    }

    // MARK: Values

    /// True if a number or literal at the top level may be followed by this byte.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        ByteScan.isSpace(byte) || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "\"")
    }

    private static func adjoining(at offset: Int64) -> ScanError {
        ScanError(
            kind: .syntax,
            byteOffset: offset,
            message: "white space must follow a number, true, false or null"
        )
    }

    /// Begins a record, or what may be one.
    @inline(__always)
    private mutating func beginRecord(at offset: Int64, _ path: Int, _ builder: ChunkBuilder) {
        if path != linePath {
            builder.put(in: levels.line(of: path))
            linePath = path
        }
        builder.beginRecord(at: offset)
    }

    /// Ends the open record.
    private mutating func endRecord(at offset: Int64, _ path: Int, hasLineBreaks: Bool? = nil) throws {
        guard path >= 0, let builder else { return }
        try builder.endRecord(at: offset, path: path, boundary: offset, hasLineBreaks: hasLineBreaks)
        if enclosingIsStale {
            builder.enclosing = levels.openingTokens
            enclosingIsStale = false
        }
    }

    private mutating func stop(_ error: any Error) -> Bool {
        failure = error
        return false
    }

    private mutating func scalar(end: Int, isString: Bool) -> Bool {
        guard let builder else { return true }
        if levels.isEmpty { topLevelValues += 1 }
        if isPriming {
            places.lastEnd = end
            hasKey = false
            return true
        }
        let paths = levels.valuePaths
        let recordPath = levels.recordPath(of: paths)
        // A number inside of a container that is not closed may lack digits.
        if isEnding, !levels.isEmpty { return true }
        if recordPath >= 0 {
            if !builder.hasOpenRecord { beginRecord(at: places.startOfToken(), recordPath, builder) }
        } else {
            if paths != 0 { builder.beginOutside(levels.valueName, at: places.startOfToken()) }
            builder.endOutside(at: places.offset(end))
            if builder.hasOpenRecord { builder.discardRecord() }
        }
        places.lastEnd = end
        hasKey = false
        do {
            if levels.isEmpty, !isString {
                if end < places.count {
                    guard Self.isDelimiter(places.bytes[end]) else { throw Self.adjoining(at: places.offset(end)) }
                } else {
                    undelimited = Undelimited(path: recordPath)
                    return true
                }
            }
            try endRecord(at: places.offset(end), recordPath)
        } catch {
            return stop(error)
        }
        return true
    }

    private mutating func open(isArray: Bool, end: Int) -> Bool {
        guard let builder else { return true }
        if levels.isEmpty { topLevelValues += 1 }
        let paths = levels.valuePaths
        let recordPath = levels.recordPath(of: paths)
        places.lastEnd = end
        hasKey = false
        if recordPath >= 0, !isPriming {
            path = recordPath
            containerStart = places.offset(end - 1)
            if !builder.hasOpenRecord { beginRecord(at: containerStart, recordPath, builder) }
            depth = 1
            depthLimit = min(maxDepth, hardLimit)
            return true
        }
        if levels.open(paths, isArray: isArray) {
            enclosingIsStale = true
            linePath = -2
            builder.findCollections(levels.collections)
            return true
        }
        if isPriming {
            return stop(ImportError(.fault, "the split cannot resume: its position does not fit the record paths"))
        }
        if paths != 0 { builder.beginOutside(levels.valueName, at: places.offset(end - 1)) }
        path = -1
        depth = 1
        depthLimit = hardLimit
        return true
    }

    /// How many containers may be open inside of those that enclose records.
    private var hardLimit: Int { Self.maximumOpenContainers - levels.count }

    /// A container inside of a record or of an outside value is nested more deeply than its limit.
    private mutating func exceedDepth(end: Int) -> Bool {
        if path >= 0, depthLimit < hardLimit, let builder {
            builder.passOverTooDeepRecord()
            depthLimit = hardLimit
            if depth <= depthLimit { return true }
        }
        return stop(
            ScanError(
                kind: .nesting,
                byteOffset: places.offset(end - 1),
                message: "more than \(Self.maximumOpenContainers) containers are open"
            )
        )
    }

    private mutating func member(_ key: ByteView, end: Int) -> Bool {
        guard let builder else { return true }
        let start = places.startOfToken()
        let index = keyIndex(key, start: start, end: end)
        let paths = levels.enterMember(key: index)
        hasKey = true
        places.lastEnd = end
        if levels.hasOuterKey(paths) {
            let bytes = bytes(from: start, to: end)
            guard bytes.count <= max(builder.maxRecordBytes, Int64(ChunkBuilder.headLength)) else {
                let message = "a key that each record within it is to keep has more bytes than a record may have"
                return stop(ScanError(kind: .syntax, byteOffset: start, message: message))
            }
            // What is not UTF-8 in it is counted below.
            levels.keepKey(Array(String(decoding: bytes, as: UTF8.self).utf8))
        }
        if isPriming { return true }
        let recordPath = levels.recordPath(of: paths)
        if recordPath >= 0, levels.isKeyed(recordPath) {
            if !builder.hasOpenRecord { beginRecord(at: start, recordPath, builder) }
            return true
        }
        if paths == 0 {
            builder.beginOutside(levels.containerName + Self.step(key), at: start, isMember: true)
        } else if hasInvalidUTF8(key, start: start, end: end) {
            builder.countInvalidKey(levels.containerName + Self.step(key))
        }
        if builder.hasOpenRecord { builder.discardRecord() }
        return true
    }

    private static func step(_ key: ByteView) -> String {
        UnmatchedValueCounts.step(key: String(decoding: key.buffer, as: UTF8.self))
    }

    /// The index of a key in the matcher's keys, or -1.
    private func keyIndex(_ key: ByteView, start: Int64, end: Int) -> Int {
        guard levels.hasKeys, places.tokenIsWhole else { return -1 }
        let index = levels.index(of: key)
        guard index >= 0, places.offset(end) - start != Int64(key.count + 2) else { return index }
        // It has escapes, and yajl makes something of its own of a lone surrogate.
        return SurrogateScan.hasLoneSurrogate(bytes(from: start, to: end)) ? -1 : index
    }

    private func hasInvalidUTF8(_ key: ByteView, start: Int64, end: Int) -> Bool {
        guard places.offset(end) - start != Int64(key.count + 2) else {
            return UTF8Validation.firstInvalid(in: key) != nil
        }
        // Of escapes yajl may make bytes that are none.
        return bytes(from: start, to: end).withUnsafeBufferPointer {
            UTF8Validation.firstInvalid(in: ByteView($0)) != nil
        }
    }

    /// The bytes of a key, its quotes included.
    private func bytes(from start: Int64, to end: Int) -> [UInt8] {
        // Earlier blocks' bytes are with the builder; this block's lie before the piece.
        var raw: [UInt8] = []
        var from = start
        if !isPriming, let builder, start < builder.blockBase {
            raw.append(contentsOf: builder.openRecord.buffer)
            from = builder.blockBase
        }
        let first = Int(from - places.offset(0))
        raw.append(contentsOf: UnsafeBufferPointer(start: places.bytes + first, count: end - first))
        return raw
    }
}

// MARK: - Plain records

extension RecordScanner {
    /// The record path of what follows here if it is a record, and how it follows; nil if that depends on its key.
    private var following: (path: Int, records: FastRecordScanner)? {
        guard !isPriming, let kind = levels.kindOfFollowing else { return nil }
        let path = levels.recordPath(of: levels.valuePaths)
        return path < 0 ? nil : (path, FastRecordScanner(kind, maxDepth: maxDepth, keys))
    }

    /// Where the open record ends, if it began in this block and is plainly JSON up to its end; else -1.
    ///
    /// - Parameters:
    ///   - block: the bytes that the builder has entered.
    ///   - last: where a control character is in them that is no white space.
    ///   - base: the block's offset in the source.
    /// - Returns: counted from the block's beginning.
    func endOfOpenRecord(in block: UnsafePointer<UInt8>, last: Int, base: Int64) -> Int {
        guard depth > 0, path >= 0, containerStart >= base, let following else { return -1 }
        return following.records.end(of: Int(containerStart - base), in: block, last: last)
    }

    /// Takes records that follow the one that has just ended, as long as they are plainly JSON.
    ///
    /// yajl, whose state is the same after each of them, does not see them.
    ///
    /// - Parameters:
    ///   - start: up to here yajl has seen everything.
    ///   - block: the bytes that the builder has entered.
    ///   - last: where a control character is in them that is no white space.
    ///   - base: the block's offset in the source.
    /// - Returns: just past the last of them, or `start`.
    /// - Throws: whatever the builder throws.
    mutating func takePlainRecords(
        from start: Int,
        in block: UnsafePointer<UInt8>,
        last: Int,
        base: Int64
    ) throws -> Int {
        guard containerEnd == base + Int64(start), let builder, let (path, records) = following else { return start }
        var index = start
        while let record = records.next(after: index, in: block, last: last) {
            if levels.isEmpty { topLevelValues += 1 }
            beginRecord(at: base + Int64(record.start), path, builder)
            try endRecord(at: base + Int64(record.end), path, hasLineBreaks: record.hasLineBreaks)
            index = record.end
        }
        guard index > start else { return start }
        containerEnd = base + Int64(index)
        places.restart(isBehindValue: true)
        return index
    }
}

extension RecordScanner: YajlHandler {
    mutating func null(at position: YajlPosition) -> Bool {
        isInside(position) || scalar(end: position.end, isString: false)
    }

    mutating func boolean(_ value: Bool, at position: YajlPosition) -> Bool {
        isInside(position) || scalar(end: position.end, isString: false)
    }

    mutating func number(_ digits: ByteView, at position: YajlPosition) -> Bool {
        isInside(position) || scalar(end: position.end, isString: false)
    }

    mutating func string(_ bytes: ByteView, at position: YajlPosition) -> Bool {
        isInside(position) || scalar(end: position.end, isString: true)
    }

    mutating func key(_ bytes: ByteView, at position: YajlPosition) -> Bool {
        isInside(position) || member(bytes, end: position.end)
    }

    mutating func startObject(at position: YajlPosition) -> Bool { start(isArray: false, position) }

    mutating func startArray(at position: YajlPosition) -> Bool { start(isArray: true, position) }

    mutating func endObject(at position: YajlPosition) -> Bool { end(position) }

    mutating func endArray(at position: YajlPosition) -> Bool { end(position) }

    /// Passes a token inside of a record or of an outside value.
    ///
    /// - Returns: whether it is one.
    @inline(__always)
    private mutating func isInside(_ position: YajlPosition) -> Bool {
        guard depth > 0 else { return false }
        places.lastEnd = position.end
        return true
    }

    @inline(__always)
    private mutating func start(isArray: Bool, _ position: YajlPosition) -> Bool {
        let end = position.end
        guard depth > 0 else { return open(isArray: isArray, end: end) }
        places.lastEnd = end
        depth += 1
        return depth <= depthLimit || exceedDepth(end: end)
    }

    @inline(__always)
    private mutating func end(_ position: YajlPosition) -> Bool {
        let end = position.end
        places.lastEnd = end
        if depth > 1 {
            depth -= 1
            return true
        }
        if depth == 1 {
            depth = 0
            if path < 0 {
                builder?.endOutside(at: places.offset(end))
                return true
            }
            containerEnd = places.offset(end)
            do {
                try endRecord(at: containerEnd, path)
            } catch {
                return stop(error)
            }
            return true
        }
        levels.close()
        enclosingIsStale = true
        linePath = -2
        return true
    }
}
