import ImportModel
import ImportSources

/// Where the records of a job's sources are.
extension JobPlanner {
    /// What a store has of entities with these names, by their names in lower case.
    package typealias Known = ([String]) throws -> [String: KnownRecords]

    /// Looks at the beginning of each source.
    ///
    /// - Parameters:
    ///   - entities: those of other sources that were given, which the store has already.
    ///   - known: what the store has of entities.
    /// - Throws: `ImportError` when a source cannot be read, or its records cannot be found.
    package func shapes(
        of sources: [SourceDescription],
        beside entities: [String] = [],
        known: Known = { _ in [:] }
    ) throws -> [Shaped] {
        let asked = askedPaths
        var stored = try known(sources.compactMap { entity(of: $0) })
        // Where a model says where the records are, the store tells how sources are read.
        if !asked.isEmpty { stored = stored.mapValues { KnownRecords(form: $0.form) } }
        var looks = try sources.map { source in
            do {
                return try look(at: source, stored[entityKey(of: source)] ?? KnownRecords())
            } catch let error as ImportError where error.code == .badInput && options.onBadSource == .skip {
                return SourceLook(badly: source, error)
            }
        }
        if let fault = looks.first(where: { $0.fault != nil })?.fault, looks.allSatisfy(\.records.isEmpty) {
            throw fault
        }
        if let first = looks.first, looks.allSatisfy({ $0.detection == .empty }) {
            throw ImportError(
                .sourceEmpty,
                at: first.description.name,
                "has no JSON value",
                advice: "An import without records needs an empty array: []."
            )
        }
        let isGrouped = options.entity == nil && options.model == nil
        func again(_ look: SourceLook, _ form: KnownForm) throws -> SourceLook {
            try self.look(at: look.description, KnownRecords(form: form), look.open)
        }
        if options.records.isEmpty {
            try FormAgreement.settleShort(&looks) { try self.look(at: $0.description, $1, $0.open) }
        }
        if asked.isEmpty { try compare(&looks, stored, byDocument: isGrouped) }
        guard isGrouped else {
            if options.entity != nil, stored.isEmpty {
                try FormAgreement.settle(&looks, [Array(looks.indices)], again)
            }
            FolderValues.add(to: &looks, of: [Array(looks.indices)], options)
            return try shaped(looks)
        }
        let others = entities.isEmpty ? [:] : try known(entities)
        /// The entity of records of a kind that other sources have.
        func other(_ kind: SourceKinds.Kind) -> String? {
            entities.first { others[$0.asciiLowercased]?.areLike(kind) ?? false }
        }
        let tables = try asked.isEmpty ? tables(of: sources) : []
        var kinds = SourceKinds(of: looks.map(\.records), tables: tables)
        var names = KindNames(of: kinds, looks.map(\.description), other: other)
        if asked.isEmpty {
            stored = try known(
                names.names.compactMap(\.self) + kinds.kinds.compactMap { SourceNames.lastKey(of: $0.path) }
                    + stored.keys.sorted()
            )
            if !stored.isEmpty {
                try compare(&looks, kinds, names, stored)
                kinds = SourceKinds(of: looks.map(\.records), tables: tables)
                names = KindNames(of: kinds, looks.map(\.description), other: other) {
                    stored[$0.asciiLowercased]?.areLike($1) ?? false
                }
            }
        }
        let new = zip(kinds.kinds, names.names).filter { $1.flatMap { stored[$0.asciiLowercased] } == nil }
        try FormAgreement.settle(&looks, new.map(\.0.sources), again)
        FolderValues.add(to: &looks, of: kinds.kinds.map(\.sources), options)
        for (name, other) in names.renamed {
            announce("\(name): a table of its own, as its records are not like those of \(other)")
        }
        return try shaped(looks, kinds, names.names)
    }

