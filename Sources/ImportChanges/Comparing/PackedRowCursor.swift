import CXXHash
import Foundation
import GRDBSQLite
import ImportSQLite
import ImportSources

/// Rows that an SQL function has packed: SQLite gives it the cells of each row where they are, and goes on without returning
/// from `sqlite3_step` until there are enough.
///
/// A row is its row id, how many bytes its identifier has and how many it has in all, in 8 bytes each, and its cells in the form of
/// `RowKey`. Two rows are the same only if these bytes are. The rows of one side are packed; those of the other are compared with them
/// where SQLite has them, and packed only from the first on that is another.
struct PackedRowBlock {
    /// The name of the function.
    ///
    /// Its arguments are the row id, the cells of the identifier, and the others; it is true when there is something to look at.
    static let function = "import_pack"
    /// How many arguments it may have (`SQLITE_MAX_FUNCTION_ARG` is 127 or more).
    static let mostArguments = 100

    /// What precedes the cells of a row.
    fileprivate static let headBytes = 24
    /// A block with this many bytes is full.
    private static let fullBytes = 64 << 10
    /// Of longer texts and blobs there is a digest instead, so that memory does not depend on them.
    private static let mostCellBytes = 64 << 10
    /// The kind, and a number or a length.
    private static let numberBytes = 9

    fileprivate private(set) var start: UnsafeMutableRawPointer?
    private var capacity = 0
    fileprivate var count = 0
    /// How many of a row's cells are its identifier.
    fileprivate var identifierCells: Int32 = 0
    /// The rows of another block that the next ones are expected to be the same as: they need not be packed then.
    fileprivate var expected: Range<UnsafeRawPointer>?
    /// How many were.
    fileprivate var sameCount: Int64 = 0
    /// True if the store's texts are in UTF-8.
    private let isUTF8: Bool

    private init(isUTF8: Bool) { self.isUTF8 = isUTF8 }

    /// Gives a connection the function, and makes the block that it fills, which lives as long as the connection does.
    ///
    /// - Throws: `DatabaseError`.
    static func add(to connection: OpaquePointer, isUTF8: Bool) throws -> UnsafeMutablePointer<PackedRowBlock> {
        let block = UnsafeMutablePointer<PackedRowBlock>.allocate(capacity: 1)
        block.initialize(to: PackedRowBlock(isUTF8: isUTF8))
        let code = sqlite3_create_function_v2(
            connection,
            function,
            -1,
            SQLITE_UTF8 | SQLITE_DIRECTONLY,
            block,
            { context, count, values in
                guard let block = sqlite3_user_data(context)?.assumingMemoryBound(to: PackedRowBlock.self), let values
                else {
                    return
                }
                guard let isReady = block.pointee.add(count, values) else { return sqlite3_result_error_nomem(context) }
                // Otherwise it is null, which is as good as false.
                if isReady { sqlite3_result_int(context, 1) }
            },
            nil,
            nil,
            // SQLite calls it where this fails, too.
            { block in
                guard let block = block?.assumingMemoryBound(to: PackedRowBlock.self) else { return }
                free(block.pointee.start)
                block.deallocate()
            }
        )
        guard code == SQLITE_OK else { throw connection.lastError }
        return block
    }

    /// Adds a row, or counts it where it is the same as the expected one.
    ///
    /// - Returns: whether there is something to look at; nil where there was no memory for it.
    @inline(__always)
    private mutating func add(_ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>) -> Bool? {
        guard let rows = expected, !rows.isEmpty else {
            return pack(count, values) ? self.count >= Self.fullBytes : nil
        }
        let row = rows.lowerBound
        guard Self.isSame(row + Self.headBytes, count, values, isUTF8: isUTF8, identifierCells) else {
            return pack(count, values) ? true : nil
        }
        let next = row + row.loadUnaligned(fromByteOffset: 16, as: Int.self)
        expected = next..<rows.upperBound
        sameCount += 1
        return next == rows.upperBound
    }

    // MARK: Comparing

