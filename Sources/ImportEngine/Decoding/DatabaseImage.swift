import ImportModel

/// New rows of a batch as a database in memory, in SQLite's file format (<https://www.sqlite.org/fileformat2.html>).
///
/// A worker lays the rows out before its turn to commit comes, beside the other workers. SQLite then copies them as they
/// are: an `INSERT … SELECT` between tables whose columns agree takes no row apart (`xferOptimization` in SQLite's
/// insert.c). Where they do not agree it takes the values out of the rows, and the same comes of it.
///
/// Where SQLite is built with its preupdate hook, as Debian's is, it copies a row's record, else its cell: the same comes of
/// it.
///
/// Each entity has a table: a B-tree of leaves, and a root above them where there are several. A row that is larger than a
/// page, or has a value that its column would convert, is in no image, and none of its entity's that come after it are, as
/// rows keep their order.
package final class DatabaseImage {
    /// How large a page is, in bytes: the definition of a table of 2,000 columns fits, which is as many as one has.
    package static let pageSize = 32_768
    /// Fewer rows are written one by one in less time than it takes to show an image to SQLite.
    static let fewestRows = 64
    /// Where chunks share a file: fewer rows are written one by one in less time than a commit of their own takes.
    static let fewestRowsOfPart = 1_000

    private let schema: DatabaseImageSchema
    // In memory of its own: each look at a property of a class that changes would be checked.
    private let pages: UnsafeMutablePointer<ImagePages>

    package init(_ schema: DatabaseImageSchema) {
        self.schema = schema
        pages = .allocate(capacity: 1)
        pages.initialize(to: ImagePages(schema))
    }

    deinit {
        pages.pointee.deallocate()
        pages.deinitialize(count: 1)
        pages.deallocate()
    }

    /// The database, as `finish` has left it.
    package var bytes: UnsafeMutableRawBufferPointer { pages.pointee.bytes }

    /// How many rows of an entity it has.
    package func rows(of entity: Int32) -> Int { pages.pointee.trees[Int(entity)].rows }

    /// The row id of the last row of an entity; 0 without any.
    package func lastRowID(of entity: Int32) -> Int64 { pages.pointee.trees[Int(entity)].last }

    /// True if it has no rows.
    package var isEmpty: Bool { schema.tables.indices.allSatisfy { pages.pointee.trees[$0].rows == 0 } }

    /// Empties it; it takes no rows before `open`.
    package func reset() { pages.pointee.reset() }

    /// Makes room for the rows of records of this many bytes.
    ///
    /// Mostly a row is smaller than its record, which has keys. The image takes twice as much at most, as rows of wide
    /// entities have a byte for each attribute that their records do not mention, and all of its default.
    package func reserve(_ bytes: Int) { pages.pointee.reserve(bytes / Self.pageSize) }

    /// Lets an entity's rows in, if its defaults may be.
    package func open(_ entity: Int32) {
        pages.pointee.trees[Int(entity)].isOpen = schema.tables[Int(entity)].takesDefaults
    }

    /// Lets no more of an entity's rows in.
    package func close(_ entity: Int32) { pages.pointee.trees[Int(entity)].isOpen = false }

    /// Adds a row after the others of its entity.
    ///
    /// - Parameters:
    ///   - values: the row's cells, and the bytes that they are slices of.
    ///   - presence: a bit per attribute, set where it has a cell; the others get their defaults.
    ///   - entity: its index in the job.
    /// - Returns: whether it was accepted; if not, no row of the entity is any more.
    @inline(__always)
    package func append(_ values: RowValues, presence: UnsafeMutableBufferPointer<UInt64>, entity: Int32) -> Bool {
        let isTaken = pages.pointee.append(values, presence, schema.tables[Int(entity)], entity: Int(entity))
        if !isTaken { close(entity) }
        return isTaken
    }

    /// Remembers which rows it has, for `goBack`.
    package func mark() { pages.pointee.mark() }

    /// Forgets all rows that were added after `mark`.
    package func goBack() { pages.pointee.goBack() }

    /// Makes a database of the rows that were added.
    package func finish() { pages.pointee.finish() }
}