    /// - Parameters:
    ///   - kinds: those of the records, where each is an entity.
    ///   - names: their names.
    private func shaped(
        _ looks: [SourceLook],
        _ kinds: SourceKinds = SourceKinds(of: []),
        _ names: [String?] = []
    ) throws -> [Shaped] {
        let named = looks.first { !$0.records.isEmpty }?.records[0].path
        let sharers = kinds.kinds.map { kind in kind.sources.count(where: { !looks[$0].records.isEmpty }) }
        // What was found by itself, in words, and of which sources.
        var findings: [(words: String, sources: [String])] = []
        let shaped = try looks.enumerated().map { index, look in
            let own = kinds.kindsOfSources.isEmpty ? [] : kinds.kindsOfSources[index]
            var (shape, words) = try shape(of: look)
            var entities = own.map { names[$0] }
            if look.records.isEmpty, look.fault != nil || askedPaths.isEmpty, let named {
                // What has nothing makes no entity.
                shape = SourceShape(layout: .stream, paths: [named], isEmpty: true)
                if let name = names.first { entities = [name] }
            }
            let headers = shape.paths.indices.map { look.headers.indices.contains($0) ? look.headers[$0] : [] }
            shape = shape.with(
                fileColumn: options.fileColumn,
                fault: look.fault?.message,
                encoding: look.description.encoding,
                form: look.description.form,
                headers: options.headerRow ? headers : nil
            )
            // What several have is said of the kind.
            let least = look.records.isEmpty ? 0 : 1
            if own.contains(where: { sharers[$0] > least }) { words = nil }
            if let words, let place = findings.firstIndex(where: { $0.words == words }) {
                findings[place].sources.append(look.description.displayName)
            } else if let words {
                findings.append((words, [look.description.displayName]))
            }
            return Shaped(
                description: look.description,
                shape: shape,
                open: look.open,
                entities: entities.isEmpty || entities.contains(nil) ? nil : entities.compactMap(\.self)
            )
        }
        for (words, sources) in findings {
            announce("\(sources.count == 1 ? sources[0] : "\(sources.count.grouped) sources"): \(words)")
        }
        let notices = looks.reduce(into: [MessageText]()) { all, look in
            all += look.notices.filter { !all.contains($0) }
        }
        for notice in notices {
            let names = looks.filter { $0.notices.contains(notice) }.map(\.description.displayName)
            announce("\(names.count == 1 ? names[0] : "\(names.count.grouped) sources"): \(notice)")
        }
        looks.flatMap(\.others).forEach(announce)
        let like = looks.filter { $0.rowsLikeHeader != nil }
        if let first = like.first, let path = first.rowsLikeHeader {
            let sources = like.count == 1 ? first.description.displayName : "\(like.count) sources"
            announce(
                "\(sources): the first row at \(path) looks like a header: \(.headerRow) names the columns by it"
            )
        }
        return shaped
    }