    /// True if a row that SQLite has is the same as a packed one.
    ///
    /// - Parameter first: the packed one's cells; both have as many.
    @inline(__always)
    private static func isSame(
        _ first: UnsafeRawPointer,
        _ count: Int32,
        _ values: UnsafeMutablePointer<OpaquePointer?>,
        isUTF8: Bool,
        _ identifierCells: Int32
    ) -> Bool {
        var cell = first
        for index in 1..<max(1, count) {
            let value = values[Int(index)]
            let kind = cell.load(as: UInt8.self)
            let type = sqlite3_value_type(value)
            // What is most frequent comes first: a table of jumps would be guessed wrong more often.
            if type == SQLITE_TEXT {
                guard kind == RowKey.Kind.text.rawValue else { return false }
                let base = isUTF8 ? sqlite3_value_blob(value) : UnsafeRawPointer(sqlite3_value_text(value))
                let length = Int(sqlite3_value_bytes(value))
                guard let next = end(of: cell, base, length, isWhole: index <= identifierCells) else { return false }
                cell = next
            } else if type == SQLITE_INTEGER {
                guard kind == RowKey.Kind.integer.rawValue,
                    word(of: cell) == UInt64(bitPattern: sqlite3_value_int64(value))
                else { return false }
                cell += numberBytes
            } else if type == SQLITE_FLOAT {
                guard kind == RowKey.Kind.real.rawValue, word(of: cell) == sqlite3_value_double(value).bitPattern else {
                    return false
                }
                cell += numberBytes
            } else if type == SQLITE_BLOB {
                guard kind == RowKey.Kind.blob.rawValue else { return false }
                let base = sqlite3_value_blob(value)
                let length = Int(sqlite3_value_bytes(value))
                guard let next = end(of: cell, base, length, isWhole: index <= identifierCells) else { return false }
                cell = next
            } else {
                guard kind == RowKey.Kind.null.rawValue else { return false }
                cell += 1
            }
        }
        return true
    }

    @inline(__always)
    private static func word(of cell: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: cell.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
    }

    /// Where a packed cell ends; nil where it has other bytes.
    @inline(__always)
    private static func end(
        of cell: UnsafeRawPointer,
        _ base: UnsafeRawPointer?,
        _ length: Int,
        isWhole: Bool
    ) -> UnsafeRawPointer? {
        guard word(of: cell) == UInt64(length) else { return nil }
        let packed = cell + numberBytes
        if length > mostCellBytes, !isWhole {
            let digest = XXH3_128bits_withSeed(base, length, RowKey.seed)
            let isSame =
                packed.loadUnaligned(as: UInt64.self) == digest.low64
                && packed.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == digest.high64
            return isSame ? packed + 16 : nil
        }
        // Without bytes there is no address, either.
        guard let base else { return packed }
        return areEqual(packed, base, length) ? packed + length : nil
    }

    /// Most texts are so short that a call would take longer than to compare their bytes, some of them twice.
    @inline(__always)
    private static func areEqual(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ length: Int) -> Bool {
        func endsAreEqual<Part: FixedWidthInteger & BitwiseCopyable>(_ part: Part.Type) -> Bool {
            let last = length - MemoryLayout<Part>.size
            return (one.loadUnaligned(as: part) ^ other.loadUnaligned(as: part))
                | (one.loadUnaligned(fromByteOffset: last, as: part)
                    ^ other.loadUnaligned(fromByteOffset: last, as: part)) == 0
        }
        if length > 16 { return memcmp(one, other, length) == 0 }
        if length >= 8 { return endsAreEqual(UInt64.self) }
        if length >= 4 { return endsAreEqual(UInt32.self) }
        if length >= 2 { return endsAreEqual(UInt16.self) }
        return length == 0 || one.load(as: UInt8.self) == other.load(as: UInt8.self)
    }

    // MARK: Packing

    /// Adds a row.
    ///
    /// - Returns: whether there was memory for it.
    @inline(__always)
    private mutating func pack(_ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>) -> Bool {
        let head = self.count
        // For numbers and nulls, room is made once.
        let room = Self.headBytes + Int(count) * Self.numberBytes
        guard reserve(room) else { return false }
        self.count += Self.headBytes
        for index in 1..<max(1, count) {
            let value = values[Int(index)]
            let type = sqlite3_value_type(value)
            if type == SQLITE_TEXT {
                // As a blob, a text stays where it is: without a NUL after its end.
                let base = isUTF8 ? sqlite3_value_blob(value) : UnsafeRawPointer(sqlite3_value_text(value))
                let length = Int(sqlite3_value_bytes(value))
                guard append(.text, base, length, room, isWhole: index <= identifierCells) else { return false }
            } else if type == SQLITE_INTEGER {
                append(.integer, UInt64(bitPattern: sqlite3_value_int64(value)))
            } else if type == SQLITE_FLOAT {
                append(.real, sqlite3_value_double(value).bitPattern)
            } else if type == SQLITE_BLOB {
                let base = sqlite3_value_blob(value)
                let length = Int(sqlite3_value_bytes(value))
                guard append(.blob, base, length, room, isWhole: index <= identifierCells) else { return false }
            } else {
                start?.storeBytes(of: RowKey.Kind.null.rawValue, toByteOffset: self.count, as: UInt8.self)
                self.count += 1
            }
            if index == identifierCells { set(self.count - head, at: head + 8) }
        }
        set(Int(sqlite3_value_int64(values[0])), at: head)
        set(self.count - head, at: head + 16)
        return true
    }

