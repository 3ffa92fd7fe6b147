/// What was perhaps meant by a name that there is not.
package enum NameSuggestion {
    /// What a message on an unknown name ends with: `; did you mean city?`, or nothing.
    package static func question(for name: String, among names: [String]) -> String {
        nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
    }

    /// The one of `names` that is `name` with a number after it, or with another name before it (`address_city` for `city`), or else the
    /// one that differs from it by a slip or two; nil if there is none, or more than one.
    ///
    /// Case, hyphens and underscores make no difference.
    package static func nearest(to name: String, among names: [String]) -> String? {
        let longer = names.filter { $0.hasSuffix("_" + name) || $0.hasSuffix("." + name) }
        let numbered = names.filter { $0.hasPrefix(name + "_") && Int($0.dropFirst(name.count + 1)) != nil }
        for found in [numbered, longer] where found.count == 1 { return found[0] }
        let letters = folded(name)
        guard !letters.isEmpty, letters.count <= 40 else { return nil }
        var best: (name: String, distance: Int)?
        var isTied = false
        for candidate in names {
            let other = folded(candidate)
            let limit = other.count <= 4 ? 1 : other.count <= 8 ? 2 : 3
            guard abs(other.count - letters.count) <= limit else { continue }
            let distance = distance(letters, other)
            guard distance <= limit, distance <= best?.distance ?? limit else { continue }
            isTied = distance == best?.distance
            best = (candidate, distance)
        }
        return isTied ? nil : best?.name
    }

    private static func folded(_ name: String) -> [UInt8] {
        Array(name.lowercased().utf8).filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
    }

    /// How many bytes must be put in, taken out, changed, or swapped with their neighbour (optimal string alignment).
    package static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...other.count)
        for row in one.indices {
            var next = [row + 1]
            for column in other.indices {
                let change = one[row] == other[column] ? 0 : 1
                var cost = min(last[column] + change, last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }
}