    /// - Parameter open: the source, where it is open already.
    private func look(at source: SourceDescription, _ known: KnownRecords, _ open: SourceStream? = nil) throws
        -> SourceLook
    {
        let source = open == nil ? source.plain : source
        let stream = try open ?? opener.open(source, interruption: interruption)
        let sample = try stream.peek()
        let isGiven = ProgramRecords.isName(source.name)
        var hints = ShapeDetector.Hints(paths: known.paths, keys: known.keys, nested: nestedKeys)
        // What is merged, or replaced, stays in the tables that it is in.
        hints.leaveOthers =
            known.areAsked || known.haveIdentifier || !options.identifiers.isEmpty || options.mirror != nil
            || source.replaces != nil
        hints.hasModel = options.model != nil
        hints.isStrict = options.reading == .strict
        hints.takesAll = options.model == nil && options.entity == nil
        let entities = options.entity == nil ? options.model?.entities ?? [] : []
        if entities.count > 1 { hints.entities = Set(entities.flatMap { [$0.name, $0.table] }.map(\.asciiLowercased)) }
        hints.haveHeader = options.headerRow
        hints.areLinesNamed = isGiven || source.isOfLines
        var detector = ShapeDetector(sample.bytes, isWhole: sample.isWhole, hints: hints)
        if askedPaths.isEmpty, source.isRepeatable, let whole = try skeleton(of: source, besides: detector) {
            detector = whole
        }
        let finder = FormFinder(
            options,
            paths: askedPaths,
            others: known.form,
            opener: opener,
            interruption: interruption
        )
        let found = try isGiven ? nil : finder.find(in: source, stream, sample, detector)
        if let found { detector = found.detector }
        let (isLines, lines) = (detector.isLines, detector.lines)
        if !isLines || !lines.areContainers {
            try checkBeginning(of: detector.text, isLines: isLines && !lines.haveHeading, source)
        }
        var detection = found?.detection ?? detector.detection
        if isGiven, detection != .empty {
            detection =
                sample.bytes == ProgramRecords.none
                ? .found(layout: .stream, paths: [ProgramRecords.pathOfNone], reason: ShapeDetector.noValue)
                : .found(layout: .lines, paths: [.root], reason: "one value per line")
        }
        var described = source.fingerprinted(sample.bytes)
        described.encoding = stream.encoding
        if !isGiven, let complete = try finder.complete(found, &detector, detection, source, sample) {
            (described.form, detection) = (complete.form, complete.detection)
        }
        if let form = described.form, source.form == nil {
            if !source.isRepeatable { stream.rewrite(as: form, name: source.name) }
        }
        var look = SourceLook(
            described,
            open: source.isRepeatable ? nil : stream,
            detection: detection,
            isOneObject: found == nil && detector.isOneObject
        )
        look.isOneRow = found == nil && detector.isOneRow
        look.areRows = found == nil && detector.areRows && look.paths == [.root]
        look.notices = found?.notice.map { [$0] } ?? []
        if found == nil, options.shape == nil, options.model == nil, detector.mayBeColumns {
            look.notices.append(
                "its arrays are as long as each other: \(.shape, "columns") makes a row of each place in them"
            )
        }
        if let form = described.form, case .found(_, let paths, _) = detection,
            let kinds = ([form] + (form.others ?? [])).first(where: { $0.kind == .kinds }),
            kinds.values == [ValueChange.otherKind]
        {
            let names = kinds.names?.joined(separator: ",") ?? ""
            let keys = paths.flatMap { detector.recordKeys(at: $0) }.map(\.text)
            look.notices.append(
                "no record has a value at \(names), so all are in \(ValueChange.otherKind) (\(anyOf: .entityBy))"
                    + "\(NameSuggestion.question(for: names, among: keys))"
            )
        }
        look.wrapper = found == nil ? finder.wrapper(detector, detection) : look.valueForm
        if !askedPaths.isEmpty, described.form?.makesLists != true {
            look.others += isGiven ? [] : linesOfAskedPaths(detector, source)
            look.records = detection == .empty ? [] : askedPaths.map { detector.records(at: $0) }
        } else if case .found(_, let paths, let reason) = detection {
            // Where there is nothing to judge by, what is wrong is said when it is read.
            look.records = paths.map { detector.records(at: $0) }
            if look.isOneObject { look.documentKeys = detector.recordKeys(at: .root) }
            look.others += paths.flatMap { treeLines(at: $0, detector, source) }
            if reason == ShapeDetector.asBefore, options.model == nil, !known.areAsked, paths != [.root] {
                look.others += detector.collections(besides: paths).map {
                    "\(source.displayName): outside of the table: \($0.words) at \($0.path); "
                        + "\(.records, $0.path.description) with another \(.entity) makes a table of them"
                }
            }
            if options.model == nil, options.entity == nil, options.entityBy == nil, paths.count == 1,
                let key = detector.kindKey(at: paths[0])
            {
                look.notices.append("records of several kinds: \(.entityBy, key) makes a table of each")
            }
            if options.model == nil, reason != ShapeDetector.asBefore, paths.contains(where: detector.isInRecord) {
                look.notices.append("what is around them is no row; \(.records, "$") makes one record of a document")
            }
            if reason == ShapeDetector.noValue {
                look.records = paths.map { .init(path: $0.description, isEmpty: true) }
            }
            if paths == [.root], !isGiven, options.model == nil, options.nested != .tables,
                let other = detector.collections.first(where: { $0.count > 0 })
            {
                look.others.append(
                    "\(source.displayName): the \(other.words) at \(other.path) stay within their record; "
                        + "\(.records, other.path.description) makes them records"
                )
            }
        }
        try lookForHeaders(&look, detector, source)
        return look
    }

