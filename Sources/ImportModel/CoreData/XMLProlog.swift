/// What may precede the root of an XML document (<https://www.w3.org/TR/xml/#sec-prolog-dtd>).
///
/// A document type declaration is blanked out before the document is parsed, so that no parser acts on it: nothing outside of
/// the file is read, and no entity is expanded.
struct XMLProlog {
    /// The document without byte order mark and document type declaration; lines have the same numbers.
    private(set) var bytes: [UInt8]
    private var offset = 0

    /// - Throws: `XMLError` where the document declares entities or another encoding than UTF-8.
    init(_ document: [UInt8]) throws(XMLError) {
        bytes = document.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(document.dropFirst(3)) : document
        if isNext("<?xml") { try checkEncoding(through: try end("?>")) }
        while true {
            while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
            if isNext("<!--") {
                offset += 4
                offset = try end("-->")
            } else if isNext("<?") {
                offset = try end("?>")
            } else if isNext("<!DOCTYPE") {
                try blankType()
            } else {
                return
            }
        }
    }

    /// The line of a byte, from 1.
    private func line(at offset: Int) -> Int { bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1 }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private func isNext(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return bytes[offset...].starts(with: wanted)
    }

    /// The offset after the next `text`.
    private func end(_ text: StaticString) throws(XMLError) -> Int {
        var copy = self
        while copy.offset < bytes.count {
            if copy.isNext(text) { return copy.offset + text.utf8CodeUnitCount }
            copy.offset += 1
        }
        throw XMLError(line: line(at: offset), "is not XML: it ends within what begins here")
    }

    private mutating func checkEncoding(through end: Int) throws(XMLError) {
        let declaration = String(decoding: bytes[offset..<end], as: UTF8.self)
        offset = end
        guard let range = declaration.firstRange(of: /encoding\s*=\s*(?:"[^"]*"|'[^']*')/) else { return }
        let text = declaration[range].lowercased()
        let isKnown = ["utf-8", "us-ascii", "ascii"].contains { text.hasSuffix("\($0)\"") || text.hasSuffix("\($0)'") }
        if !isKnown { throw XMLError(line: 1, "is in another encoding than UTF-8, as its first line says") }
    }

    /// Replaces the document type declaration by spaces.
    private mutating func blankType() throws(XMLError) {
        let start = offset
        var brackets = 0
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let quote = bytes[offset]
                guard let closing = bytes[(offset + 1)...].firstIndex(of: quote) else { break }
                offset = closing
            case UInt8(ascii: "["): brackets += 1
            case UInt8(ascii: "]"): brackets -= 1
            case UInt8(ascii: "<") where isNext("<!ENTITY"):
                throw XMLError(
                    line: line(at: offset),
                    "declares an entity, which models have no use for: it is not read. Remove the DOCTYPE"
                )
            case UInt8(ascii: "<") where isNext("<!--"):
                offset += 4
                offset = try end("-->") - 1
            case UInt8(ascii: ">") where brackets <= 0:
                offset += 1
                for index in start..<offset where bytes[index] != UInt8(ascii: "\n") { bytes[index] = 0x20 }
                return
            default: break
            }
            offset += 1
        }
        throw XMLError(line: line(at: start), "is not XML: its DOCTYPE has no end")
    }
}

/// Why a document is not read.
struct XMLError: Error {
    /// The line, from 1; nil where it is the whole document.
    let line: Int?
    let message: String

    init(line: Int?, _ message: String) {
        self.line = line
        self.message = message
    }
}
