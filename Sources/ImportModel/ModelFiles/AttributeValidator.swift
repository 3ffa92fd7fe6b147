/// Finds everything that is wrong with an attribute of a model file, each mistake once.
///
/// What is wrong is left out and the rest looked at again, so that no mistake hides another. What may only follow from
/// a mistake is not one.
struct AttributeValidator {
    /// In the order in which they were found.
    private(set) var mistakes: [AttributeMistake] = []
    /// The attribute without what is wrong.
    private var sound: AttributeDescription
    private let type: AttributeType?
    private let transformers: TransformerRegistry
    /// The keys whose values cannot be gone by, as there is a mistake in them.
    private var doubtful: Set<AttributeKey> = []
    /// What `enum` lists, and which of it are wrong.
    private let elements: [JSONValue]
    private var wrongElements: Set<Int> = []

    /// - Parameters:
    ///   - attribute: what the file says; its type counts only if `type` is given.
    ///   - type: nil where the file does not say it.
    ///   - transformers: those that the file may name.
    init(_ attribute: AttributeDescription, type: AttributeType?, transformers: TransformerRegistry) {
        sound = attribute
        elements = attribute.validation.allowedValues ?? []
        self.type = type
        self.transformers = transformers
        // Texts that are not transformed are what transformers give: what can be said without the type is said of them.
        sound.type = type ?? .json
        if type == nil { leaveOutWhatNeedsType() }
        findMistakes()
        guard type != nil else { return }
        checkRepeatedFormats(attribute.formats)
        checkElements()
        checkDefault(attribute)
    }

    private mutating func leaveOutWhatNeedsType() {
        sound.formats = []
        sound.bits = []
        sound.storage = nil
        sound.fraction = 3
        sound.validation.minimum = nil
        sound.validation.maximum = nil
        sound.validation.allowedValues = nil
    }

    // MARK: The description

    private mutating func findMistakes() {
        // Each round leaves something out, and there are few things.
        for _ in 0...AttributeKey.allCases.count * 2 {
            var found: [AttributeMistake] = []
            _ = AttributeRules(sound, transformers: transformers, &found)
            if found.isEmpty { return }
            mistakes += found
            for mistake in found { leaveOut(mistake) }
            if isFormatDoubtful { leaveOutDoubtfulBounds() }
            // The flags are all that a bitfield has.
            if doubtful.contains(.bits) { return }
        }
    }

    private mutating func leaveOut(_ mistake: AttributeMistake) {
        if mistake.isRepetition, case .index(let index) = mistake.inner {
            wrongElements.insert(index)
            sound.validation.allowedValues = elements.indices.filter { !wrongElements.contains($0) }.map {
                elements[$0]
            }
            return
        }
        leaveOut(mistake.key, at: mistake.inner)
        if let other = mistake.other { leaveOut(other, at: nil) }
    }

    private mutating func leaveOut(_ key: AttributeKey, at inner: AttributeMistake.Inner?) {
        doubtful.insert(key)
        switch key {
        case .format:
            // What the formats before it take is accepted, whatever it was meant to be.
            guard type == .date, case .index(let index) = inner else {
                sound.formats = []
                return
            }
            sound.formats = Array(sound.formats.prefix(index))
        case .timeZone: sound.timeZone = nil
        case .transform: sound.transformers = []
        case .min: sound.validation.minimum = nil
        case .max: sound.validation.maximum = nil
        case .minLength: sound.validation.minimumLength = nil
        case .maxLength: sound.validation.maximumLength = nil
        case .pattern: sound.validation.pattern = nil
        case .enum:
            if case .index(let index) = inner { wrongElements.insert(index) }
            sound.validation.allowedValues = nil
        case .bits:
            // Their names are known; what bits they are makes no difference to what is said of values.
            for index in sound.bits.indices where !(0...63).contains(sound.bits[index].position) {
                sound.bits[index].position = 0
            }
        case .fraction: sound.fraction = 3
        case .type, .optional, .default, .from, .column, .wallClock, .storage, .generated, .owner, .renamingIdentifier,
            .userInfo:
            break
        }
    }

    /// Leaves out the bounds that only an unknown format may read.
    private mutating func leaveOutDoubtfulBounds() {
        let type = Rules(sound, Validation(), isTransformed: true, transformers).type
        func isRead(_ value: JSONValue?) -> Bool {
            guard let value, !sound.formats.isEmpty else { return false }
            return error(value, type) == nil
        }
        if !isRead(sound.validation.minimum) { sound.validation.minimum = nil }
        if !isRead(sound.validation.maximum) { sound.validation.maximum = nil }
        sound.validation.allowedValues = nil
    }

    private var isFormatDoubtful: Bool { type == .date && doubtful.contains(.format) }