/// The pages of an image, one after the other: the first, each entity's root, then the others as they are needed.
private struct ImagePages {
    /// An entity's B-tree while rows are added to it.
    struct Tree {
        /// True if it takes more rows.
        var isOpen = false
        var rows = 0
        /// The row id of the last one.
        var last: Int64 = 0
        /// The page that rows are added to, from 0: the root until that is full.
        var page: Int
        /// Of that page: its cells, and where their content begins.
        var cells = 0
        var content = DatabaseImage.pageSize
        /// How many leaves are full.
        var leaves = 0
    }

    private static let leafHeader = 8
    private static let interiorHeader = 12
    /// So many leaves fit the root, with the longest row ids.
    private static let mostLeaves = (DatabaseImage.pageSize - interiorHeader) / (2 + 4 + 9)
    /// A longer record would need overflow pages.
    private static let longestRecord = DatabaseImage.pageSize - 35

    let trees: UnsafeMutablePointer<Tree>
    private let treeCount: Int
    /// The leaves of each that are full, with the row id of the last row in each.
    private let leaves: UnsafeMutablePointer<[(page: Int, last: Int64)]>
    /// The trees at the mark: what is behind them in their pages is written over.
    private let marked: UnsafeMutablePointer<Tree>
    private var markedCount = 0
    /// The values of the row at hand.
    private let fields: UnsafeMutablePointer<SQLiteRecordValue>
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private var count: Int
    /// There are never more pages.
    private var limit: Int

