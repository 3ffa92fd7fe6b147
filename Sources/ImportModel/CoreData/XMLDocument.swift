import Foundation
import FoundationXML

/// Reads small XML documents that may come from anyone.
///
/// Size, depth and the number of elements are bounded; entities are not expanded but for the five of XML itself; nothing
/// outside of the document is read.
struct XMLDocument {
    let root: XMLElement

    /// The largest document that is read, in bytes.
    static let mostBytes = 16 << 20
    /// How many elements are within each other at most.
    static let mostDepth = 32
    static let mostElements = 200_000
    /// How many attributes an element has at most.
    static let mostAttributes = 1_000

    /// - Parameter bytes: the document, in UTF-8.
    /// - Throws: `XMLError` where it is not well-formed, or more than is read.
    init(_ bytes: [UInt8]) throws(XMLError) {
        guard bytes.count <= Self.mostBytes else {
            throw XMLError(line: nil, "is larger than 16 MiB")
        }
        if let (offset, line) = bytes.firstInvalidUTF8 {
            throw XMLError(line: line, "is not UTF-8: byte \(offset) begins no character")
        }
        if let line = bytes.lineOfLongTag { throw XMLError(line: line, "has a part that is longer than 256 KiB") }
        let prolog = try XMLProlog(bytes)
        let builder = XMLTreeBuilder()
        let parser = XMLParser(data: Data(prolog.bytes))
        parser.shouldResolveExternalEntities = false
        parser.shouldProcessNamespaces = false
        parser.delegate = builder
        let isParsed = parser.parse()
        if let error = builder.error { throw error }
        guard isParsed, let root = builder.root else { throw XMLError(line: nil, "is not XML: it has no element") }
        self.root = root
    }
}

extension [UInt8] {
    /// The line of the first tag or text that is too long, from 1; the parser takes the square of a tag's length in time.
    fileprivate var lineOfLongTag: Int? {
        var (start, line) = (0, 1)
        for (offset, byte) in enumerated() {
            if byte == UInt8(ascii: "<") { start = offset }
            if byte == UInt8(ascii: "\n") { line += 1 }
            if offset - start > 256 << 10 { return line }
        }
        return nil
    }

    /// The offset of the first byte that is not well-formed, and its line, from 1.
    fileprivate var firstInvalidUTF8: (offset: Int, line: Int)? {
        let invalid = withUnsafeBufferPointer { bytes in
            bytes.baseAddress.flatMap { UTF8Validation.firstInvalid(in: ByteView(base: $0, count: bytes.count)) }
        }
        return invalid.map { ($0, self[..<$0].count { $0 == UInt8(ascii: "\n") } + 1) }
    }
}

/// Puts elements together as they are parsed.
private final class XMLTreeBuilder: NSObject, XMLParserDelegate {
    private(set) var root: XMLElement?
    private(set) var error: XMLError?
    /// Those that have begun and not ended, outwards to inwards.
    private var open: [XMLElement] = []
    private var count = 0

    /// Stops at the first error, as the parser would otherwise go on behind it.
    private func stop(_ parser: XMLParser, _ message: String) {
        guard error == nil else { return }
        error = XMLError(line: parser.lineNumber, message)
        parser.abortParsing()
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard error == nil else { return }
        count += 1
        if count > XMLDocument.mostElements {
            return stop(parser, "has more than \(XMLDocument.mostElements) elements")
        }
        if open.count >= XMLDocument.mostDepth {
            return stop(parser, "has more than \(XMLDocument.mostDepth) elements within each other")
        }
        if attributes.count > XMLDocument.mostAttributes {
            return stop(parser, "an element has more than \(XMLDocument.mostAttributes) attributes")
        }
        open.append(XMLElement(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard error == nil, let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].elements.append(element)
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        guard error == nil, !open.isEmpty else { return }
        open[open.count - 1].text += text
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        stop(parser, "is not XML: \(Self.words((error as NSError).code))")
    }

    /// The parser's codes are those of libxml2 (`xmlParserErrors`).
    private static func words(_ code: Int) -> String {
        switch code {
        case 1, 3, 4: "it is empty"
        case 5: "it ends too early, or something follows its end"
        case 9: "it has a character that XML does not allow"
        case 26, 27: "it refers to an entity, and only &lt; &gt; &amp; &quot; &apos; are known"
        case 38, 39, 40: "the value of an attribute is not between quotes, or has a < in it"
        case 41: "an attribute has no value"
        case 42: "an element has an attribute twice"
        case 73: "an element's tag has no end"
        case 76, 77: "an element's end tag is missing, or is another element's"
        default: "error \(code) of libxml2"
        }
    }
}
