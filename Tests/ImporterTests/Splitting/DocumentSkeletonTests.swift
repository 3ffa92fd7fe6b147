import ImportModel
import TestSupport
import Testing

@testable import ImportSources

/// Collections are found wherever in a document they begin.
struct DocumentSkeletonTests {
    private func skeleton(_ text: String, pieces: Int) -> [UInt8] {
        var skeleton = DocumentSkeleton()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            bytes[start..<min(start + pieces, bytes.count)].withUnsafeBufferPointer { skeleton.add($0) }
        }
        return skeleton.text
    }

    private static func items(_ count: Int) -> String {
        (0..<count).map { #"{"n":\#($0),"t":"a \" ] } [ { \\","l":[1,[2],{}]}"# }.joined(separator: " , ")
    }

    private static let document: String = {
        let keyed = (0..<60_000).map { #""k\#($0)":{"v":"\#($0)","l":[]}"# }.joined(separator: ",")
        return #"{"note":"x, ]","first":[\#(items(4000))],"db":{"second":[\#(items(3000))],"third":[\#(items(2))]},"#
            + #""keys":{\#(keyed)},"last":[{"z":1}]}"#
    }()

    @Test(arguments: [1, 7, 4096, 1 << 30])
    func isTheSameInWhateverPieces(pieces: Int) throws {
        let text = skeleton(Self.document, pieces: pieces)
        #expect(text == skeleton(Self.document, pieces: 65_536))
        #expect(text.count < Self.document.utf8.count * 2 / 3 && text.count > 1 << 20)
        guard case .object(let members) = try JSONValue(parsing: text) else {
            throw ImportError(.fault, "no object")
        }
        #expect(members.map(\.key) == ["note", "first", "db", "keys", "last"])
        let short = #"{"a":[1,2,{"b":[]}]}"#
        #expect(skeleton(short, pieces: pieces) == Array(short.utf8))
    }

    @Test func allCollectionsAreFound() {
        var hints = ShapeDetector.Hints()
        (hints.takesAll, hints.isSkeleton) = (true, true)
        let detector = ShapeDetector(skeleton(Self.document, pieces: 65_536), isWhole: false, hints: hints)
        guard case .found(_, let paths, let reason) = detector.detection else {
            Issue.record("nothing was found: \(detector.detection)")
            return
        }
        #expect(paths.map(\.description) == ["$.first[*]", "$.db.second[*]", "$.db.third[*]", "$.keys.*", "$.last[*]"])
        #expect(reason == "5 collections")
    }
}
