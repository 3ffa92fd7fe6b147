/// Finds lines in a file, one after the other, each after the one before.
package struct LineFinder {
    private let file: SourceStream
    private var block = [UInt8](repeating: 0, count: 64 << 10)
    private var rest: ArraySlice<UInt8> = []
    /// True if each line that was to be found is there.
    package private(set) var hasFoundAll = true

    /// - Parameter file: at its beginning.
    package init(_ file: SourceStream) {
        self.file = file
    }

    /// Goes on to the next line that has these bytes.
    ///
    /// - Parameter line: with the LF that ends it.
    package mutating func find(_ line: [UInt8]) throws {
        while hasFoundAll {
            guard let next = try nextLine() else {
                hasFoundAll = false
                return
            }
            if next == line { return }
        }
    }

    /// The next line with its LF; nil at the end.
    private mutating func nextLine() throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                line += rest[...end]
                rest = rest[(end + 1)...]
                return line
            }
            line += rest
            let count = try file.read(into: &block)
            guard count > 0 else { return line.isEmpty ? nil : line }
            rest = block[..<count]
        }
    }
}
