import Foundation
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// Collections whose objects hold more of their kind.
struct ShapeDetectorTreeTests {
    private func levels(_ text: String, isWhole: Bool = true) -> [String] {
        let detector = ShapeDetector(Array(text.utf8), isWhole: isWhole)
        guard case .found(_, let paths, _) = detector.detection, let path = paths.first else { return ["none"] }
        return detector.treeLevels(at: path).map { "\($0.path) \($0.count)" }
    }

    @Test func findsTheLevelsOfATree() {
        let leaf = #"{"name":"leaf","value":1}"#
        let branch = #"{"name":"branch","kids":[\#(leaf),\#(leaf)]}"#
        let text = #"{"tree":{"name":"root","kids":[\#(branch),{"name":"b","kids":[\#(branch)]},\#(leaf)]}}"#
        #expect(
            levels(text) == ["$.tree.kids[*] 3", "$.tree.kids[*].kids[*] 3", "$.tree.kids[*].kids[*].kids[*] 2"]
        )
        // At the top, the key is found.
        #expect(
            levels("[\(branch),{\"name\":\"b\",\"kids\":[\(branch)]}]") == [
                "$[*] 2", "$[*].kids[*] 3", "$[*].kids[*].kids[*] 2",
            ]
        )
        let keyed = #"{"kids":{"a":{"n":1,"kids":{"c":{"n":2},"d":{"n":3}}},"b":{"n":4}}}"#
        #expect(levels(keyed) == ["$.kids.* 2", "$.kids.*.kids.* 2"])
    }

    @Test func takesNothingElseForATree() {
        #expect(levels(#"{"items":[{"id":1,"items":[{"sku":"a"},{"sku":"b"}]}]}"#) == [])
        #expect(levels(#"{"items":[{"id":1,"items":[1,2]}]}"#) == [])
        #expect(levels(#"{"items":[{"id":1,"parts":[{"id":2}]}]}"#) == [])
        #expect(levels(#"[{"id":1,"parts":[{"id":2}]},{"id":3}]"#) == [])
        #expect(levels("[]") == [])
        #expect(levels("1") == [])
    }
}