    private mutating func checkRepeatedFormats(_ formats: [String]) {
        for (index, name) in formats.enumerated() where formats[..<index].contains(where: name.hasSameBytes) {
            let mistake = AttributeMistake(key: .format, inner: .index(index), message: "is repeated")
            if !mistakes.contains(where: { $0.key == .format && $0.inner == mistake.inner }) {
                mistakes.append(mistake)
            }
        }
    }

    // MARK: Values

    /// The values that `enum` lists: each must be one that the other rules take.
    private mutating func checkElements() {
        var others = sound.validation
        others.allowedValues = nil
        // Transformers give such a value, and do not take it.
        let rules = Rules(sound, others, isTransformed: true, transformers)
        for (index, value) in elements.enumerated() where !wrongElements.contains(index) {
            for message in messages(of: misfits(value, rules)) {
                mistakes.append(AttributeMistake(key: .enum, inner: .index(index), message: message.text))
            }
        }
    }

    private mutating func checkDefault(_ attribute: AttributeDescription) {
        guard let value = attribute.defaultValue else { return }
        if attribute.isGenerated {
            mistakes.append(AttributeMistake(key: .default, message: "is never used, as the value is generated"))
            return
        }
        if value.kind == .string, doubtful.contains(.transform) { return }
        let rules = Rules(sound, sound.validation, isTransformed: false, transformers)
        for message in messages(of: misfits(value, rules)) {
            let inner = message.path.isEmpty ? nil : AttributeMistake.Inner.path(message.path)
            mistakes.append(AttributeMistake(key: .default, inner: inner, message: message.text))
        }
    }

    /// The attribute's type, and its rules one by one, so that one that a value breaks hides no other.
    private struct Rules {
        let type: AttributeRules
        let others: [AttributeRules]

        /// - Parameters:
        ///   - attribute: without mistakes.
        ///   - isTransformed: whether values are those that transformers give.
        init(
            _ attribute: AttributeDescription,
            _ validation: Validation,
            isTransformed: Bool,
            _ transformers: TransformerRegistry
        ) {
            var attribute = attribute
            if isTransformed { attribute.transformers = [] }
            func rules(_ validation: Validation) -> AttributeRules {
                var none: [AttributeMistake] = []
                attribute.validation = validation
                return AttributeRules(attribute, transformers: transformers, &none)
            }
            type = rules(Validation())
            others = [
                Validation(minimum: validation.minimum), Validation(maximum: validation.maximum),
                Validation(minimumLength: validation.minimumLength),
                Validation(maximumLength: validation.maximumLength),
                Validation(pattern: validation.pattern), Validation(allowedValues: validation.allowedValues),
            ].filter { !$0.isEmpty }.map(rules)
        }
    }

    private typealias Validation = AttributeDescription.Validation

    /// Why a value is none of the attribute's; nothing where that may follow from another mistake.
    private func misfits(_ value: JSONValue, _ rules: Rules) -> [CoercionError] {
        if value == .null {
            let isFit = sound.isOptional || sound.isGenerated
            return isFit ? [] : [CoercionError(code: .unexpectedNull, expected: sound.type.rawValue, found: "null")]
        }
        guard let error = error(value, rules.type) else {
            return isFormatDoubtful && sound.formats.isEmpty ? [] : rules.others.compactMap { self.error(value, $0) }
        }
        if isFormatDoubtful {
            // There is no format for these.
            return value.kind == .boolean || value.kind == .array ? [error] : []
        }
        return error.all.filter { isCertain($0) }
    }

    /// True if it would be an error too if the flags were as they were meant to be.
    private func isCertain(_ error: CoercionError) -> Bool {
        guard doubtful.contains(.bits) else { return true }
        if error.path.isEmpty { return error.code != .unknownFlag }
        return error.code == .unknownFlag || !mistakes.contains { $0.message == AttributeMistake.flagAndGroup }
    }

    /// The errors in words; those of one place together.
    private func messages(of errors: [CoercionError]) -> [(path: String, text: String)] {
        var messages: [(path: String, text: String)] = []
        for error in errors {
            if let last = messages.last, last.path == error.path {
                messages[messages.count - 1].text += "; " + error.modelMessage
            } else {
                messages.append((error.path, error.modelMessage))
            }
        }
        return messages
    }

    private func error(_ value: JSONValue, _ rules: AttributeRules) -> CoercionError? {
        do throws(CoercionError) {
            return try value.withToken(expecting: sound.type) { token throws(CoercionError) -> CoercionError? in
                var scratch: [UInt8] = []
                var notes: CoercionNotes = []
                _ = try rules.coerce(token, scratch: &scratch, notes: &notes)
                return nil
            }
        } catch {
            return error
        }
    }
}
