import Foundation
import ImportModel

extension ShapeDetector {
    /// True if the sample is NDJSON: a value on each line, a few broken ones aside.
    ///
    /// What is sound JSON is NDJSON only if every line is a value by itself, or else a pretty-printed value would be torn
    /// apart. What is not may be NDJSON with broken lines.
    package var isLines: Bool {
        if lines.areValues { return true }
        guard lines.begun >= 2, lines.ended >= 1 else { return false }
        // Texts that touch are the mark of CSV, not of values one after the other.
        if isSound, !lines.haveTouchingTexts {
            // Several values in the last line did not break off: all of them follow one another.
            if let start = lines.lastBroken, topLevelValues.count(where: { Int(tape.tokens[$0].start) >= start }) > 1 {
                return false
            }
            return lines.values == lines.ended
        }
        if lines.isFirstValue || hints.areLinesNamed, lines.values * 2 >= lines.ended { return true }
        return lines.begun >= 3 && lines.judgedValues * 3 >= lines.judged * 2 && !lines.isFirstBracket
    }
}

/// The lines of a sample that are not blank.
package struct LineCount {
    /// All of them, a last one that breaks off included.
    package private(set) var begun = 0
    /// Those that are all there.
    package private(set) var ended = 0
    /// Those that are one JSON value and nothing else.
    package private(set) var values = 0
    /// How many of the values are objects or arrays.
    private(set) var judgedContainers = 0
    private(set) var isFirstValue = false
    /// Where the last line begins that is not one value.
    private(set) var lastBroken: Int?
    /// True if a line begins with a text that another one touches: CSV doubles quotes.
    private(set) var haveTouchingTexts = false
    /// True if the first line is an opening bracket alone, as in a pretty-printed document.
    private(set) var isFirstBracket = false
    /// Just past the first lines, of which a few tell what the others are.
    private(set) var judgedEnd = 0
    /// How many of these are all there, and how many of them are values.
    private(set) var judged = 0
    private(set) var judgedValues = 0

    /// True if there are several, and each that is all there is a value.
    var areValues: Bool { begun >= 2 && ended >= 1 && values == ended && lastBroken == nil }

    /// True if two thirds of the first ones are objects or arrays: what a broken one begins with says nothing about the others.
    package var areContainers: Bool { judgedContainers > 1 && judgedContainers * 3 >= judged * 2 }
    /// True if the first one is no value, and the others are no objects or arrays, as of a table of one column in CSV.
    package var haveHeading: Bool { !isFirstValue && !areContainers }

    package init(_ text: [UInt8], isWhole: Bool, taking scope: LenientScanner.Scope? = nil) {
        let reader = RecordReader(maxDepth: ShapeDetector.maxDepth, taking: scope)
        text.withUnsafeBufferPointer { buffer in
            let view = ByteView(buffer)
            var start = 0
            // After a bracket alone no line can make it NDJSON.
            while start < view.count, !isFirstBracket {
                let lineFeed = memchr(view.base + start, 0x0A, view.count - start)
                let end = lineFeed.map { UnsafeRawPointer($0) - UnsafeRawPointer(view.base) + 1 } ?? view.count
                take(view[start..<end], isLast: end == view.count, isWhole, reader, start)
                start = end
            }
        }
    }

    private mutating func take(_ line: ByteView, isLast: Bool, _ isWhole: Bool, _ reader: RecordReader, _ start: Int) {
        let visible = Array(line.buffer.lazy.filter { !ShapeDetector.isWhiteSpace($0) }.prefix(2))
        if visible.isEmpty { return }
        begun += 1
        if begun <= ShapeDetector.judgedLines { judgedEnd = start + line.count }
        // Without a line feed at its end, the sample breaks off in this line.
        guard line[line.count - 1] == UInt8(ascii: "\n") else { return }
        let isValue = reader.read(line: line) == .record
        if !isValue, visible[0] == UInt8(ascii: "\"") {
            haveTouchingTexts = haveTouchingTexts || Self.textsTouch(in: line)
        }
        // The last line of a source may have broken off: it says nothing about the others.
        if isLast, isWhole, !isValue, begun > 1 {
            lastBroken = start
            return
        }
        ended += 1
        if isValue { values += 1 }
        let isContainer = visible[0] == UInt8(ascii: "{") || visible[0] == UInt8(ascii: "[")
        if isValue, isContainer, ended <= ShapeDetector.judgedLines { judgedContainers += 1 }
        if ended <= ShapeDetector.judgedLines { (judged, judgedValues) = (ended, values) }
        if begun == 1 {
            isFirstValue = isValue
            isFirstBracket = visible.count == 1 && (visible[0] == UInt8(ascii: "[") || visible[0] == UInt8(ascii: "{"))
        }
    }

    /// True if the text that a line begins with ends where another one begins.
    private static func textsTouch(in line: ByteView) -> Bool {
        let text = line.buffer.drop { ShapeDetector.isWhiteSpace($0) }.dropFirst()
        var index = text.startIndex
        while index < text.endIndex, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index + 1 < text.endIndex && text[index + 1] == UInt8(ascii: "\"")
    }
}