    /// What is seen of a document that goes on after its beginning, where there are records in all of it.
    private func skeleton(of source: SourceDescription, besides beginning: ShapeDetector) throws -> ShapeDetector? {
        guard beginning.hints.takesAll, !beginning.isWhole, beginning.isSound, beginning.isOneObject,
            let text = try DocumentSkeleton.read({ try opener.open(source, interruption: interruption) })
        else { return nil }
        var hints = beginning.hints
        hints.isSkeleton = true
        let whole = ShapeDetector(text, isWhole: false, hints: hints)
        guard whole.isSound, whole.isOneObject, case .found(_, let paths, _) = whole.detection else { return nil }
        // Where the objects of the beginning are records, they stay records.
        if case .found(_, let first, _) = beginning.detection, first != [.root], !first.allSatisfy(paths.contains) {
            return nil
        }
        return whole
    }

    /// Finds the header rows that were asked for, and says where a first row looks like one otherwise.
    private func lookForHeaders(_ look: inout SourceLook, _ detector: ShapeDetector, _ source: SourceDescription) throws
    {
        let paths = try look.records.map { try RecordPath($0.path) }
        guard options.headerRow else {
            look.rowsLikeHeader = options.model == nil ? paths.first { detector.looksLikeHeader(at: $0) } : nil
            return
        }
        let headers = try paths.map { path in
            guard let header = detector.header(at: path), !header.isEmpty || detector.isWhole else {
                throw ImportError(
                    .optionsConflict,
                    at: source.name,
                    "the first record at \(path) is no header row, an array of names\(detector.isWhole ? "" : ", or not in the first MiB")",
                    advice: "Leave \(.headerRow) out, or say where the rows are with \(.records)."
                )
            }
            return header
        }
        for (index, header) in headers.enumerated() {
            look.records[index].keys = Set(header.map { BytewiseString($0) })
        }
        look.headers = headers
    }

    /// Reads each source that is one object as the store and the other sources of its entity have their records.
    ///
    /// - Throws: `ImportError` where most of the keys of its records are not those of these.
    private func compare(_ looks: inout [SourceLook], _ known: [String: KnownRecords], byDocument: Bool) throws {
        for sources in byDocument ? documents(of: looks) : groups(of: looks) {
            let stored = known[entityKey(of: looks[sources[0]].description)] ?? KnownRecords()
            let differ = Set(sources.map { looks[$0].paths }).count > 1
            var evidence = SourceEvidence()
            if differ { for source in sources { evidence.add(looks[source], source) } }
            for source in sources where looks[source].detection != .empty {
                var others = stored
                if byDocument ? looks[source].isUnsure : looks[source].isOneObject, differ {
                    evidence.remove(looks[source], source)
                    evidence.add(to: &others, for: looks[source])
                    looks[source] = try look(at: looks[source].description, others, looks[source].open)
                    evidence.add(looks[source], source)
                }
                if !byDocument { try check(looks[source], others) }
            }
        }
    }

    /// Reads the sources of kinds that the store has as it has their records.
    ///
    /// - Throws: `ImportError` where most of the keys of these records are not those of the store's.
    private func compare(
        _ looks: inout [SourceLook],
        _ kinds: SourceKinds,
        _ names: KindNames,
        _ stored: [String: KnownRecords]
    ) throws {
        for (kind, name) in zip(kinds.kinds, names.names) {
            guard let known = name.flatMap({ stored[$0.asciiLowercased] }) else { continue }
            for source in kind.sources where looks[source].records.count == 1 {
                looks[source] = try look(at: looks[source].description, known, looks[source].open)
                try check(looks[source], known)
            }
        }
    }

