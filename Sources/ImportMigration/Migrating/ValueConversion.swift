import Foundation
import GRDB
import ImportModel

/// How the stored values of an attribute become those of another description of it.
///
/// A value survives where the new description takes it, and gives it back as it was.
struct ValueConversion: Sendable {
    /// What has to be done with a value.
    enum Way: Hashable, Sendable {
        /// Nothing: it is stored in the same way.
        case same
        /// A cast to a type of SQLite's, which loses nothing.
        case cast(String)
        /// A cast of what is no larger than 2^53.
        case castOfExact
        /// Each value by itself.
        case each

        var isCast: Bool {
            switch self {
            case .cast, .castOfExact: true
            case .same, .each: false
            }
        }
    }

    let old: AttributeDescription
    let new: AttributeDescription

    /// True if every value may be refused, so that all have to be looked at.
    var needsCheck: Bool { way != .same || hasOtherRules }

    /// True if the new description has rules that the old one has not.
    var hasOtherRules: Bool { new.validation != old.validation && !new.validation.isEmpty }

    /// True if dates get fewer digits of a second, which is a loss that may be allowed.
    var cutsDigits: Bool {
        old.type == .date && new.type == .date && new.ownForm?.fraction ?? 3 < old.ownForm?.fraction ?? 3
    }

    var way: Way {
        if old.ownForm != nil || new.ownForm != nil {
            return old.type == new.type && old.ownForm == new.ownForm ? .same : .each
        }
        let integers: Set<AttributeType> = [.integer16, .integer32, .integer64]
        let widths: [AttributeType] = [.integer16, .integer32, .integer64]
        switch (old.type, new.type) {
        case (.integer16, _) where integers.contains(new.type), (.integer32, _) where integers.contains(new.type),
            (.integer64, _) where integers.contains(new.type):
            let (from, to) = (widths.firstIndex(of: old.type) ?? 0, widths.firstIndex(of: new.type) ?? 0)
            return from <= to ? .same : .each
        case (.bitfield, .bitfield): return old.bits == new.bits ? .same : .each
        case (.float, .double), (.uuid, .string), (.uri, .string), (.boolean, .integer16), (.boolean, .integer32),
            (.boolean, .integer64):
            return .same
        case (.integer16, .decimal), (.integer32, .decimal), (.integer64, .decimal), (.integer16, .string),
            (.integer32, .string), (.integer64, .string):
            return .cast("TEXT")
        case (.integer16, .double), (.integer32, .double): return .cast("REAL")
        case (.integer64, .double): return .castOfExact
        default: return old.type == new.type ? .same : .each
        }
    }

    /// Says what a stored value becomes; nil where it does not survive.
    ///
    /// - Parameter cutting: true if dates survive that lose digits of a second.
    func converter(cutting: Bool = false) -> (DatabaseValue) -> DatabaseValue? {
        let isCut = cutting && cutsDigits
        var (old, new) = (old, new)
        // The same bytes, whatever texts stand for them.
        if old.type == .binary, new.type == .binary { (old.formats, new.formats) = ([], []) }
        let before = Self.plain(old)
        // The new description without what is for records only: transformers, and formats of dates.
        var after = Self.plain(new)
        after.validation = new.validation
        return { [old, new, way, after] value in
            guard !value.isNull else { return value }
            guard let result = try? after.coerce(old.json(of: CoercedJSON(value))) else { return nil }
            if way == .same { return value }
            if isCut { return result.value.databaseValue }
            guard let again = try? before.coerce(new.json(of: result.value)), again.value.databaseValue == value else {
                return nil
            }
            return result.value.databaseValue
        }
    }

    /// The same without rules, which stored values may break.
    private static func plain(_ attribute: AttributeDescription) -> AttributeDescription {
        var plain = AttributeDescription(name: attribute.name, type: attribute.type, isOptional: true)
        plain.fraction = attribute.fraction
        plain.storage = attribute.storage
        plain.bits = attribute.bits
        if attribute.type == .binary { plain.formats = attribute.formats }
        return plain
    }
}
