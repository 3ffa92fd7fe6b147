import Foundation

extension SourceDescription {
    /// Reads a description as `BookkeepingJSON` writes that of a file of which nothing is unusual, without a decoder: a store may know
    /// a hundred thousand.
    ///
    /// - Parameter json: the text; nil is given for one that has to be decoded.
    package init?(plain json: String) {
        var json = json
        let source = json.withUTF8 { bytes -> SourceDescription? in
            var reader = PlainObject(bytes)
            return reader.readSource()
        }
        guard let source else { return nil }
        self = source
    }
}

/// The names and values of a JSON object of texts without escapes, whole numbers and truth values.
private struct PlainObject {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// - Returns: nil where it has something else.
    mutating func readSource() -> SourceDescription? {
        var (name, path, fingerprint, opening) = (String?.none, String?.none, String?.none, String?.none)
        var (size, modified, changed, end) = (Int64?.none, Int64?.none, Int64?.none, Int64?.none)
        var (inode, isCompressed) = (UInt64?.none, Bool?.none)
        guard take("{") else { return nil }
        repeat {
            guard let key = readText(), take(":") else { return nil }
            switch key {
            case "name": name = readText()
            case "path": path = readText()
            case "fingerprint": fingerprint = readText()
            case "opening": opening = readText()
            case "size": size = readNumber()
            case "modified": modified = readNumber()
            case "changed": changed = readNumber()
            case "end": end = readNumber()
            case "inode": inode = readNumber()
            case "isCompressed": isCompressed = readTruth()
            default: return nil
            }
        } while take(",")
        guard take("}"), place == bytes.count, let name, let path, let size, let modified, let isCompressed else {
            return nil
        }
        var source = SourceDescription(
            name: name,
            path: path,
            member: nil,
            size: size,
            modified: modified,
            changed: changed,
            inode: inode,
            isCompressed: isCompressed,
            fingerprint: fingerprint
        )
        (source.opening, source.end) = (opening, end)
        return source
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func readText() -> String? {
        guard take("\"") else { return nil }
        let start = place
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            guard bytes[place] != UInt8(ascii: "\\"), bytes[place] >= 0x20 else { return nil }
            place += 1
        }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<place]), as: UTF8.self)
        return take("\"") ? text : nil
    }

    private mutating func readNumber<Number: FixedWidthInteger>() -> Number? {
        var number: Number = 0
        let start = place
        while place < bytes.count, (0x30...0x39).contains(bytes[place]) {
            let (product, isTooMuch) = number.multipliedReportingOverflow(by: 10)
            let (sum, isMore) = product.addingReportingOverflow(Number(bytes[place] - 0x30))
            guard !isTooMuch, !isMore else { return nil }
            number = sum
            place += 1
        }
        return place > start ? number : nil
    }

    private mutating func readTruth() -> Bool? {
        for (text, value) in [("true" as StaticString, true), ("false", false)] {
            let count = text.utf8CodeUnitCount
            guard place + count <= bytes.count, memcmp(bytes.baseAddress! + place, text.utf8Start, count) == 0 else {
                continue
            }
            place += count
            return value
        }
        return nil
    }
}