    @inline(__always)
    private func set(_ number: Int, at offset: Int) {
        start?.storeBytes(of: number, toByteOffset: offset, as: Int.self)
    }

    @inline(__always)
    private mutating func append(_ kind: RowKey.Kind, _ word: UInt64) {
        start?.storeBytes(of: kind.rawValue, toByteOffset: count, as: UInt8.self)
        start?.storeBytes(of: word.littleEndian, toByteOffset: count + 1, as: UInt64.self)
        count += Self.numberBytes
    }

    /// - Parameters:
    ///   - room: what the rest of the row needs at most, besides.
    ///   - isWhole: whether its bytes are needed however many they are.
    @inline(__always)
    private mutating func append(
        _ kind: RowKey.Kind,
        _ base: UnsafeRawPointer?,
        _ length: Int,
        _ room: Int,
        isWhole: Bool
    ) -> Bool {
        append(kind, UInt64(length))
        if length > Self.mostCellBytes, !isWhole {
            let digest = XXH3_128bits_withSeed(base, length, RowKey.seed)
            guard reserve(16 + room) else { return false }
            start?.storeBytes(of: digest.low64, toByteOffset: count, as: UInt64.self)
            start?.storeBytes(of: digest.high64, toByteOffset: count + 8, as: UInt64.self)
            count += 16
            return true
        }
        guard reserve(length + room), let start else { return false }
        // Without bytes there is no address, either.
        if let base { Self.copy(base, to: start + count, length) }
        count += length
        return true
    }

    /// Most texts are so short that a call would take longer than to copy their bytes, some of them twice.
    @inline(__always)
    private static func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ length: Int) {
        func copyEnds<Part: BitwiseCopyable>(_ part: Part.Type) {
            let last = length - MemoryLayout<Part>.size
            let ends = (source.loadUnaligned(as: part), source.loadUnaligned(fromByteOffset: last, as: part))
            target.storeBytes(of: ends.0, as: part)
            target.storeBytes(of: ends.1, toByteOffset: last, as: part)
        }
        if length > 32 {
            target.copyMemory(from: source, byteCount: length)
        } else if length >= 16 {
            copyEnds(SIMD16<UInt8>.self)
        } else if length >= 8 {
            copyEnds(UInt64.self)
        } else if length >= 4 {
            copyEnds(UInt32.self)
        } else if length >= 2 {
            copyEnds(UInt16.self)
        } else if length == 1 {
            target.storeBytes(of: source.load(as: UInt8.self), as: UInt8.self)
        }
    }

    /// Makes room for more bytes.
    ///
    /// - Returns: whether there is memory for them.
    @inline(__always)
    private mutating func reserve(_ bytes: Int) -> Bool {
        count + bytes <= capacity || grow(count + bytes)
    }

    @inline(never)
    private mutating func grow(_ needed: Int) -> Bool {
        let wanted = max(needed, capacity * 2, Self.fullBytes * 2)
        guard let larger = realloc(start, wanted) else { return false }
        (start, capacity) = (larger, wanted)
        return true
    }
}

/// The rows of a table in the order of their row ids, read many at a time.
///
/// It is made and used by one thread, within one read transaction; a store has one of them at a time.
final class PackedRowCursor {
    /// True if there is a row.
    private(set) var hasRow = false
    private let statement: OpaquePointer
    private let connection: OpaquePointer
    private let block: UnsafeMutablePointer<PackedRowBlock>
    private let identifierCells: Int32
    /// The rows that these are expected to be the same as.
    private var other: PackedRowCursor?
    /// Where the row begins in the block.
    private var row = 0
    /// True if the block has the last row.
    private var isDone = true