    /// By source, the table that has its name and that no import has made; nil for none.
    ///
    /// Where there are several sources, a date or a number may be after the name.
    private func tables(of sources: [SourceDescription]) throws -> [String?] {
        let tables = Set(try theirTables().map(\.asciiLowercased))
        return sources.map { source in
            guard let name = entity(of: source) else { return nil }
            let beginning = sources.count > 1 ? SourceNames.commonBeginning(of: [name]) : nil
            return [name, beginning ?? name].first { tables.contains($0.asciiLowercased) }
        }
    }

    /// The sources of each entity.
    private func groups(of looks: [SourceLook]) -> [[Int]] {
        let entities = Dictionary(grouping: looks.indices) { entityKey(of: looks[$0].description) }
        return entities.filter { !$0.key.isEmpty }.values.sorted { $0[0] < $1[0] }
    }

    /// The sources that are one object each with mostly the same keys.
    private func documents(of looks: [SourceLook]) -> [[Int]] {
        let kinds = SourceKinds(
            of: looks.map { $0.isOneObject ? [.init(path: "$", keys: $0.documentKeys)] : [] }
        )
        return kinds.kinds.map(\.sources)
    }

    /// Makes sure that records that are elsewhere than those of their entity were, or a document that is one, are of the same kind.
    private func check(_ look: SourceLook, _ known: KnownRecords) throws {
        guard options.model == nil, case .found(_, let paths, let reason) = look.detection,
            !known.paths.isEmpty, !look.keys.isEmpty, !known.keys.isEmpty
        else { return }
        let shared = known.keys.intersection(look.keys).count
        let isElsewhere = paths.allSatisfy { !known.paths.contains($0) }
        guard isElsewhere ? shared * 2 <= look.keys.count : look.isOneObject && paths == [.root] && shared == 0 else {
            return
        }
        let records = paths.map(\.description).joined(separator: ", ")
        let elsewhere =
            "those at \(records) (\(reason)) have few of the table's keys, and there are none at "
            + "\(known.paths.map(\.description).joined(separator: ", ")), where these were found before"
        throw ImportError(
            .recordsAmbiguous,
            at: look.description.name,
            "its records do not match the table: \(isElsewhere ? elsewhere : "the document has none of the table's keys")",
            advice: "Say where the records are, as with \(.records, records), or import it into another table with "
                + "\(anyOf: .entity). Nothing was written."
        )
    }

    /// True if arrays within records become rows of their own.
    private var makesTables: Bool { options.model == nil && options.nested == .tables }

    /// The name of a source's entity as SQLite compares names; empty where it is not known yet.
    private func entityKey(of source: SourceDescription) -> String { entity(of: source)?.asciiLowercased ?? "" }

    /// The record paths that were asked for, by the command line or else by the model.
    private var askedPaths: [RecordPath] {
        if !options.records.isEmpty { return options.records }
        return options.model?.entities.compactMap(\.records) ?? []
    }

    /// The keys that lead to what a record's relationships hold: an object that has them is a record itself.
    private var nestedKeys: [[String]] {
        guard let model = options.model, !model.isFlat else { return [] }
        // A tree's entity is related to itself.
        let others = model.entities.flatMap { entity in entity.relationships.filter { $0.destination != entity.name } }
        let destinations = Set(others.map { BytewiseString($0.destination) })
        let roots = model.entities.filter { entity in
            options.entity.map { $0 == entity.name } ?? !destinations.contains(BytewiseString(entity.name))
        }
        let hierarchy = EntityHierarchy(model.entities)
        let ancestors = roots.flatMap { root in
            hierarchy.index(of: root.name).map { hierarchy.chain(of: $0).map { model.entities[$0] } } ?? []
        }
        return ancestors.flatMap(\.relationships).flatMap(\.from).compactMap { $0.paths.first?.keys }.filter {
            !$0.isEmpty
        }
    }

