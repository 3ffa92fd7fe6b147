/// Bytes as PostgreSQL writes a `bytea`: `\\x` and hexadecimal digits, which no base64 begins with.
enum HexadecimalText {
    /// Appends the bytes that `text` represents.
    ///
    /// - Returns: where they are in `output`; nil if it is anything else.
    static func decode(_ text: ByteView, to output: inout [UInt8]) -> Range<Int>? {
        guard text.count >= 2, text.count % 2 == 0, text[0] == UInt8(ascii: "\\"), text[1] == UInt8(ascii: "x") else {
            return nil
        }
        return digits(of: text, from: 2, to: &output)
    }

    /// Appends the bytes that the digits of `text` represent, two each.
    ///
    /// - Parameter first: where they begin.
    /// - Returns: where they are in `output`; nil if something is not a digit, or one has no other.
    static func digits(of text: ByteView, from first: Int, to output: inout [UInt8]) -> Range<Int>? {
        guard text.count % 2 == first % 2 else { return nil }
        let start = output.count
        for index in stride(from: first, to: text.count, by: 2) {
            guard let high = hexadecimalDigit(text[index]), let low = hexadecimalDigit(text[index + 1]) else {
                output.removeLast(output.count - start)
                return nil
            }
            output.append(high << 4 | low)
        }
        return start..<output.count
    }
}

/// Bytes as an array of their numbers, as journald and Node write them.
enum ByteList {
    /// Appends the bytes of an array of JSON.
    ///
    /// - Returns: where they are in `output`; nil if an element is not an integer from 0 to 255.
    static func append(_ array: ByteView, to output: inout [UInt8]) -> Range<Int>? {
        let start = output.count
        var number: Int?
        for byte in array.buffer.dropFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let next = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
                guard number != 0, next <= 255 else { break }
                number = next
                continue
            case UInt8(ascii: ","), UInt8(ascii: "]"):
                if let byte = number { output.append(UInt8(byte)) }
                number = nil
                continue
            case 0x20, 0x09, 0x0A, 0x0D: continue
            default: break
            }
            output.removeLast(output.count - start)
            return nil
        }
        return start..<output.count
    }
}