    init(_ schema: DatabaseImageSchema) {
        treeCount = schema.tables.count
        trees = .allocate(capacity: treeCount)
        for entity in 0..<treeCount { (trees + entity).initialize(to: Tree(page: 1 + entity)) }
        marked = .allocate(capacity: treeCount)
        marked.initialize(from: trees, count: treeCount)
        leaves = .allocate(capacity: treeCount)
        leaves.initialize(repeating: [], count: treeCount)
        fields = .allocate(capacity: schema.tables.reduce(1) { max($0, $1.width) })
        count = 1 + treeCount
        capacity = count
        limit = count
        memory = .allocate(byteCount: count * DatabaseImage.pageSize, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: count * DatabaseImage.pageSize)
        schema.firstPage.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: memory, count: $0.count).copyMemory(from: $0)
        }
        finish()
    }

    func deallocate() {
        leaves.deinitialize(count: treeCount)
        leaves.deallocate()
        trees.deallocate()
        marked.deallocate()
        fields.deallocate()
        memory.deallocate()
    }

    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory, count: count * DatabaseImage.pageSize)
    }

    mutating func reset() {
        count = 1 + treeCount
        for entity in 0..<treeCount {
            trees[entity] = Tree(page: 1 + entity)
            leaves[entity].removeAll(keepingCapacity: true)
        }
    }

    /// The pages up to the limit are allocated at once: those that are never written to take no memory, and an image that
    /// grew would be there twice while it is copied.
    mutating func reserve(_ pages: Int) {
        limit = 3 + treeCount + 2 * pages
        guard limit > capacity else { return }
        // Batches differ a little, and the same memory is to do for the next one.
        capacity = limit + limit / 8
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity * DatabaseImage.pageSize, alignment: 16)
        larger.copyMemory(from: memory, byteCount: count * DatabaseImage.pageSize)
        memory.deallocate()
        memory = larger
    }

    /// Callers know that the limit is not reached.
    private mutating func addPage() -> Int {
        count += 1
        return count - 1
    }

    // MARK: Marks

    mutating func mark() {
        markedCount = count
        marked.update(from: trees, count: treeCount)
    }

    /// A root that has become a leaf of its own since is one again: its page still has what it had.
    mutating func goBack() {
        count = markedCount
        trees.update(from: marked, count: treeCount)
        for entity in 0..<treeCount { leaves[entity].removeLast(leaves[entity].count - trees[entity].leaves) }
    }

    // MARK: Rows

    mutating func append(
        _ values: RowValues,
        _ presence: UnsafeMutableBufferPointer<UInt64>,
        _ table: DatabaseImageSchema.Table,
        entity: Int
    ) -> Bool {
        guard trees[entity].isOpen, let (header, body, key) = layOut(values, presence, table) else { return false }
        let record = header + body
        var rowID = Int64(truncatingIfNeeded: trees[entity].rows + 1)
        if table.rowIDColumn >= 0 {
            rowID = key
            // Its rows stand in the order of their row ids.
            if trees[entity].rows > 0, rowID <= trees[entity].last { return false }
        }
        let size = Varint.size(UInt64(record)) + Varint.size(UInt64(bitPattern: rowID)) + record
        guard record <= Self.longestRecord, makeRoom(for: size, in: entity) else { return false }
        let tree = trees + entity
        tree.pointee.content -= size
        let start = memory + tree.pointee.page * DatabaseImage.pageSize
        Self.put(UInt64(tree.pointee.content), size: 2, at: start + Self.leafHeader + 2 * tree.pointee.cells)
        tree.pointee.cells += 1
        tree.pointee.rows += 1
        tree.pointee.last = rowID
        var place = start + tree.pointee.content
        Varint.put(UInt64(record), at: &place)
        Varint.put(UInt64(bitPattern: rowID), at: &place)
        var value = place + header
        Varint.put(UInt64(header), at: &place)
        for index in 0..<table.width {
            let field = fields[index]
            Varint.put(field.type, at: &place)
            if let address = field.address {
                Self.copy(address, to: value, field.size)
            } else {
                Self.put(field.bits, size: field.size, at: value)
            }
            value += field.size
        }
        return true
    }

    /// Copies a text or blob: most are short, and take fewer instructions than a call.
    @inline(__always)
    private static func copy(_ bytes: UnsafeRawPointer, to place: UnsafeMutableRawPointer, _ count: Int) {
        func copy<Word: BitwiseCopyable>(_: Word.Type, at offset: Int) {
            place.storeBytes(
                of: bytes.loadUnaligned(fromByteOffset: offset, as: Word.self),
                toByteOffset: offset,
                as: Word.self
            )
        }
        // The first bytes and the last, which may be partly the same.
        switch count {
        case 17...32:
            copy(SIMD16<UInt8>.self, at: 0)
            copy(SIMD16<UInt8>.self, at: count - 16)
        case 8...16:
            copy(UInt64.self, at: 0)
            copy(UInt64.self, at: count - 8)
        case 4...7:
            copy(UInt32.self, at: 0)
            copy(UInt32.self, at: count - 4)
        case 0...3:
            for offset in 0..<count { copy(UInt8.self, at: offset) }
        default:
            place.copyMemory(from: bytes, byteCount: count)
        }
    }

    /// Finds each value's serial type.
    ///
    /// - Returns: the sizes of the record's header and body, and the row id where a column is that; nil where a column would
    ///   convert a value.
    @inline(__always)
    private func layOut(
        _ values: RowValues,
        _ presence: UnsafeMutableBufferPointer<UInt64>,
        _ table: DatabaseImageSchema.Table
    ) -> (header: Int, body: Int, key: Int64)? {
        var (header, body, next) = (0, 0, 0)
        var key: Int64 = 0
        for attribute in 0..<table.width {
            if presence[attribute >> 6] & (1 << UInt64(attribute & 63)) != 0 {
                guard let field = SQLiteRecordValue(values.cells[next], values, table.affinities[attribute]) else {
                    return nil
                }
                fields[attribute] = field
                next += 1
            } else {
                fields[attribute] = table.defaults[attribute]
            }
            header += Varint.size(fields[attribute].type)
            body += fields[attribute].size
        }
        if table.rowIDColumn >= 0 {
            guard let rowID = Self.rowID(values, presence, table.rowIDColumn) else { return nil }
            key = rowID
            // The record has a null in its place (<https://www.sqlite.org/fileformat2.html#record_format>).
            header += 1 - Varint.size(fields[table.rowIDColumn].type)
            body -= fields[table.rowIDColumn].size
            fields[table.rowIDColumn] = .null
        }
        // The header's size counts itself.
        let own = Varint.size(UInt64(header))
        header += own
        if Varint.size(UInt64(header)) > own { header += 1 }
        return (header, body, key)
    }

    /// The value of the column that is the row id.
    ///
    /// - Returns: nil where it is none that `Varint` writes.
    private static func rowID(
        _ values: RowValues,
        _ presence: UnsafeMutableBufferPointer<UInt64>,
        _ column: Int
    ) -> Int64? {
        let bit: UInt64 = 1 << UInt64(column & 63)
        guard presence[column >> 6] & bit != 0 else { return nil }
        var place = (presence[column >> 6] & (bit - 1)).nonzeroBitCount
        for word in 0..<column >> 6 { place += presence[word].nonzeroBitCount }
        let cell = values.cells[place]
        guard cell.tag == .integer, (0..<1 << 56).contains(cell.integerValue) else { return nil }
        return cell.integerValue
    }

    /// Writes the last bytes of a number, the first one first.
    @inline(__always)
    private static func put(_ bits: UInt64, size: Int, at place: UnsafeMutableRawPointer) {
        switch size {
        case 0: break
        case 1: place.storeBytes(of: UInt8(truncatingIfNeeded: bits), as: UInt8.self)
        case 2: place.storeBytes(of: UInt16(truncatingIfNeeded: bits).bigEndian, as: UInt16.self)
        case 4: place.storeBytes(of: UInt32(truncatingIfNeeded: bits).bigEndian, as: UInt32.self)
        case 8: place.storeBytes(of: bits.bigEndian, as: UInt64.self)
        default:
            for index in 0..<size {
                let byte = UInt8(truncatingIfNeeded: bits >> UInt64(8 * (size - 1 - index)))
                place.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            }
        }
    }

    // MARK: Pages

    /// Makes sure that a cell fits the page at hand.
    ///
    /// - Returns: whether it does: there are only this many pages.
    @inline(__always)
    private mutating func makeRoom(for size: Int, in entity: Int) -> Bool {
        let used = Self.leafHeader + 2 * (trees[entity].cells + 1)
        return used + size <= trees[entity].content || addLeaf(entity)
    }

    private mutating func addLeaf(_ entity: Int) -> Bool {
        var tree = trees[entity]
        // A leaf that was the root becomes a page of its own.
        guard tree.leaves < Self.mostLeaves, count + 2 <= limit else { return false }
        writeHeader(0x0D, cells: tree.cells, content: tree.content, of: tree.page)
        if tree.page == 1 + entity {
            // The root is to be above it.
            tree.page = addPage()
            (memory + tree.page * DatabaseImage.pageSize)
                .copyMemory(from: memory + (1 + entity) * DatabaseImage.pageSize, byteCount: DatabaseImage.pageSize)
        }
        leaves[entity].append((tree.page, tree.last))
        tree.leaves += 1
        tree.page = addPage()
        tree.cells = 0
        tree.content = DatabaseImage.pageSize
        trees[entity] = tree
        return true
    }

    func finish() {
        for entity in 0..<treeCount {
            let tree = trees[entity]
            writeHeader(0x0D, cells: tree.cells, content: tree.content, of: tree.page)
            if tree.leaves > 0 { writeRoot(entity, above: tree) }
        }
        Self.put(UInt64(count), size: 4, at: memory + 28)
    }

    private func writeRoot(_ entity: Int, above tree: Tree) {
        let page = 1 + entity
        let start = memory + page * DatabaseImage.pageSize
        var content = DatabaseImage.pageSize
        for (index, leaf) in leaves[entity].enumerated() {
            content -= 4 + Varint.size(UInt64(bitPattern: leaf.last))
            var place = start + content
            Self.put(UInt64(leaf.page + 1), size: 4, at: place)
            place += 4
            Varint.put(UInt64(bitPattern: leaf.last), at: &place)
            Self.put(UInt64(content), size: 2, at: start + Self.interiorHeader + 2 * index)
        }
        writeHeader(0x05, cells: tree.leaves, content: content, of: page)
        // The last leaf is the right-most child.
        Self.put(UInt64(tree.page + 1), size: 4, at: start + 8)
    }

    private func writeHeader(_ type: UInt8, cells: Int, content: Int, of page: Int) {
        let start = memory + page * DatabaseImage.pageSize
        Self.put(UInt64(type), size: 1, at: start)
        Self.put(0, size: 2, at: start + 1)
        Self.put(UInt64(cells), size: 2, at: start + 3)
        Self.put(UInt64(content), size: 2, at: start + 5)
        Self.put(0, size: 1, at: start + 7)
    }
}
