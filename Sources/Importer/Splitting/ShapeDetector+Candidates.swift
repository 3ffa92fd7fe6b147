import Foundation
import ImportModel

extension ShapeDetector {
    /// How far down candidates are looked for, in keys.
    private static let maxKeys = 3
    /// An object of this many objects is a dictionary: its keys are data, and paths through them mean nothing.
    private static let dictionarySize = 10
    /// How many members or elements are looked at to judge the rest.
    private static let judgedChildren = 200

    /// The collections in a top-level object, in their order.
    func candidates(in object: Int) -> [Candidate] {
        var found: [Candidate] = []
        collect(in: object, steps: [], invalidKey: nil, into: &found)
        return found
    }

    /// - Parameter invalidKey: where the first byte is that is not UTF-8 in a key of `steps`.
    private func collect(
        in object: Int,
        steps: [RecordPath.Step],
        invalidKey: Int?,
        into found: inout [Candidate]
    ) {
        func add(_ container: Int, _ steps: [RecordPath.Step], _ kind: Candidate.Kind, count: Int, _ invalid: Int?) {
            var candidate = candidate(container, steps, kind, count: count)
            candidate.invalidKeyOffset = invalid
            found.append(candidate)
        }
        let members = members(of: object)
        let values = members.map(\.value)
        if values.count >= 2, values.allSatisfy({ tape.tokens[$0].kind == .object }) {
            if shareKeys(values) {
                add(object, steps + [.anyMember], .keyed, count: values.count, invalidKey)
                return
            }
            if values.count >= Self.dictionarySize { return }
        }
        if values.count >= 3, values.allSatisfy({ isArrayOfObjects($0) }) {
            let heads = values.compactMap { children(of: $0, limit: 1).first }
            if shareKeys(heads.filter { tape.tokens[$0].kind == .object }) {
                add(object, steps + [.anyMember, .anyElement], .keyedArrays, count: values.count, invalidKey)
                return
            }
        }
        for member in members {
            let steps = steps + [.key(key(member.key))]
            let invalidKey = invalidKey ?? firstInvalidByte(of: member.key)
            switch tape.tokens[member.value].kind {
            case .array where isArrayOfObjects(member.value):
                let count = children(of: member.value).count
                add(member.value, steps + [.anyElement], .array, count: count, invalidKey)
            case .object where steps.count < Self.maxKeys:
                collect(in: member.value, steps: steps, invalidKey: invalidKey, into: &found)
            default: break
            }
        }
    }

    private func candidate(
        _ container: Int,
        _ steps: [RecordPath.Step],
        _ kind: Candidate.Kind,
        count: Int
    ) -> Candidate {
        let token = tape.tokens[container]
        let isOpen = token.next == 0
        return Candidate(
            path: RecordPath(steps: steps),
            kind: kind,
            count: count,
            isWhole: !isOpen,
            bytes: isOpen ? text.count - Int(token.start) : Int(token.length)
        )
    }

    /// Whether this is an array, and more than half of its elements are objects.
    func isArrayOfObjects(_ value: Int) -> Bool {
        guard tape.tokens[value].kind == .array else { return false }
        let elements = children(of: value, limit: Self.judgedChildren)
        let objects = elements.count { tape.tokens[$0].kind == .object }
        return objects * 2 > elements.count
    }

    /// Whether these objects have most of their keys in common.
    ///
    /// A key is common if more than half of the objects have it; more than half of all the keys that are in the objects
    /// must be common ones.
    private func shareKeys(_ objects: [Int]) -> Bool {
        let whole = objects.filter { tape.tokens[$0].next != 0 }
        let judged = (whole.count >= 2 ? whole : objects).prefix(Self.judgedChildren)
        var counts: [ArraySlice<UInt8>: Int] = [:]
        for object in judged {
            for key in keys(of: object) { counts[keyBytes(key), default: 0] += 1 }
        }
        let all = counts.values.reduce(0, +)
        let common = counts.values.filter { $0 * 2 > judged.count }.reduce(0, +)
        return common * 2 > all
    }

    /// The tokens of an array's elements, as far as the sample has them, and at most `limit`.
    func children(of array: Int, limit: Int = .max) -> [Int] {
        var elements: [Int] = []
        var index = array + 1
        while index < end(of: array), elements.count < limit {
            elements.append(index)
            let next = Int(tape.tokens[index].next)
            if next == 0 { break }
            index = next
        }
        return elements
    }

    /// The tokens of an object's keys and values; a key whose value the sample lacks is left out.
    func members(of object: Int) -> [(key: Int, value: Int)] {
        keys(of: object).compactMap { $0 + 1 < end(of: object) ? ($0, $0 + 1) : nil }
    }

    /// The tokens of an object's keys, as far as the sample has them.
    func keys(of object: Int) -> [Int] {
        var keys: [Int] = []
        var index = object + 1
        let end = end(of: object)
        while index < end {
            keys.append(index)
            guard index + 1 < end, tape.tokens[index + 1].next != 0 else { break }
            index = Int(tape.tokens[index + 1].next)
        }
        return keys
    }

    /// Just past the last token of a container.
    private func end(of container: Int) -> Int {
        let next = Int(tape.tokens[container].next)
        return next == 0 ? tape.count : next
    }

    private func firstInvalidByte(of key: Int) -> Int? {
        let bytes = keyBytes(key)
        let place = Array(bytes).withUnsafeBufferPointer { UTF8Validation.firstInvalid(in: ByteView($0)) }
        return place.map { bytes.startIndex + $0 }
    }

    /// A key's bytes as they are in the source.
    func keyBytes(_ key: Int) -> ArraySlice<UInt8> {
        let token = tape.tokens[key]
        return text[Int(token.start)..<Int(token.start) + Int(token.length)]
    }

    /// A key as a record path has it, its escapes undone.
    func key(_ index: Int) -> String {
        let bytes = keyBytes(index)
        if tape.tokens[index].hasEscapes {
            let literal = Data([UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")])
            if let key = try? JSONDecoder().decode(String.self, from: literal) { return key }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
