/// Loops over many bytes, written so that the compiler turns them into vector instructions.
enum ByteScan {
    private typealias Lane = SIMD32<UInt8>

    /// How many bytes are LF.
    static func countLineBreaks(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        let raw = UnsafeRawPointer(bytes)
        var total = 0
        var index = 0
        while index + 32 <= count {
            // A lane counts up to 255 before it would overflow.
            let stop = min(count - 31, index + 32 * 255)
            var lanes = Lane(repeating: 0)
            while index < stop {
                let block = raw.loadUnaligned(fromByteOffset: index, as: Lane.self)
                lanes.replace(with: lanes &+ Lane(repeating: 1), where: block .== Lane(repeating: 0x0A))
                index += 32
            }
            for lane in 0..<32 { total += Int(lanes[lane]) }
        }
        while index < count {
            if bytes[index] == 0x0A { total += 1 }
            index += 1
        }
        return total
    }

    /// Where the first form feed or vertical tab stands; `count` if there is none.
    static func firstFormFeed(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        let raw = UnsafeRawPointer(bytes)
        var index = 0
        let first = Lane(repeating: 0x0B)
        let second = Lane(repeating: 0x0C)
        while index + 32 <= count {
            let block = raw.loadUnaligned(fromByteOffset: index, as: Lane.self)
            if any((block .== first) .| (block .== second)) { break }
            index += 32
        }
        while index < count, bytes[index] != 0x0B, bytes[index] != 0x0C { index += 1 }
        return index
    }

    /// Whether a byte is CR or LF.
    static func hasLineBreaks(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let raw = UnsafeRawPointer(bytes)
        var index = 0
        let first = Lane(repeating: 0x0A)
        let second = Lane(repeating: 0x0D)
        while index + 32 <= count {
            let block = raw.loadUnaligned(fromByteOffset: index, as: Lane.self)
            if any((block .== first) .| (block .== second)) { return true }
            index += 32
        }
        while index < count {
            if bytes[index] == 0x0A || bytes[index] == 0x0D { return true }
            index += 1
        }
        return false
    }

    /// Makes each CR and LF a space.
    static func replaceLineBreaks(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
        let raw = UnsafeMutableRawPointer(bytes)
        var index = 0
        while index + 32 <= count {
            var block = raw.loadUnaligned(fromByteOffset: index, as: Lane.self)
            let breaks = (block .== Lane(repeating: 0x0A)) .| (block .== Lane(repeating: 0x0D))
            block.replace(with: Lane(repeating: 0x20), where: breaks)
            raw.storeBytes(of: block, toByteOffset: index, as: Lane.self)
            index += 32
        }
        while index < count {
            if bytes[index] == 0x0A || bytes[index] == 0x0D { bytes[index] = 0x20 }
            index += 1
        }
    }

    /// Makes each CR and LF a space that does not stand between two quotes.
    ///
    /// For bytes that nobody has parsed: a line break inside of a string is a fault that must stay one.
    static func replaceLineBreaksBetweenStrings(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
        var isInString = false
        var index = 0
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\") where isInString: index += 1
            case 0x0A, 0x0D: if !isInString { bytes[index] = 0x20 }
            default: break
            }
            index += 1
        }
    }

    /// Whether JSON calls this byte white space.
    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}
