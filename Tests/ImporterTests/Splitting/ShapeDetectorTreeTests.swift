import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

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

    /// At the top of an array the key is found, wherever it is first and whatever else is nested.
    @Test func findsTheKeyOfATreeAmongOthers() {
        let leaf = #"{"n":1,"kids":[{"n":2}]}"#
        let tree = ["$[*] 2", "$[*].kids[*] 1", "$[*].kids[*].kids[*] 1"]
        #expect(levels(#"[{"n":0,"a":[{"n":1}],"kids":[\#(leaf)]},{"n":5,"a":[]}]"#) == tree)
        // It is deep enough in one object, and first an array in another; `m` would be found after it.
        let other = #""m":[{"m":[{"n":1}]}]"#
        #expect(levels(#"[{"n":0,"kids":[]},{"n":5,\#(other),"kids":[\#(leaf)]}]"#) == tree)
        // Below, objects may be under keys of their own.
        #expect(
            levels(#"[{"n":0,"kids":[{"n":1,"kids":{"x":{"n":2}}}]},{"n":5}]"#) == [
                "$[*] 2", "$[*].kids[*] 1", "$[*].kids[*].kids[*] 1",
            ]
        )
        // What the sample breaks off in counts as far as it goes.
        #expect(levels(#"[{"n":0},{"n":5,"kids":[{"n":1,"kids":[{"n":2"#, isWhole: false) == tree)
        #expect(levels(#"[{"n":0},{"n":5,"kids":[{"n":1,"kids":["#, isWhole: false) == [])
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
