import ImportModel

/// A document of one object with the beginnings of its arrays alone, to find collections wherever they begin.
///
/// It takes the text in pieces. Of an array about 64 KiB stay, of an object within the document about 1 MiB, each up to the comma after
/// an element or member; the document's own members all stay.
package struct DocumentSkeleton {
    private static let arrayBytes = 64 << 10
    private static let objectBytes = 1 << 20
    /// A document of which more stays is not one to be looked through.
    private static let mostBytes = 32 << 20

    /// What stays.
    package private(set) var text: [UInt8] = []
    /// The containers that are open: where they begin in `text`, and what may stay of them.
    private var open: [(start: Int, limit: Int)] = []
    /// How many containers are open inside of one that is left out from here on; nil where nothing is.
    private var skipped: Int?
    private var isInString = false
    private var isEscaped = false

    package init() {}

    /// Reads a document to its end.
    ///
    /// - Parameter open: opens it.
    /// - Returns: nil where too much of it stays, and where it is damaged, as what reads its records says.
    package static func read(_ open: () throws -> SourceStream) throws -> [UInt8]? {
        do { return try skeleton(of: open()) } catch let error as ImportError where error.code == .badInput {
            return nil
        }
    }

    private static func skeleton(of stream: SourceStream) throws -> [UInt8]? {
        var skeleton = DocumentSkeleton()
        var block = [UInt8](repeating: 0, count: SourceSplitter.defaultBlockSize)
        while case let count = try stream.read(into: &block), count > 0 {
            block.withUnsafeBufferPointer { skeleton.add(UnsafeBufferPointer(rebasing: $0[..<count])) }
            if skeleton.text.count > mostBytes { return nil }
        }
        return skeleton.text
    }

    /// Takes the bytes that come next.
    package mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        var index = 0
        while index < bytes.count {
            index = skipped == nil ? keep(base, index, bytes.count) : skip(base, index, bytes.count)
        }
    }

    /// Goes on up to where something is left out.
    private mutating func keep(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Int {
        var index = start
        while index < count {
            if isInString {
                index = endOfString(bytes, index, count)
                continue
            }
            switch bytes[index] {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                let limit = bytes[index] == UInt8(ascii: "[") ? Self.arrayBytes : Self.objectBytes
                open.append((text.count + index - start, open.isEmpty ? .max : limit))
            case UInt8(ascii: "]"), UInt8(ascii: "}"): _ = open.popLast()
            case UInt8(ascii: ","):
                if let last = open.last, text.count + index - start - last.start > last.limit {
                    text.append(contentsOf: UnsafeBufferPointer(start: bytes + start, count: index - start))
                    skipped = 0
                    return index + 1
                }
            default: break
            }
            index += 1
        }
        text.append(contentsOf: UnsafeBufferPointer(start: bytes + start, count: index - start))
        return index
    }

    /// Goes on to the end of the container of which the rest is left out.
    private mutating func skip(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Int {
        var (index, depth) = (start, skipped ?? 0)
        while index < count {
            if isInString {
                index = endOfString(bytes, index, count)
                continue
            }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte | 0x20 == UInt8(ascii: "{") {
                depth += 1
            } else if byte | 0x20 == UInt8(ascii: "}") {
                guard depth > 0 else {
                    skipped = nil
                    return index
                }
                depth -= 1
            }
            index += 1
        }
        skipped = depth
        return index
    }

    private mutating func endOfString(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Int {
        var index = start
        while index < count {
            let byte = bytes[index]
            index += 1
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
                return index
            }
        }
        return index
    }
}