    /// A source's shape, and in words what was found by itself.
    private func shape(of look: SourceLook) throws -> (SourceShape, words: String?) {
        let source = look.description
        guard askedPaths.isEmpty || source.form?.makesLists == true || ProgramRecords.isName(source.name) else {
            return (SourceShape(asked: askedPaths, found: look.detection), nil)
        }
        switch look.detection {
        case .found(let layout, let paths, let reason):
            let texts = paths.map(\.description)
            let isEmpty = reason == ShapeDetector.asBefore && look.keys.isEmpty
            let shape = SourceShape(layout: layout, paths: texts, isEmpty: isEmpty ? true : nil)
            guard reason != ShapeDetector.noValue else { return (shape, nil) }
            let why = reason == ShapeDetector.asBefore ? "where the table's other records were" : reason
            return (shape, "records at \(texts.joined(separator: ", ")) (\(why))")
        case .unnameable(let candidate):
            throw ImportError(
                .notUTF8,
                at: source.name,
                position: ImportError.Position(byteOffset: candidate.invalidKeyOffset.map(Int64.init)),
                "\(candidate.path) has a key that is not UTF-8, at byte "
                    + "\(candidate.invalidKeyOffset ?? 0)",
                advice: "Records there have no path that could be named. Convert the file to UTF-8."
            )
        case .ambiguous(let candidates):
            let list: [MessageText] = candidates.map {
                $0.invalidKeyOffset == nil
                    ? "  \(.records, $0.path.description)   (\($0.words))"
                    : "  \($0.path) has a key that is not UTF-8 and cannot be named"
            }
            throw ImportError(
                .recordsAmbiguous,
                at: source.name,
                "records could be at several record paths",
                advice: "Say which with one or more of:\n\(list.joined(separator: "\n"))"
            )
        case .empty: return (SourceShape(layout: .stream, paths: [RecordPath.root.description]), nil)
        }
    }

    /// Says where whole collections are at the record paths that were asked for, and not their elements.
    private func linesOfAskedPaths(_ detector: ShapeDetector, _ source: SourceDescription) -> [MessageText] {
        askedPaths.compactMap { path in
            guard let (inner, count) = detector.within(path), count > 0 else { return nil }
            return "\(source.displayName): the value at \(path) becomes one record; "
                + "\(.records, inner.description) makes records of its \(count.grouped)\(detector.isWhole ? "" : " or more") values"
        }
    }

    /// Says that the records at a path that was found hold more of their kind, which stay inside of them.
    private func treeLines(at path: RecordPath, _ detector: ShapeDetector, _ source: SourceDescription) -> [MessageText]
    {
        let levels = makesTables ? [] : detector.treeLevels(at: path)
        guard levels.count > 1 else { return [] }
        // By the model, they become rows.
        let below = levels[1].path.steps.dropFirst(path.steps.count)
        guard !nestedKeys.contains(where: { below.starts(with: $0.map { .key($0) }) }) else { return [] }
        let more = detector.isWhole ? "" : " or more"
        let nested = levels.dropFirst().reduce(0) { $0 + $1.count }
        var lines: [MessageText] = [
            "\(source.displayName): a tree: records at \(path) hold \(nested.grouped)\(more) objects of the same shape, which stay "
                + "within them; choose a level with \(.records):"
        ]
        lines += levels.prefix(4).map {
            "  \(.records, $0.path.description)   (\($0.count.grouped)\(more) objects)"
        }
        let deeper = levels.dropFirst(4).reduce(0) { $0 + $1.count }
        if deeper > 0 { lines.append("  … and \(deeper.grouped)\(more) on \(levels.count - 4) deeper levels") }
        return lines
    }
}