    /// - Parameters:
    ///   - text: a query that calls the function for each row between two row ids, and returns those for which it is true.
    ///   - identifierCells: how many cells the identifier has, from 1.
    init(
        _ connection: OpaquePointer,
        _ block: UnsafeMutablePointer<PackedRowBlock>,
        _ text: SQLFragment,
        identifierCells: Int
    ) throws {
        self.connection = connection
        self.block = block
        guard let statement = try connection.prepare(text.sql) else { throw ImportError(.fault, "an empty statement") }
        self.statement = statement
        self.identifierCells = Int32(identifierCells)
    }

    deinit { sqlite3_finalize(statement) }

    /// Goes to the first row of a range of row ids.
    ///
    /// - Parameter other: rows that these are mostly the same as: where the next ones are, both go to the first that is not, and
    ///   `takeSameCount` tells how many they have passed. It is to go on first where both do.
    func begin(_ range: ClosedRange<Int64>, passing other: PackedRowCursor? = nil) throws {
        reset()
        self.other = other
        block.pointee.identifierCells = identifierCells
        guard sqlite3_bind_int64(statement, 1, range.lowerBound) == SQLITE_OK,
            sqlite3_bind_int64(statement, 2, range.upperBound) == SQLITE_OK
        else { throw connection.lastError }
        isDone = false
        try fill()
    }

    /// Goes to the next row.
    @inline(__always)
    func advance() throws {
        row += bytes(at: 16)
        if row >= block.pointee.count { try fill() }
    }

    private func fill() throws {
        (block.pointee.count, row, hasRow) = (0, 0, false)
        while !isDone, block.pointee.count == 0 {
            block.pointee.expected = other?.rest
            switch sqlite3_step(statement) {
            case SQLITE_ROW: break
            case SQLITE_DONE: isDone = true
            default: throw connection.lastError
            }
            if let next = block.pointee.expected?.lowerBound { try other?.move(to: next) }
        }
        hasRow = block.pointee.count > 0
    }

    /// The row and all after it in the block; nil where there is none.
    private var rest: Range<UnsafeRawPointer>? {
        guard hasRow, let start = block.pointee.start else { return nil }
        return UnsafeRawPointer(start + row)..<UnsafeRawPointer(start + block.pointee.count)
    }

    private func move(to address: UnsafeRawPointer) throws {
        guard let start = block.pointee.start else { return }
        row = address - UnsafeRawPointer(start)
        if row >= block.pointee.count { try fill() }
    }

    /// How many rows were the same as the other ones since the last call.
    func takeSameCount() -> Int64 {
        defer { block.pointee.sameCount = 0 }
        return block.pointee.sameCount
    }

    /// Lets go of the rows.
    func reset() {
        sqlite3_reset(statement)
        (block.pointee.expected, block.pointee.sameCount) = (nil, 0)
        (block.pointee.count, row, hasRow, isDone, other) = (0, 0, false, true, nil)
    }

    // MARK: The row

    @inline(__always)
    private func bytes(at offset: Int) -> Int {
        block.pointee.start?.loadUnaligned(fromByteOffset: row + offset, as: Int.self) ?? 0
    }

    /// The row's row id.
    var rowID: Int64 { Int64(bytes(at: 0)) }

    /// The values of the row's identifier.
    var identifier: RowKey { RowKey(bytes: Array(cells(bytes(at: 8)))) }

    /// True if a value of the row's identifier is null.
    var isUnknown: Bool { identifier.hasNull }

    @inline(__always)
    private func cells(_ end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: block.pointee.start.map { UnsafeRawPointer($0) + row + PackedRowBlock.headBytes },
            count: end - PackedRowBlock.headBytes
        )
    }

    /// True if two rows have the same cells.
    @inline(__always)
    static func areEqual(_ one: PackedRowCursor, _ other: PackedRowCursor) -> Bool {
        isSame(one.cells(one.bytes(at: 16)), other.cells(other.bytes(at: 16)))
    }

    /// True if two rows have the same identifier.
    static func haveSameIdentifier(_ one: PackedRowCursor, _ other: PackedRowCursor) -> Bool {
        isSame(one.cells(one.bytes(at: 8)), other.cells(other.bytes(at: 8)))
    }

    @inline(__always)
    private static func isSame(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let first = one.baseAddress, let second = other.baseAddress else { return one.isEmpty }
        return memcmp(first, second, one.count) == 0
    }
}
